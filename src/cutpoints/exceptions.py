"""The exceptions of cutpoints, and all of their wording.

::

    CutpointError
    ├── InvalidParameterError   (also ValueError, TypeError)  an argument that has a wrong value
    ├── InvalidInputError       (also ValueError)             data that cannot be searched or read
    ├── InfeasibleError         (also ValueError)             no threshold meets the constraints
    ├── UnknownMetricError      (also LookupError)            a name that is not in the catalogue
    ├── SolverError             (also RuntimeError)           a solver's answer that cannot be trusted
    └── MissingDependencyError  (also ImportError)            a package that is not installed

    DataWarning                 (a UserWarning)               data that are easily misread
    LeakageWarning              (a UserWarning)               scores that do not seem to be held out

Each message has three parts: what must hold, what was found (how many, where the first one is),
and after a blank line a sentence that starts with ``Hint:`` and names an action. Rows are counted
from 0, and the messages say so.

An error carries its parts as fields, and no caller ever reads its text. What a message says about
arguments and columns is kept as `Argument` and `Column`: Python writes ``min_rows=100``, and the
command line writes the same error with ``--min-rows 100``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

from cutpoints._format import count as number
from cutpoints._format import exact, plural
from cutpoints._wording import (
    LISTED_LABELS,
    Argument,
    Column,
    Part,
    Text,
    Worded,
    at_row,
    joined,
    listed,
    plain,
    show,
    spelled,
    unpickled,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "CutpointError",
    "DataWarning",
    "InfeasibleError",
    "InvalidInputError",
    "InvalidParameterError",
    "LeakageWarning",
    "MissingDependencyError",
    "SolverError",
    "UnknownMetricError",
]


class CutpointError(Worded):
    """Base of every exception that cutpoints raises on purpose."""


class InvalidParameterError(CutpointError, ValueError, TypeError):
    """An argument has a value or a type that it must not have.

    It is both a `ValueError` and a `TypeError`, as in scikit-learn, whose estimator checks accept
    either.

    Parameters
    ----------
    parameter : str
        The argument.
    got : object
        What was passed. Its representation is shortened.
    expected : str or tuple of parts
        What is allowed; it completes the sentence "must be …".
    hint : str or tuple of parts, optional
        What to do about it.
    caller : str, optional
        The function, class or metric that the argument belongs to.

    Examples
    --------
    >>> from cutpoints.exceptions import Argument, InvalidParameterError
    >>> print(
    ...     InvalidParameterError(
    ...         "min_rows",
    ...         got=0,
    ...         expected="a positive integer",
    ...         hint=("for example ", Argument("min_rows", 100), "."),
    ...     )
    ... )
    min_rows must be a positive integer, got 0.
    <BLANKLINE>
    Hint: for example min_rows=100.
    """

    parameter: str
    got: object
    expected: str
    caller: str | None

    def __init__(
        self,
        parameter: str,
        *,
        got: object,
        expected: Text,
        hint: Text | None = None,
        caller: str | None = None,
    ) -> None:
        allowed = (expected,) if isinstance(expected, str) else expected
        super().__init__(
            Argument(parameter),
            " must be ",
            *allowed,
            f", got {show(got)}.",
            hint=hint,
            parameter=parameter,
            got=plain(got),
            expected=spelled(allowed, str),
            caller=caller,
        )


class InvalidInputError(CutpointError, ValueError):
    """The data cannot be searched: NaN, lengths, labels, negative weights, no rows.

    Where a column or an array is at fault, `kind` says how ("nan", "empty", …: the name of the
    constructor), and `name` which one; `count`, `rows` and `first` are how many of how many values
    are wrong, and the row of the first one (None if the engine keeps no order of rows). Of labels that
    are not two, `label` is the one that the hint suggests.
    """

    kind: str | None = None
    name: str | None = None
    count: int | None = None
    rows: int | None = None
    first: int | None = None
    label: object = None

    @classmethod
    def nan(cls, *, name: str, count: int, rows: int, first: int | None) -> Self:
        """Build the error of missing values."""
        return cls(
            *_missing(name, count, plural(rows, "value"), first),
            hint="drop these rows or fill in the values first; cutpoints does not guess them.",
            **_where("nan", name, count, first, rows),
        )

    @classmethod
    def nan_scores(cls, *, name: str, count: int, rows: int, first: int | None) -> Self:
        """Build the error of rows that cannot be decided, because their scores are missing."""
        negative, positive, keep = (Argument("missing", word) for word in ("negative", "positive", "keep"))
        return cls(
            *_missing(name, count, plural(rows, "score"), first),
            hint=("say what to do with such rows: ", negative, ", ", positive, " or ", keep, "."),
            **_where("nan_scores", name, count, first, rows),
        )

    @classmethod
    def infinite(cls, *, name: str, count: int, rows: int, first: int | None) -> Self:
        """Build the error of infinite values where only finite ones can be added up."""
        are = "is" if count == 1 else "are"
        return cls(
            Column(name),
            f" must be finite numbers. {count:,} of {plural(rows, 'value')} {are} infinite{at_row(first)}.",
            hint="drop these rows, or put a large number in their place.",
            **_where("infinite", name, count, first, rows),
        )

    @classmethod
    def unknown_segments(
        cls, *, by: tuple[str, ...], key: tuple[Any, ...] | None, count: int, rows: int, first: int | None
    ) -> Self:
        """Build the error of rows that cannot be decided, because the policy does not know their segment."""
        have = "has" if count == 1 else "have"
        shown = "" if key is None else f", with {show(key[0] if len(key) == 1 else key)}"
        return cls(
            f"Each row must be of a segment that the policy has a threshold for. {count:,} of "
            f"{plural(rows, 'row')} {have} another {', '.join(by)}{at_row(first)}{shown}.",
            hint="find the policy again with a default, in the shell --default: a threshold for all other "
            "segments, or 'keep' for no decision.",
            **_where("unknown_segments", by[0], count, first, rows),
        )

    @classmethod
    def negative(cls, *, name: str, count: int, first: int | None, value: float) -> Self:
        """Build the error of negative weights or counts, with an example."""
        are = "is" if count == 1 else "are"
        example = f"such as {show(value)}" if first is None else f"with {show(value)}"
        return cls(
            Column(name),
            f" must not be negative. {plural(count, 'value')} {are} negative{at_row(first)}, {example}.",
            hint="drop these rows, or set them to 0 if they should not count.",
            **_where("negative", name, count, first),
        )

    @classmethod
    def not_1d(cls, *, name: str, shape: tuple[int, ...], hint: str | None = None) -> Self:
        """Build the error of an array that must have one dimension."""
        found = f" must be one-dimensional. Got an array of shape {shape} instead."
        return cls(Column(name), found, hint=hint, kind="not_1d", name=name)

    @classmethod
    def length(cls, *, names_and_lengths: Mapping[str, int]) -> Self:
        """Build the error of arguments that must have one entry per row."""
        names = listed([(Column(name),) for name in names_and_lengths], "and")
        lengths = listed([(f"{n:,} in ", Column(name)) for name, n in names_and_lengths.items()], "and")
        hint = "pass one entry per row in each of them, from the same rows in the same order."
        found = (*names, " must have the same number of rows. Got ", *lengths, " instead.")
        return cls(*found, hint=hint, kind="length")

    @classmethod
    def labels(
        cls, *, values: Iterable[object], count: int, name: str = "y_true", pos_label: object = None
    ) -> Self:
        """Build the error of `count` distinct labels, three or more; `values` are some of them."""
        some = [value for _, value in zip(range(LISTED_LABELS), values, strict=False)]
        shown = [show(value) for value in some]
        one = some[0] if pos_label is None else pos_label
        more = [f"{count - len(shown):,} more"] if count > len(shown) else []
        return cls(
            Column(name),
            " must have two distinct labels. "
            f"Got {count:,} distinct labels instead: {joined(shown + more, 'and')}.",
            hint=(
                "for one class against the rest, use the labels `",
                Column(name, quoted=False),
                f" == {show(one)}`.",
            ),
            kind="labels",
            name=name,
            label=plain(one),
        )

    @classmethod
    def pos_label(cls, *, values: Sequence[object], name: str = "y_true") -> Self:
        """Build the error of labels that do not say which one is positive."""
        choices = listed([(Argument("pos_label", plain(label)),) for label in reversed(values)], "or")
        return cls(
            Column(name),
            " must hold 0 and 1, -1 and 1 or booleans when ",
            Argument("pos_label"),
            " is not given, since otherwise it is not clear which label is positive. "
            f"Got {joined([show(value) for value in values], 'and')} instead.",
            hint=("pass ", *choices, "."),
            kind="pos_label",
            name=name,
        )

    @classmethod
    def empty(cls, *, name: str) -> Self:
        """Build the error of data without rows."""
        hint = "check the filter or the file that the rows come from."
        found = " must have at least one row. Got 0 rows instead."
        return cls(Column(name), found, hint=hint, kind="empty", name=name)

    @classmethod
    def unwritable(cls, *, path: str, reason: str) -> Self:
        """Build the error of a file that cannot be written, with what the system says."""
        return cls(
            f"'{path}' cannot be written. {reason}.",
            hint="choose another folder, or check its permissions and the space that is left.",
        )

    @classmethod
    def not_local(cls, *, path: str) -> Self:
        """Build the error of an address where a file is to be written."""
        return cls(
            f"Only local files are written, got '{path}'.",
            hint="write it to a folder, and copy it from there.",
        )

    @classmethod
    def no_folder(cls, *, path: str, folder: str) -> Self:
        """Build the error of a file that is to be written into a folder that does not exist."""
        return cls(
            f"'{path}' cannot be written. Folder not found: '{folder}'.",
            hint="check its name, or create it first.",
        )

    @classmethod
    def changed(cls, *, expected: int, found: int) -> Self:
        """Build the error of a lazy frame that gives other rows when it is read again."""
        now = f"there {'is' if found == 1 else 'are'} {found:,} now"
        if expected == found:
            now = "there are as many now, with other scores, labels or weights"
        return cls(
            "The data must be the same each time that they are read. "
            f"Where {plural(expected, 'row')} {'was' if expected == 1 else 'were'} counted before, {now}.",
            hint="write or cache the data first: a random sample, a random number or a table that is "
            "still being written changes from one query to the next.",
        )

    @classmethod
    def too_many_scores(cls, *, rows: int, most: int) -> Self:
        """Build the error of a search that must look at more scores than there is room for."""
        return cls(
            f"A search that must look at every score must have {most:,} of them at most on a lazy frame. "
            f"There may be {rows:,}.",
            hint=(
                "round the scores; leave ",
                Argument("method", "sweep"),
                " out; and if your function never falls with tp and never rises with fp, ",
                "say so: metrics.custom(function, monotone=True).",
            ),
        )

    @classmethod
    def too_few(cls, *, what: str, needed: int, found: int, hint: str) -> Self:
        """Build the error of fewer rows, groups or members of a class than the folds need."""
        return cls(f"{what} must be at least {needed:,}. Got {found:,} instead.", hint=hint)

    @classmethod
    def one_class(cls, *, what: str, rows: int, positives: int) -> Self:
        """Build the error of a part of the rows, such as those outside a fold, with one class only."""
        return cls(
            f"{what} must have both classes. Of {plural(rows, 'row')}, {positives:,} are positive.",
            hint="use fewer folds, folds that are stratified, or more rows of the rare class.",
        )

    @classmethod
    def no_rows_of(cls, *, what: str, positives: float, negatives: float) -> Self:
        """Build the error of a question, such as "roc", that needs a class of which there are no rows."""
        return cls(
            f"There are no {'negative' if positives else 'positive'} rows, and {what} needs them. "
            f"Got {number(positives)} positives and {number(negatives)} negatives.",
            hint=("check the labels and ", Argument("pos_label"), "."),
        )

    @classmethod
    def undefined(cls, *, objective: str, positives: float, negatives: float) -> Self:
        """Build the error of an objective that is 0/0 at every cut of these data."""
        hint: Text = "run `cutpoints metrics show NAME` for where a metric is undefined."
        if not positives or not negatives:
            hint = _no_rows(positives) if positives or negatives else "all weights are 0: no row counts."
        return cls(
            f"The objective '{objective}' must be defined at one cut at least. "
            f"It is 0/0 at every cut of data with {number(positives)} positives "
            f"and {number(negatives)} negatives.",
            hint=hint,
            kind="undefined",
        )

    @classmethod
    def no_theory(cls, *, objective: str) -> Self:
        """Build the error of an objective for which no threshold follows from its best value."""
        return cls(
            f"The objective '{objective}' must be a quotient of linear functions of TP and FP, with a best "
            "threshold on the probabilities. It is not.",
            hint="choose f1, f(beta=2), jaccard, accuracy or a cost.",
        )

    @classmethod
    def one_label(cls, *, name: str, label: object) -> Self:
        """Build the error of labels that are all the same."""
        return cls(
            Column(name),
            f" must have two or more classes. All labels are {show(label)}.",
            hint=(
                "check the filter that the rows come from, or name all classes with ",
                Argument("classes"),
                ".",
            ),
            kind="one_label",
            name=name,
        )

    @classmethod
    def targets(cls, *, kind: str, classes: int) -> Self:
        """Build the error of targets that are not two classes; scikit-learn's checks know its words."""
        return cls(
            f"Only binary classification is supported. The type of the target is {kind}, "
            f"with {classes:,} {'class' if classes == 1 else 'classes'}.",
            hint="for one class against the rest, pass `y == label`.",
        )


