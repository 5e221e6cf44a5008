"""The page: the summary, plotly's script and ours, in one HTML file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutpoints._format import percent, short
from cutpoints.exceptions import MissingDependencyError

if TYPE_CHECKING:
    from jinja2 import Environment

_INERT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""What means something in HTML or ends a line in a script, as JSON can write it without meaning it."""

SCRIPTS = ("state.js", "charts.js", "policy.js", "page.js")
"""The page's own script, in parts."""

CHARTS = (
    ("roc", "ROC curve", "How many positives are found for the false alarms that are raised."),
    ("pr", "Precision and recall", "How pure the calls are, for the share of positives that is found."),
    ("metrics", "Metrics against threshold", "What moving the threshold trades away."),
    ("histogram", "Scores by class", "The less the two overlap, the easier the decision."),
    ("cost", "Cost against threshold", "At the costs and the prevalence of the fields above."),
    (
        "envelope",
        "Cost curve",
        "The least cost for any costs and prevalence; left, false alarms weigh more, right, misses.",
    ),
    ("decision", "Decision curve", "What acting on the scores gains over acting on everybody or nobody."),
    ("reliability", "Reliability", "Whether what is predicted is what happens; on the line it is."),
)


def render(summary: dict[str, Any]) -> str:
    """Return the page of a summary.

    Raises
    ------
    MissingDependencyError
        plotly or jinja2 is not installed.
    """
    environment = _environment()
    best = next(model for model in summary["models"] if model["name"] == summary["best_model"])
    usual = next(point for point in best["operating_points"] if point["key"] == "usual")
    plotly, script = _plotly(), "\n".join(map(_text, SCRIPTS))
    return environment.from_string(_text("page.html.j2")).render(
        s=summary,
        best=best,
        usual=usual,
        charts=[dict(zip(("id", "title", "note"), chart, strict=True)) for chart in CHARTS],
        number=_number,
        share=percent,
        policy=content_policy(plotly, script),
        # Marked as safe in the template: our own files, plotly's, and JSON that holds no markup.
        css=_text("page.css"),
        data=inert(slim(summary)),
        plotly=plotly,
        script=script,
    )


def slim(summary: dict[str, Any]) -> dict[str, Any]:
    """Return the summary without what no part of the page shows: the lists of ties, the whole catalogue."""
    models = [
        model | {"solution": {k: v for k, v in model["solution"].items() if k not in ("ties", "metrics")}}
        for model in summary["models"]
    ]
    return summary | {"models": models}


def inert(summary: dict[str, Any]) -> str:
    r"""Return JSON in which no character means anything to HTML: it can end no script, open no comment.

    Examples
    --------
    >>> inert({"name": "</script><!--"})
    '{"name":"\\u003c/script\\u003e\\u003c!--"}'
    """
    text = json.dumps(summary, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character, harmless in _INERT.items():
        text = text.replace(character, harmless)
    return text


def content_policy(*scripts: str) -> str:
    """Return a policy under which only these very scripts run, and nothing is ever fetched.

    Styles are let in by the line because plotly sets them so; they can fetch nothing either.
    """
    hashes = (base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in scripts)
    allowed = " ".join(f"'sha256-{one}'" for one in hashes)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _number(x: float | str | None) -> str:
    """Write a number of the summary for people."""
    if x is None:
        return "undefined"
    return short(float(x)) if isinstance(x, str) else short(x)


def _text(name: str) -> str:
    return (files("cutpoints._report") / name).read_text(encoding="utf-8")


def _environment() -> Environment:
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise MissingDependencyError.of(caller="report", package="jinja2", extra="report") from error
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _plotly() -> str:
    """Return plotly's script out of the installed package, which need not be imported for it."""
    spec = find_spec("plotly")
    for folder in (spec.submodule_search_locations or []) if spec is not None else []:
        place = Path(folder) / "package_data" / "plotly.min.js"
        if place.is_file():
            script = place.read_text(encoding="utf-8")
            # A page must not be ended by what is quoted in a script.
            return script.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    raise MissingDependencyError.of(caller="report", package="plotly", extra="report")
