"""`report`: search, summarise, and write one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutpoints._atomic import replaced
from cutpoints._data.read import as_source
from cutpoints._goal import Constraints, Goal, Objective, goal
from cutpoints._report.page import render
from cutpoints._report.summary import look, summarise
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    import os

    from cutpoints._data.source import Source

TITLE = "Decision threshold"
MOST_MODELS = 40
"""A page with more could be read by nobody, and would be too large to send."""


@dataclass(frozen=True, repr=False)
class Report:
    """What a report says, and the page that says it.

    Attributes
    ----------
    summary : dict
        Everything on the page; see ``cutpoints/report/summary.schema.json``.
    """

    summary: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary: JSON can hold it as it is."""
        return self.summary

    def html(self) -> str:
        """Return the page: one file that needs nothing else, about 5 MB, most of it plotly."""
        return render(self.summary)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the page; a failed write leaves an older file as it was."""
        place = Path(path)
        page = self.html().encode("utf-8")
        with replaced(place, folders=True) as beside:
            beside.write_bytes(page)
        return place

    def __repr__(self) -> str:
        return self.summary["sentence"]


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
    title: str | None = None,
    random_state: int = 0,
) -> Report:
    """Write a page to decide from: the best threshold, what it does, and what else could be chosen.

    One HTML file that needs no network. Moving its slider shows what any threshold does; its fields
    for the costs and the prevalence show which threshold they would call for.

    The numbers at the best threshold are those of `find`, exactly. At most 2,000 cuts of a model
    are drawn; each is a true cut with its exact counts. The honest value is cross-validated up to
    131,072 rows, and beyond found by resampling the counts of score buckets.

    Costs about as much as `find`: two or three readings of the data; a sort up to a million rows.

    Parameters
    ----------
    y_true, sample_weight, pos_label, maximize, minimize, subject_to, label, weight
        As for `find`: arrays, a frame or files.
    y_score : array-like, or dict of name to array-like
        Scores; a dict for several models on the same rows.
    path : str or path-like, default=None
        Where to write the page; not at all by default.
    score : str or list of str, default=None
        The column of the scores, where `y_true` is a frame or a path; several for several models.
    title : str, default=None
        The heading of the page.
    random_state : int, default=0
        Fixes the folds, or resamples, of the honest value.

    Returns
    -------
    Report
        ``to_dict()`` is the summary, ``html()`` the page, ``save(path)`` writes it.

    Raises
    ------
    InfeasibleError
        No cut of any model meets the constraints; no page is written.
    MissingDependencyError
        plotly or jinja2 is not installed, and a page is asked for.

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
    wanted = goal(maximize=maximize, minimize=minimize, subject_to=subject_to, caller="report")
    if title is not None and not isinstance(title, str):
        raise InvalidParameterError.of(parameter="title", caller="report", must_be="text", got=title)
    sources = _sources(
        y_true, y_score, label=label, score=score, weight=weight, sample_weight=sample_weight,
        pos_label=pos_label,
    )  # fmt: skip
    made = build(
        sources,
        wanted,
        title=title,
        named=score is not None,
        label=label,
        weight=weight,
        pos_label=pos_label,
        weighted=weight is not None or sample_weight is not None,
        random_state=random_state,
    )
    if path is not None:
        made.save(path)
    return made


def build(
    sources: Mapping[str, Source],
    wanted: Goal,
    *,
    title: str | None = None,
    named: bool = False,
    label: str | None = None,
    weight: str | None = None,
    pos_label: Any = None,
    weighted: bool = False,
    random_state: int = 0,
) -> Report:
    """Report on sources that are read already; `named`: their names are those of columns."""
    models, without = look(sources, wanted, named=named, weighted=weighted, random_state=random_state)
    return Report(
        summarise(
            models,
            without,
            wanted,
            title=_shown(title or TITLE),
            label=label,
            weight=weight,
            pos_label=pos_label,
            weighted=weighted,
        )
    )


def _sources(
    y_true: Any,
    y_score: Any,
    *,
    label: str | None,
    score: str | Sequence[str] | None,
    weight: str | None,
    sample_weight: Any,
    pos_label: Any,
) -> dict[str, Source]:
    """Return a source for each model, by name."""
    data = {"sample_weight": sample_weight, "pos_label": pos_label}
    if isinstance(y_score, Mapping):
        _some(list(y_score), "y_score")
        return {_shown(name): as_source(y_true, one, **data) for name, one in y_score.items()}
    columns = [score] if isinstance(score, str) or score is None else list(score)
    _some(columns, "score")
    return {
        "model" if name is None else name: as_source(
            y_true, y_score, columns={"label": label, "score": name, "weight": weight}, **data
        )
        for name in columns
    }


def _shown(name: Any) -> str:
    """Return a name that can be written to a file: lone surrogates cannot."""
    return str(name).encode("utf-8", "replace").decode("utf-8")


def _some(names: list[Any], parameter: str) -> None:
    if not names or len({str(name) for name in names}) < len(names) or len(names) > MOST_MODELS:
        raise InvalidParameterError.of(
            parameter=parameter,
            caller="report",
            must_be=f"one model or more, {MOST_MODELS} at most, each with a name of its own",
            got=names,
        )