class InfeasibleError(CutpointError, ValueError):
    """No threshold meets the constraints.

    `find` does not raise it, but returns a solution that says so. The estimator, `assess`, `report`
    and the command line do, and so does a solution that is asked for what it does not have.
    `constraints` are those that cannot be met, as the user wrote them.
    """

    constraints: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        *,
        attainable: Mapping[str, tuple[float, float]],
        undefined: str | None = None,
        together: bool = False,
    ) -> Self:
        """Build the error from what each constraint could attain alone.

        Parameters
        ----------
        attainable : mapping of str to (float, float)
            For each constraint, as the user wrote it, the best value that any cut attains, and the
            threshold of that cut. NaN stands for a constraint that is undefined at every cut.
        undefined : str, optional
            The objective, where cuts meet the constraints and it is undefined at all of them.
        together : bool, default=False
            Whether the values are those among the cuts that meet all other constraints.

        Examples
        --------
        >>> from cutpoints.exceptions import InfeasibleError
        >>> print(InfeasibleError.of(attainable={"recall >= 0.9": (0.8, 0.25)}))
        No threshold meets 'recall >= 0.9'. The best possible is 0.8, at threshold 0.25.
        <BLANKLINE>
        Hint: relax the constraint to a value that can be attained.
        """
        best = {
            text: "undefined at every threshold"
            if math.isnan(value)
            else f"{number(value)}, at threshold {exact(float(threshold))}"  # which can be copied
            for text, (value, threshold) in attainable.items()
        }
        names = joined([f"'{text}'" for text in best], "and")
        each = "; ".join(f"'{text}' {value}" for text, value in best.items())
        if undefined is not None and (together or len(best) == 1):
            found = f"'{undefined}' is undefined (0/0) at every threshold that meets {names}."
            hint = "relax the constraint, or choose another objective."
        elif len(best) == 1:
            found = f"No threshold meets {names}. The best possible is {''.join(best.values())}."
            hint = _as_share(attainable) or "relax the constraint to a value that can be attained."
        elif together:
            found = (
                f"No threshold meets {names} together. The best possible for each of them while the others "
                f"hold: {each}."
            )
            hint = "relax one of them to slightly beyond its value, which is rounded, and search again."
        else:
            found = f"No threshold meets {names} together. The best possible for each of them alone: {each}."
            hint = "relax the constraint that matters least, and search again."
        return cls(found, hint=hint, constraints=tuple(best))


