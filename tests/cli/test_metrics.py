"""`cutpoints metrics`."""

import json

import pytest

from cutpoints.metrics.registry import CATALOGUE

NAMES = [metric.name for metric in CATALOGUE]


def test_list_has_the_whole_catalogue(run):
    """Every metric is in the list, in 80 columns."""
    out = run("metrics").stdout
    first = {line.split("  ")[0].split("(")[0] for line in out.splitlines() if line}

    assert set(NAMES) <= first
    assert max(map(len, out.splitlines())) <= 80


def test_list_as_json(run):
    """The JSON list has every entry with the same keys."""
    shown = json.loads(run("metrics", "--json").stdout)["metrics"]

    assert NAMES == [entry["name"] for entry in shown]
    assert 1 == len({tuple(entry) for entry in shown})


@pytest.mark.parametrize("metric", CATALOGUE, ids=NAMES)
def test_show_explains_each(run, metric):
    """Everything that is known of a metric is shown, in 80 columns."""
    result = run("metrics", "show", metric.name)
    text = " ".join(result.stdout.split())

    assert 0 == result.exit_code
    for known in (
        f"{metric.doc.title} ({metric.name})",
        metric.doc.summary,
        f"formula {metric.doc.formula}",
        f"range {metric.doc.range}",
        f"undefined {metric.doc.undefined}",
        f"monotone {metric.doc.monotone}",
        f"aliases {', '.join(metric.doc.aliases)}",
        *(f"{key} {meaning}" for key, meaning in metric.doc.parameters.items()),
    ):
        assert " ".join(known.split()) in text
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_show_knows_aliases(run):
    """An alias is explained under its canonical name, in any case."""
    assert run("metrics", "show", "recall").stdout == run("metrics", "show", "TPR").stdout


def test_show_knows_what_the_list_prints(run):
    """A family is listed with parameters, and is found with them."""
    assert run("metrics", "show", "f").stdout == run("metrics", "show", "f(beta=2)").stdout


@pytest.mark.parametrize("order", [["show", "mcc", "--json"], ["--json", "show", "mcc"]])
def test_show_as_json(run, order):
    """One entry as JSON, wherever the option stands."""
    shown = json.loads(run("metrics", *order).stdout)

    assert ("mcc", "higher") == (shown["name"], shown["direction"])
    assert "matthews_corrcoef" in shown["aliases"]


def test_show_of_an_unknown_name_is_exit_1(run):
    """A misspelt metric is met with the nearest name."""
    result = run("metrics", "show", "mmc")

    assert 1 == result.exit_code
    assert "" == result.stdout
    assert "Hint: did you mean 'mcc'?" in result.stderr


def test_the_help_cuts_no_sentence(run):
    """Each command of the group is described in full."""
    assert "..." not in run("metrics", "--help").stdout.replace("[ARGS]...", "")


def test_a_name_in_place_of_a_command_is_met_with_the_command(run):
    """`cutpoints metrics mcc` says how to explain a metric."""
    result = run("metrics", "mcc")

    assert 2 == result.exit_code
    assert "cutpoints metrics show mcc" in result.stderr
