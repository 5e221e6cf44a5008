"""The examples in the help texts run as they are written."""

import itertools
import shlex
from pathlib import Path

import click
import numpy as np
import pytest

import cutpoints as cp
from cutpoints.cli import main

ROWS = 3000


def examples(command):
    """Yield the commands in the help texts of a command and of all below it."""
    text = (command.epilog or "").replace("\b", "").replace("\\\n", " ")
    yield from (line.strip() for line in text.splitlines() if "cutpoints " in line)
    if isinstance(command, click.Group):
        for below in command.commands.values():
            yield from examples(below)


ALL = sorted({" ".join(line.split()) for line in examples(main) if "COMMAND" not in line})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with all the files that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    rng = np.random.default_rng(0)
    y = (rng.random(ROWS) < 0.4).astype(int)
    models = {name: 1 / (1 + np.exp(0.5 - 5 * y + 2.5 - rng.normal(size=ROWS))) for name in ("p", "m1", "m2")}
    columns = {"y": y, **models, "logit": models["m1"], "forest": models["m2"]}
    columns |= {"country": np.array(["DE", "FR"])[np.arange(ROWS) % 2], "product": np.arange(ROWS) % 3}
    columns |= {"customer": np.arange(ROWS) // 2, "month": np.full(ROWS, "2026-10")}
    columns |= {
        "fraud": y,
        "amount": 1 + np.arange(ROWS) % 100,
        "minutes": np.full(ROWS, 0.5),
        "day": np.arange(ROWS) % 10,
    }
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    for name in ("scores.csv", "new.csv", "scores/part.csv", "cards.csv", "today.csv"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    animals = [
        "animal,predicted,p_cat,p_dog,p_owl",
        "cat,cat,0.5,0.2,0.3",
        "owl,dog,0.2,0.5,0.3",
        "dog,dog,0,1,0",
    ]
    (folder / "animals.csv").write_text("\n".join(animals) + "\n", encoding="utf-8")
    import duckdb

    (folder / "new").mkdir()
    table = duckdb.read_csv(str(folder / "new.csv"))
    for name in ("new.parquet", "new/part.parquet"):
        table.write_parquet(str(folder / name))
    cp.find(y, models["p"], maximize="f1").policy(score="p", label="y").save(folder / "policy.json")
    found = cp.find_by(y, models["p"], by={"country": columns["country"]}, maximize="f1")
    found.policy(score="p", label="y").save(folder / "segments.json")
    tags = np.array(["arts", "sport", "local"])[np.arange(ROWS) % 3]
    size = np.digitize(models["p"] + rng.normal(size=ROWS) / 5, [0.3, 0.7])
    tables = {
        "long.csv": {"y": y, "p": models["p"], "tag": tags},
        "grades.csv": {"grade": size, "s": models["p"]},
        "sizes.csv": {"size": np.array(["small", "medium", "large"])[size], "s": models["p"]},
    }
    for name, table in tables.items():
        cells = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
        (folder / name).write_text("\n".join(cells) + "\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("line", ALL)
def test_the_example_runs(run, folder, monkeypatch, line):
    """What people copy out of a help text works, on files of the names and columns in it."""
    monkeypatch.chdir(folder)
    if line == "cutpoints demo --save scores.csv":
        monkeypatch.chdir(folder / "new")
    piped = Path("new.csv").read_text(encoding="utf-8") if line.startswith("cat new.csv | ") else None
    name, *words = shlex.split(line.removeprefix("cat new.csv | ").partition(" > ")[0])
    outputs = ("-o", "--policy", "--write", "--plot")
    for option, path in itertools.pairwise(words):
        if option in outputs and Path(path).is_file():  # of another example, and not overwritten
            Path(path).unlink()
    result = run(*words, input=piped)

    assert "cutpoints" == name
    assert 0 == result.exit_code, result.stderr
    assert result.stdout