_OF_ALL = "it is of all thresholds together, not of one: `cutpoints curve`, or curve(y_true, y_score)."
_NO_METRICS = {
    "auc roc_auc auroc roc_auc_score": f"{_OF_ALL}auc.",
    "ap average_precision average_precision_score auprc pr_auc": f"{_OF_ALL}average_precision.",
    "log_loss logloss cross_entropy brier brier_score ece": "it judges probabilities, not a threshold: "
    "`cutpoints calibration`, or calibration(y_true, y_prob).",
    "f05 f0_5 f05_score": "write f(beta=0.5).",
    **{f"f{beta} f_{beta} f{beta}_score f_{beta}_score": f"write f(beta={beta})." for beta in range(2, 10)},
    "min": "write precision_recall_min, the smaller of precision and recall.",
}
"""Names that people try, and what to use instead."""


class UnknownMetricError(CutpointError, LookupError):
    """A metric has a name that is not in the catalogue: `name`."""

    name: str

    @classmethod
    def of(cls, *, name: str, known: Iterable[str]) -> Self:
        """Build the error, with the nearest of the `known` names if there are any.

        Examples
        --------
        >>> from cutpoints.exceptions import UnknownMetricError
        >>> print(UnknownMetricError.of(name="recal", known=["accuracy", "f1", "recall"]))
        Unknown metric: 'recal'.
        <BLANKLINE>
        Hint: did you mean 'recall'?
        """
        import difflib

        plain = name.strip().lower().replace("-", "_").replace(" ", "_")
        near = difflib.get_close_matches(plain, list(dict.fromkeys(known)))
        hint = "run `cutpoints metrics` for the list."
        if near:
            hint = f"did you mean {joined([repr(match) for match in near], 'or')}?"
        hint = next((better for names, better in _NO_METRICS.items() if plain in names.split()), hint)
        return cls(f"Unknown metric: {show(name)}.", hint=hint, name=name)


