"""`report`: search, summarize, and write one HTML file."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutpoints._atomic import replaced
from cutpoints._data.read import as_data
from cutpoints._goal import Constraints, Goal, Objective, goal
from cutpoints._report.headline import Names
from cutpoints._report.page import render
from cutpoints._report.pdf import print_page
from cutpoints._report.segments import by_segment
from cutpoints._report.summary import NAMELESS, is_money, look, per_row, ranked, summarize
from cutpoints._report.verdict import verdict
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from cutpoints._data.data import Data

TITLE = "Decision threshold"
FRAME_PIXELS = 900
"""The height of the page in a notebook: the first screen."""
MOST_MODELS = 40
"""Nobody could read a page with more, and it would be too large to send."""


@dataclass(frozen=True, repr=False)
class Report:
    """What a report says, and the page that says it.

    Attributes
    ----------
    summary : dict
        Everything on the page; see ``docs/report.schema.json``.
    """

    summary: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary: JSON can hold it as it is."""
        return self.summary

    def html(self) -> str:
        """Return the page: one file that needs nothing else, a few hundred kilobytes."""
        return render(self.summary)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page as HTML, or as PDF through Chromium, Chrome or Edge if the path ends in .pdf.

        A failed write leaves an older file as it was.
        """
        place = Path(path)
        page = print_page(self.html()) if place.suffix.lower() == ".pdf" else self.html().encode("utf-8")
        with replaced(place, folders=True) as beside:
            beside.write_bytes(page)
        return place

    def __repr__(self) -> str:
        return self.summary["sentence"]

    def _repr_html_(self) -> str:
        """Show the page in a notebook, in a frame of its own that can reach nothing of the notebook."""
        return (
            f'<iframe srcdoc="{escape(self.html(), quote=True)}" title="{escape(self.summary["title"])}" '
            'sandbox="allow-scripts allow-downloads" allow="clipboard-write" '
            f'style="width:100%;height:{FRAME_PIXELS}px;border:0"></iframe>'
        )


def report(
    y_true: Any,
    y_score: Any = None,
    path: str | os.PathLike[str] | None = None,
    *,
    maximize: Objective | None = None,
    minimize: Objective | None = None,
    subject_to: Constraints = None,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    by: Any = None,
    title: str | None = None,
    positive_name: str | None = None,
    case_name: str | None = None,
    unit: str | None = None,
    per_month: float | None = None,
    random_state: int = 0,
) -> Report:
    """Write a page to decide from: the best threshold, what it does, and what else could be chosen.

    One HTML file that works offline. Its slider shows what any threshold does; change the costs or the
    share of positives, and the decision follows. In a notebook the report shows itself.

    The numbers at the best threshold are those of `find`, exactly. At most 2,000 cuts of a model
    are drawn; each is a true cut with its exact counts. The value on new data is cross-validated up to
    131,072 rows, and beyond estimated by resampling the counts of score buckets.

    Costs about as much as `find`: two or three readings of the data; a sort up to a million rows.

    Parameters
    ----------
    y_true, sample_weight, pos_label, maximize, minimize, subject_to, label, weight
        As for `find`.
    y_score : array-like, or dict of name to array-like
        Scores; a dict for several models on the same rows.
    path : str or path-like, default=None
        Where to write the page; not at all by default.
    score : str or list of str, default=None
        The column of the scores, where `y_true` is a frame or a path; several for several models.
    by : str, list of str, or array-like of shape (n_samples,), default=None
        Segments, as for `find_by`: the page shows what the threshold does in each of them, and the best
        threshold of each. The 30 largest are shown; only for rows in memory.
    title : str, default=None
        The heading of the page.
    positive_name : str, default=None
        What readers call the positive class, such as ``"fraud"``; "positives" by default.
    case_name : str, default=None
        What readers call a row, such as ``"transaction"``; "case" by default.
    unit : str, default=None
        The currency of costs, such as ``"EUR"``.
    per_month : float, default=None
        How many cases are decided in a month; the page then shows alerts and money per month.
    random_state : int, default=0
        Random seed for the estimate on new data.

    Returns
    -------
    Report
        ``to_dict()`` is the summary, ``html()`` the page, ``save(path)`` writes it.

    Raises
    ------
    InfeasibleError
        No cut of any model meets the constraints; no page is written.
    MissingDependencyError
        jinja2 is not installed, and a page is asked for.

    See Also
    --------
    find : The best threshold alone.
    assess : How far to trust it, in more detail.

    Examples
    --------
    >>> import cutpoints as cp
    >>> y = [0, 0, 1, 0, 1, 0, 1, 1]
    >>> p = [0.1, 0.2, 0.3, 0.4, 0.6, 0.65, 0.7, 0.9]
    >>> cp.report(y, p, maximize="f1").to_dict()["models"][0]["solution"]["threshold"]
    0.3
    """
    wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="report", columns=True)
    if title is not None and not isinstance(title, str):
        raise InvalidParameterError("title", got=title, expected="a string", caller="report")
    names = Names.of(positive_name=positive_name, case_name=case_name, unit=unit, per_month=per_month)
    data = as_data(
        y_true, y_score, label=label, score=score, weight=weight, sample_weight=sample_weight,
        pos_label=pos_label, caller="report", several=True,
    ).for_goal(wanted, "report")  # fmt: skip
    made = _build(data, wanted, title, names, by=by, random_state=random_state)
    told = made.to_dict()["data"]
    data.warn_of_one_class(told["positives"], told["negatives"])
    if path is not None:
        made.save(path)
    return made


def _build(
    data: Data, wanted: Goal, title: str | None, names: Names, *, by: Any, random_state: int
) -> Report:
    if len(data.scores) > MOST_MODELS:
        raise InvalidParameterError(
            "score" if data.named else "y_score",
            caller="report",
            expected=f"{MOST_MODELS} models at most",
            got=len(data.scores),
        )
    sources = {_shown(name): source for name, source in data.sources().items()}
    if not data.named and list(sources) == ["y_score"]:
        sources = {NAMELESS: sources["y_score"]}
    models, without = look(
        sources, wanted, named=data.named, weighted=data.weighted, random_state=random_state
    )
    summary = summarize(
        models,
        without,
        wanted,
        title=_shown(title or TITLE),
        label=data.label if data.named else None,
        weight=data.weight if data.named else None,
        pos_label=data.pos_label,
        weighted=data.weighted,
        names=names,
        verdict=verdict(
            data,
            ranked(models, wanted),
            wanted,
            names,
            money=is_money(wanted) and not per_row(wanted),
            random_state=random_state,
        ),
    )
    for model, shown in zip(models, summary["models"], strict=True):
        thresholds = [float(t) for t in shown["cuts"]["threshold"]]
        one = data.of(data.scores[model.place])
        shown["segments"] = None if by is None else by_segment(one, by, wanted, thresholds)
    return Report(summary)


def _shown(name: Any) -> str:
    """Return a name that can be written to a file: lone surrogates cannot."""
    return str(name).encode("utf-8", "replace").decode("utf-8")
