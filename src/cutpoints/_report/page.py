"""The page: the summary and the script that shows it, in one HTML file that needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from cutpoints._extras import needs
from cutpoints._format import percent, short

if TYPE_CHECKING:
    from jinja2 import Environment

_INERT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
"""What means something in HTML or ends a line in a script, as JSON can write it without meaning it."""

SCRIPTS = ("state.js", "sentence.js", "charts.js", "policy.js", "band.js", "segments.js", "page.js")
"""The page's own script, in parts."""

CHARTS = (
    (
        ("cost", "Cost against threshold", "At the costs and the share above."),
        ("metrics", "Metrics against threshold", "What moving the threshold trades."),
        ("pr", "Precision and recall", "How many flagged cases are right, for the share that is found."),
        ("histogram", "Scores by class", "The less the classes overlap, the easier the decision."),
    ),
    (
        ("roc", "ROC curve", "The share found against the share of false alarms."),
        ("envelope", "Cost curve", "The lowest cost for any costs: false alarms weigh more on the left."),
        ("decision", "Decision curve", "What acting on the scores gains over flagging all or none."),
        ("reliability", "Reliability", "Do predicted probabilities match reality? On the diagonal they do."),
    ),
)
"""The charts: those for everybody, and those behind "More charts"."""


def render(summary: dict[str, Any]) -> str:
    """Return the page of a summary.

    The charts are drawn by the page's own script: lines and bars need no library, and a page of a few
    hundred kilobytes opens at once, in a mail and in a notebook.

    Raises
    ------
    MissingDependencyError
        jinja2 is not installed.
    """
    environment = _environment()
    write = percent if summary["goal"]["share"] else short
    best = next(model for model in summary["models"] if model["name"] == summary["best_model"])
    usual = next((point for point in best["operating_points"] if point["key"] == "usual"), None)
    script, css = "\n".join(map(_text, SCRIPTS)), _text("page.css")
    charts = [[dict(zip(("id", "title", "note"), chart, strict=True)) for chart in group] for group in CHARTS]
    if summary["costs"]["profit"]:
        charts[0][0]["title"] = "Profit against threshold"
    return environment.from_string(_text("page.html.j2")).render(
        s=summary,
        best=best,
        usual=usual,
        charts=charts,
        number=lambda x: "undefined" if x is None else write(float(x)),
        share=percent,
        policy=content_policy(script, css),
        # Marked as safe in the template: our own files, and JSON that holds no markup.
        css=css,
        data=inert(slim(summary)),
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


def content_policy(script: str, css: str) -> str:
    """Return a policy under which only this very script runs, and nothing is ever fetched."""
    run, look = (base64.b64encode(hashlib.sha256(one.encode()).digest()).decode() for one in (script, css))
    return (
        f"default-src 'none'; script-src 'sha256-{run}'; style-src 'sha256-{look}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _text(name: str) -> str:
    return (files("cutpoints._report") / name).read_text(encoding="utf-8")


def _environment() -> Environment:
    with needs("report"):
        from jinja2 import Environment, StrictUndefined
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