class SolverError(CutpointError, RuntimeError):
    """The solver of the integer program failed, or its answer is not what it claims to be.

    `said` is what the solver itself said when it failed.
    """

    said: str | None = None

    @classmethod
    def failed(cls, *, solver: str, said: str) -> Self:
        """Build the error of a solver that neither found an answer nor proved that there is none."""
        found = f"{solver} must end with an answer. It ended with: {said}."
        return cls(found, hint="the sweep of find needs no solver.", said=said)

    @classmethod
    def undecided(cls) -> Self:
        """Build the error of joint constraints of which nobody knows whether they can be met together."""
        return cls(
            "Whether any thresholds meet all constraints together could not be decided: "
            "too many combinations come close.",
            hint="leave one constraint out, relax it a little, or round the weights.",
        )


class MissingDependencyError(CutpointError, ImportError):
    """A package that is not installed with this one is needed: `name`."""

    @classmethod
    def of(cls, *, caller: str, package: str, extra: str | None = None) -> Self:
        """Build the error of a call that needs a package; `extra` is what installs it, if not its name."""
        wanted = package if extra is None else f"'cutpoints[{extra}]'"
        called = "scikit-learn" if package == "sklearn" else package  # `pip install sklearn` fails
        error = cls(
            f"The package '{called}' must be installed for {caller}. It could not be imported.",
            hint=f"run `pip install {wanted}`.",
        )
        error.name = package
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        return unpickled, (type(self), self.args), {**vars(self), "name": self.name}


class LeakageWarning(UserWarning):
    """Rows that judge a threshold may have been used to fit the model, or to choose it."""


class DataWarning(Worded, UserWarning):
    """The answer is right, and something about the data makes it easy to misread."""

    @classmethod
    def one_class(cls, *, missing: str, pos_label: object = None) -> Self:
        """Build the warning of labels of one class: the answer is exact, and worth nothing."""
        why = f": no label is {pos_label!r}" if pos_label is not None and missing == "positive" else ""
        return cls(f"There are no {missing} rows{why}. Check the labels, and which of them is positive.")


def _as_share(attainable: Mapping[str, tuple[float, float]]) -> str | None:
    """Return the hint for a percentage where a share was meant, such as 'precision >= 95'."""
    ((text, (best, _)),) = attainable.items()
    left, _, bound = text.rpartition(" ")
    try:
        percent = float(bound)
    except ValueError:
        return None
    if not (1 < percent <= 100 and best <= 1):
        return None
    return f"a share is a number from 0 to 1: did you mean '{left} {percent / 100:g}'?"


def _missing(name: str, count: int, of: str, first: int | None) -> tuple[Part, ...]:
    are = "is" if count == 1 else "are"
    return Column(name), f" must not contain NaN or null. {count:,} of {of} {are} missing{at_row(first)}."


def _no_rows(positives: float) -> Text:
    kind = "negative" if positives else "positive"
    return f"there are no {kind} rows; check the labels and ", Argument("pos_label"), "."


def _where(kind: str, name: str, count: int, first: int | None, rows: int | None = None) -> dict[str, Any]:
    return {"kind": kind, "name": name, "count": count, "first": first, "rows": rows}
