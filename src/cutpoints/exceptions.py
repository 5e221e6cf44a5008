"""The exceptions of cutpoints, and all of their wording.

::

    CutpointError
    ├── InvalidParameterError   (also ValueError, TypeError)  an argument that has a wrong value
    ├── InvalidInputError       (also ValueError)             data that cannot be searched or read
    ├── InfeasibleError         (also ValueError)             no cut satisfies the constraints
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
import reprlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

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

_LISTED_LABELS = 5
_LISTED_COLUMNS = 20

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 100


@dataclass(frozen=True)
class Argument:
    """An argument that a message mentions, alone or with a value.

    Examples
    --------
    >>> print(Argument("pos_label"), Argument("pos_label", "yes"))
    pos_label pos_label='yes'
    """

    name: str
    value: Any = ...

    def __str__(self) -> str:
        return self.name if self.value is ... else f"{self.name}={_show(self.value)}"


@dataclass(frozen=True)
class Column:
    """A column, or an array in its place, that a message mentions; in code it is not quoted."""

    name: str
    quoted: bool = True

    def __str__(self) -> str:
        return f"'{self.name}'" if self.quoted else self.name


Part = str | Argument | Column
Text = str | tuple[Part, ...]


class _Worded(Exception):  # noqa: N818 - the base of errors and of warnings
    """A message in parts, which Python and the command line write in their own way.

    Parameters
    ----------
    *facts : str, Argument or Column
        What must hold and what was found; the parts are joined without spaces.
    hint : str or tuple of parts, optional
        What to do about it.
    **fields
        What a program may ask the error for, as attributes.
    """

    hint: str | None

    def __init__(self, *facts: Part, hint: Text | None = None, **fields: object) -> None:
        self._facts = facts
        self._hint = (hint,) if isinstance(hint, str) else hint
        self.hint = None if self._hint is None else _spelled(self._hint, str)
        vars(self).update(fields)
        super().__init__(self.worded())

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self.args), vars(self)

    @property
    def facts(self) -> str:
        """The message without the hint."""
        return _spelled(self._facts, str)

    def worded(self, spell: Callable[[Argument | Column], str] = str) -> str:
        """Return the message, with arguments and columns written by `spell`; by default as in Python."""
        facts = _spelled(self._facts, spell)
        return facts if self._hint is None else f"{facts}\n\nHint: {_spelled(self._hint, spell)}"


class CutpointError(_Worded):
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
            f", got {_show(got)}.",
            hint=hint,
            parameter=parameter,
            got=_plain(got),
            expected=_spelled(allowed, str),
            caller=caller,
        )


class InvalidInputError(CutpointError, ValueError):
    """The data cannot be searched: NaN, lengths, labels, negative weights, no rows.

    Where a column or an array is at fault, `kind` says how ("nan", "empty", …: the name of the
    constructor), and `name` which one; `count`, `rows` and `first` are how many of how many values
    are wrong, and the row of the first one (None if the engine keeps no order of rows).
    """

    kind: str | None = None
    name: str | None = None
    count: int | None = None
    rows: int | None = None
    first: int | None = None

    @classmethod
    def nan(cls, *, name: str, count: int, rows: int, first: int | None) -> Self:
        """Build the error of missing values."""
        return cls(
            *_missing(name, count, _plural(rows, "value"), first),
            hint="drop these rows or fill in the values first; cutpoints does not guess them.",
            **_where("nan", name, count, first, rows),
        )

    @classmethod
    def nan_scores(cls, *, name: str, count: int, rows: int, first: int | None) -> Self:
        """Build the error of rows that cannot be decided, because their scores are missing."""
        negative, positive, keep = (Argument("missing", word) for word in ("negative", "positive", "keep"))
        return cls(
            *_missing(name, count, _plural(rows, "score"), first),
            hint=("say what to do with such rows: ", negative, ", ", positive, " or ", keep, "."),
            **_where("nan_scores", name, count, first, rows),
        )

    @classmethod
    def one_decision(cls, *, objective: str, called: bool) -> Self:
        """Build the error of costs for which one decision is best for every row, whatever its label."""
        always = "calling a row positive is never worse" if called else "calling a row positive never helps"
        return cls(
            f"'{objective}' must have something for and something against calling a row positive. "
            f"On these rows {always}, whatever the label: no score could help to decide.",
            hint="check signs and cells: fn is a miss, fp a false alarm; in profit(...) costs are negative.",
            kind="one_decision",
        )

    @classmethod
    def infinite(cls, *, name: str, count: int, rows: int, first: int | None) -> Self:
        """Build the error of infinite values where only finite ones can be added up."""
        are = "is" if count == 1 else "are"
        return cls(
            Column(name),
            f" must be finite numbers. {count:,} of {_plural(rows, 'value')} {are} infinite{_at(first)}.",
            hint="drop these rows, or put a large number in their place.",
            **_where("infinite", name, count, first, rows),
        )

    @classmethod
    def unknown_segments(
        cls, *, by: tuple[str, ...], key: tuple[Any, ...] | None, count: int, rows: int, first: int | None
    ) -> Self:
        """Build the error of rows that cannot be decided, because the policy does not know their segment."""
        have = "has" if count == 1 else "have"
        shown = "" if key is None else f", with {_show(key[0] if len(key) == 1 else key)}"
        return cls(
            f"Each row must be of a segment that the policy has a threshold for. {count:,} of "
            f"{_plural(rows, 'row')} {have} another {', '.join(by)}{_at(first)}{shown}.",
            hint="give the policy a default: a threshold for all other segments, or 'keep' for no decision.",
            **_where("unknown_segments", by[0], count, first, rows),
        )

    @classmethod
    def not_probabilities(cls, *, name: str, count: int, rows: int, first: int | None, value: float) -> Self:
        """Build the error of scores that must be probabilities, with the first one that is not."""
        lie = "lies" if count == 1 else "lie"
        return cls(
            Column(name),
            " must be probabilities, between 0 and 1. "
            f"{count:,} of {_plural(rows, 'value')} {lie} outside{_at(first)}, with {_show(value)}.",
            hint="with labels, `cutpoints find` takes any scores; in Python, recalibrate() makes them "
            "probabilities.",
            **_where("not_probabilities", name, count, first, rows),
        )

    @classmethod
    def negative(cls, *, name: str, count: int, first: int | None, value: float) -> Self:
        """Build the error of negative weights or counts, with an example."""
        are = "is" if count == 1 else "are"
        example = f"such as {_show(value)}" if first is None else f"with {_show(value)}"
        return cls(
            Column(name),
            f" must not be negative. {_plural(count, 'value')} {are} negative{_at(first)}, {example}.",
            hint="drop these rows, or set them to 0 if they should not count.",
            **_where("negative", name, count, first),
        )

    @classmethod
    def not_numbers(cls, *, name: str, value: object, count: int, first: int) -> Self:
        """Build the error of text in a column that must hold numbers, with the first such value."""
        are = "is not a number" if count == 1 else "are not numbers"
        hint = "choose another column, or convert it first; missing values are empty cells."
        if isinstance(value, str) and value.count(",") == 1 and "." not in value:
            hint = "numbers must have a decimal point, not a decimal comma."
        return cls(
            f"The column '{name}' must hold numbers. "
            f"{_plural(count, 'value')} {are}{_at(first)}, with {_show(value)}.",
            hint=hint,
            **_where("not_numbers", name, count, first),
        )

    @classmethod
    def not_a_number_type(cls, *, name: str, type_: str) -> Self:
        """Build the error of a typed column that must hold numbers, and holds dates or lists."""
        found = f"The column '{name}' must hold numbers. Its type is {type_}."
        hint = "choose another column, or convert it first."
        return cls(found, hint=hint, kind="not_a_number_type", name=name)

    @classmethod
    def not_1d(cls, *, name: str, shape: tuple[int, ...], hint: str | None = None) -> Self:
        """Build the error of an array that must have one dimension."""
        found = f" must be one-dimensional. Got an array of shape {shape} instead."
        return cls(Column(name), found, hint=hint, kind="not_1d", name=name)

    @classmethod
    def length(cls, *, names_and_lengths: Mapping[str, int]) -> Self:
        """Build the error of arguments that must have one entry per row."""
        names = _listed([(Column(name),) for name in names_and_lengths], "and")
        lengths = _listed([(f"{n:,} in ", Column(name)) for name, n in names_and_lengths.items()], "and")
        hint = "pass one entry per row in each of them, from the same rows in the same order."
        found = (*names, " must have the same number of rows. Got ", *lengths, " instead.")
        return cls(*found, hint=hint, kind="length")

    @classmethod
    def index_order(cls, *, name: str, other: str, row: int, labels: tuple[object, object]) -> Self:
        """Build the error of two columns of pandas with equal indices in another order."""
        return cls(
            Column(name),
            " and ",
            Column(other),
            " must have their rows in the same order. Both have the same index labels, but at row "
            f"{row:,} (rows are counted from 0) one has {_show(labels[0])} and the other {_show(labels[1])}.",
            hint=f"align them, {other} = {other}.loc[{name}.index], or drop the labels with .to_numpy() "
            "if the rows are in the right order.",
            kind="index_order",
            name=name,
        )

    @classmethod
    def labels(
        cls, *, values: Iterable[object], count: int, name: str = "y_true", pos_label: object = None
    ) -> Self:
        """Build the error of `count` distinct labels, three or more; `values` are some of them."""
        shown = [_show(value) for _, value in zip(range(_LISTED_LABELS), values, strict=False)]
        one = shown[0] if pos_label is None else _show(pos_label)
        more = [f"{count - len(shown):,} more"] if count > len(shown) else []
        return cls(
            Column(name),
            " must have two distinct labels. "
            f"Got {count:,} distinct labels instead: {_join(shown + more, 'and')}.",
            hint=(
                "for one class against the rest, use the labels `",
                Column(name, quoted=False),
                f" == {one}`.",
            ),
            kind="labels",
            name=name,
        )

    @classmethod
    def pos_label(cls, *, values: Sequence[object], name: str = "y_true") -> Self:
        """Build the error of labels that do not say which one is positive."""
        choices = _listed([(Argument("pos_label", _plain(label)),) for label in reversed(values)], "or")
        return cls(
            Column(name),
            " must hold 0 and 1, -1 and 1 or booleans when ",
            Argument("pos_label"),
            " is not given, since otherwise it is not clear which label is positive. "
            f"Got {_join([_show(value) for value in values], 'and')} instead.",
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
    def filtered_away(cls, *, filters: Mapping[str, str]) -> Self:
        """Build the error of filters, by their parameters, that leave no row."""
        given = _listed([(Argument(name, text),) for name, text in filters.items()], "and")
        hint = "check the values in it: text is compared letter by letter, and case matters."
        return cls(
            "The filter must leave at least one row. No row is left by ", *given, ".", hint=hint, kind="empty"
        )

    @classmethod
    def column(cls, *, name: str, path: str, columns: Sequence[str]) -> Self:
        """Build the error of a column that is not in a file, with the columns that are.

        Examples
        --------
        >>> from cutpoints.exceptions import InvalidInputError
        >>> print(InvalidInputError.column(name="P", path="scores.csv", columns=["y", "p"]))
        The column 'P' must be in 'scores.csv'. Its columns are 'y' and 'p'.
        <BLANKLINE>
        Hint: did you mean 'p'?
        """
        import difflib

        shown = [_show(column) for column in columns[:_LISTED_COLUMNS]]
        more = [f"{len(columns) - len(shown):,} more"] if len(columns) > len(shown) else []
        plain = {column.strip().lower(): column for column in reversed(columns)}
        near = [plain[match] for match in difflib.get_close_matches(name.strip().lower(), plain)]
        hint = "choose one of these; in a CSV file, the first line must have the names."
        if near:
            hint = f"did you mean {_join([_show(match) for match in near], 'or')}?"
        there = _join(shown + more, "and")
        found = f"The column {_show(name)} must be in {_file(path)}. Its columns are {there}."
        return cls(found, hint=hint, kind="column", name=name)

    @classmethod
    def missing_file(cls, *, path: str, near: Sequence[str] = (), pattern: bool = False) -> Self:
        """Build the error of a path or a pattern at which there is no file; `near` are similar names."""
        if pattern:
            hint = "check the folder and the ending; '**' matches folders of any depth."
            return cls(f"The pattern '{path}' must match at least one file. It matches none.", hint=hint)
        if "://" in path:
            return cls(
                f"Only local files are read, got '{path}'.",
                hint="download it first; in Python, pass a lazy frame of DuckDB, Polars or Spark.",
            )
        hint = "check the path, or pass '-' for standard input."
        if near:
            hint = f"did you mean {_join([repr(match) for match in near], 'or')}?"
        return cls(f"File not found: '{path}'.", hint=hint)

    @classmethod
    def standard_input_twice(cls, *, count: int) -> Self:
        """Build the error of '-' among the files more than once: nothing is left for the second."""
        return cls(
            f"'-' must be given once: standard input can be read only once. Got it {count:,} times.",
            hint="pass '-' once; files and one '-' may be mixed.",
        )

    @classmethod
    def file_twice(cls, *, path: str, other: str) -> Self:
        """Build the error of a file that is named, or that a folder or a pattern has, more than once."""
        again = f"'{path}' more than once" if path == other else f"'{other}' and '{path}' for one file"
        return cls(
            f"Each file must be given once, or its rows count twice. Got {again}.",
            hint="leave one of them out; folders and patterns that overlap name their files twice.",
        )

    @classmethod
    def directory(cls, *, path: str) -> Self:
        """Build the error of a folder without data files."""
        return cls(
            f"The folder '{path}' must have data files in it: CSV, Parquet, NDJSON or Arrow. It has none.",
            hint=f"for files with other endings pass a pattern, such as '{path.rstrip('/')}/**/*.dat'.",
        )

    @classmethod
    def empty_file(cls, *, path: str) -> Self:
        """Build the error of a file without a single byte, or with blank lines only."""
        found = f"{_file(path)} must have named columns. It is empty."
        return cls(found, hint="check the command that wrote it.")

    @classmethod
    def unreadable(cls, *, path: str, form: str, reason: str, hint: str | None = None) -> Self:
        """Build the error of a broken file; `form` is how it was read, `reason` what the reader said."""
        hints = {
            "CSV": "a CSV file is UTF-8 text with the same number of values in each line, "
            "separated by commas, semicolons, tabs or bars.",
            "Parquet": "if it was copied or is still being written, it may not be complete.",
            "JSON": "a JSON file must have one object in braces in each line; "
            "jq -c '.[]' old.json > new.ndjson converts an array.",
            "Arrow": "an Arrow file is what pyarrow.feather.write_feather writes; "
            "if it was copied or is still being written, it may not be complete.",
        }
        article = "an" if form == "Arrow" else "a"
        return cls(f"{_file(path)} must be {article} {form} file. {reason}.", hint=hint or hints[form])

    @classmethod
    def memory(cls, *, path: str, limit: str | None) -> Self:
        """Build the error of a file that DuckDB cannot read in the memory that it may use."""
        much = "" if limit is None else f" of {limit}"
        return cls(
            f"{_file(path)} must be read in the memory that DuckDB may use. The limit{much} is too low.",
            hint=("allow more, for example ", Argument("memory_limit", "2GB"), "."),
        )

    @classmethod
    def mixed_files(cls, *, what: str, first: str, other: str) -> Self:
        """Build the error of files that must be alike to be written to one."""
        found = f"All files must have the same {what}. {_file(other)} differs from {_file(first)}."
        return cls(found, hint="apply the policy to each of them by itself.")

    @classmethod
    def folder_and_column(cls, *, folder: str, column: str, path: str) -> Self:
        """Build the error of a column that a ``name=value`` folder has, too."""
        return cls(
            f"The column '{column}' must come from the file or from its folder, not from both. "
            f"{_file(path)} has a column '{column}' and lies in the folder '{folder}'.",
            hint="rename the folder, or the column in the files.",
            kind="folder_and_column",
            name=column,
        )

    @classmethod
    def unlisted(cls, *, path: str, reason: str) -> Self:
        """Build the error of a folder that cannot be listed, with what the system says."""
        return cls(
            f"The folder '{path}' must be readable while its files are listed. {reason}.",
            hint="check its permissions, and that no other program moves or deletes it.",
            kind="unlisted",
        )

    @classmethod
    def unwritable(cls, *, path: str, reason: str) -> Self:
        """Build the error of a file that cannot be written, with what the system says."""
        return cls(
            f"'{path}' must be a place that can be written to. {reason}.",
            hint="choose another folder, or check its permissions and the space that is left.",
        )

    @classmethod
    def no_weight(cls, *, side: str, rows: int) -> Self:
        """Build the error of a class whose rows all have a weight of 0."""
        return cls(
            f"sample_weight must not be 0 for a whole class. All {rows:,} {side} rows have a weight of 0.",
            hint="leave sample_weight out, or give both classes some weight.",
        )

    @classmethod
    def constant_scores(cls, *, estimator: str, score: float) -> Self:
        """Build the error of an estimator that gives every row the same score."""
        return cls(
            "The estimator must distinguish rows. "
            f"{estimator} makes constant predictions (the score {score:.6g} for every row), so the best "
            "threshold cannot be found.",
            hint="check its features and its hyper-parameters, such as a regularization that is too strong.",
        )

    @classmethod
    def no_folder(cls, *, path: str, folder: str) -> Self:
        """Build the error of a file that is to be written into a folder that does not exist."""
        return cls(
            f"'{path}' must be a place that can be written to. There is no folder '{folder}'.",
            hint="check its name, or make it first.",
        )

    @classmethod
    def changed_file(cls, *, path: str) -> Self:
        """Build the error of a file that was written while it was read."""
        return cls(
            f"{_file(path)} must not change while it is read. It was modified in the meantime.",
            hint="wait until the file is complete, or read a copy of it.",
            kind="changed_file",
        )

    @classmethod
    def connection_in_use(cls) -> Self:
        """Build the error of a DuckDB connection that runs another query."""
        return cls(
            "The DuckDB connection must not run another query at the same time. Another thread is using it.",
            hint="give each thread its own relation, from connection.cursor().",
            kind="connection_in_use",
        )

    @classmethod
    def other_classes(cls, *, fitted: Sequence[object], found: Sequence[object]) -> Self:
        """Build the error of a fitted estimator that knows other classes than the labels have."""
        return cls(
            "With cv='prefit' the estimator must be fitted on the two classes of y. "
            f"Its classes are {_show(list(fitted))}, those of y are {_show(list(found))}.",
            hint="fit it on labels of these two classes, or pass the labels that it was fitted on.",
            kind="other_classes",
        )

    @classmethod
    def changed(cls, *, expected: int, found: int) -> Self:
        """Build the error of a lazy frame that gives other rows when it is read again."""
        now = f"there {'is' if found == 1 else 'are'} {found:,} now"
        if expected == found:
            now = "there are as many now, with other scores, labels or weights"
        return cls(
            "The data must be the same each time that they are read. "
            f"Where {_plural(expected, 'row')} {'was' if expected == 1 else 'were'} counted before, {now}.",
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
    def not_by_segment(cls, *, engine: str) -> Self:
        """Build the error of a source of one's own, which has no columns to group by."""
        by = Argument("by")
        found = (
            "The data must be arrays, a data frame or files where ",
            by,
            f" is given. Got {engine} instead.",
        )
        return cls(*found, hint="pass the frame or the path itself, with the names of its columns.")

    @classmethod
    def too_few_rows(cls, *, rows: int, needed: int) -> Self:
        """Build the error of a segment with fewer rows than the user asks for."""
        return cls(
            f"The segment must have at least {_plural(needed, 'row')}. It has {rows:,}.",
            hint=("join small segments, or lower ", Argument("min_rows"), "."),
        )

    @classmethod
    def too_few(cls, *, what: str, needed: int, found: int, hint: str) -> Self:
        """Build the error of fewer rows, groups or members of a class than the folds need."""
        return cls(f"{what} must be at least {needed:,}. Got {found:,} instead.", hint=hint)

    @classmethod
    def nothing_to_tell_apart(cls, *, rows: int, positives: float) -> Self:
        """Build the error of data with one class only."""
        kind = "negative" if positives else "positive"
        return cls(
            f"There must be rows of both classes, but none of the {_plural(rows, 'row')} is {kind}: "
            "there is nothing to tell apart.",
            hint=("check the column of the labels, ", Argument("pos_label"), " and the filters."),
        )

    @classmethod
    def one_class(cls, *, what: str, rows: int, positives: int) -> Self:
        """Build the error of a part of the rows, such as those outside a fold, with one class only."""
        return cls(
            f"{what} must have both classes. Of {_plural(rows, 'row')}, {positives:,} are positive.",
            hint="use fewer folds, folds that are stratified, or more rows of the rare class.",
        )

    @classmethod
    def no_rows_of(cls, *, what: str, positives: float, negatives: float) -> Self:
        """Build the error of a question, such as "roc", that needs a class of which there are no rows."""
        return cls(
            f"The data for {what} must have {'negative' if positives else 'positive'} rows. "
            f"Got {_number(positives)} positives and {_number(negatives)} negatives instead.",
            hint=_no_rows(positives),
        )

    @classmethod
    def undefined(cls, *, objective: str, positives: float, negatives: float) -> Self:
        """Build the error of an objective that is 0/0 at every cut of these data."""
        hint: Text = "run `cutpoints metrics show NAME` for where a metric is undefined."
        if not positives or not negatives:
            hint = _no_rows(positives) if positives or negatives else "all weights are 0: no row counts."
        return cls(
            f"The objective '{objective}' must be defined at one cut at least. "
            f"It is 0/0 at every cut of data with {_number(positives)} positives "
            f"and {_number(negatives)} negatives.",
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
            f" must have two or more classes. All labels are {_show(label)}.",
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

    @classmethod
    def all_failed(cls, *, number: int, first: str) -> Self:
        """Build the error of a search in which no setting could be fitted."""
        return cls(
            "At least one setting must be fitted without an error. "
            f"Of {number:,}, none was; the first: {first}",
            hint="check the names and the values of the parameters against the estimator.",
        )

    @classmethod
    def policy(cls, *, path: str, reason: str, hint: str | None = None) -> Self:
        """Build the error of a policy file that is not one, or was changed."""
        usual = "take the file as `Policy.save` or `cutpoints find --policy` wrote it."
        return cls(f"{_file(path)} must be a policy file. {reason}.", hint=hint or usual)

    @classmethod
    def state(cls, *, path: str, reason: str, hint: str | None = None) -> Self:
        """Build the error of a state file that is not one, or another policy's."""
        usual = "take the file as `cutpoints check --state` wrote it, or begin a new one."
        return cls(f"{_file(path)} must be the state of this policy. {reason}.", hint=hint or usual)

    @classmethod
    def sketch(cls, *, name: str, reason: str) -> Self:
        """Build the error of bytes that are not a sketch, or not a whole one."""
        return cls(
            f"'{name}' must be a sketch that Sketch.save wrote. {reason}.",
            hint="make the sketch again from its data, or copy the file again.",
        )

    @classmethod
    def not_sketched(cls, *, what: str, sketched: str, found: str) -> Self:
        """Build the error of data that are not those of the sketch they are to refine."""
        return cls(
            "The data must be the rows that were sketched. "
            f"{what}: {sketched} in the sketch, {found} in the data.",
            hint="pass the same rows, labels and weights that the sketch was updated with, each once.",
        )

    @classmethod
    def mixed_labels(cls) -> Self:
        """Build the error of parts of the data whose negative label differs."""
        return cls(
            "'y_true' must have two distinct labels. Got -1, 0 and 1 over the parts that were sketched.",
            hint=("use one label for the negatives in all parts, or pass ", Argument("pos_label"), "."),
        )


class InfeasibleError(CutpointError, ValueError):
    """No cut satisfies the constraints.

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
        No cut satisfies 'recall >= 0.9'. The best that any cut attains is 0.8, at threshold 0.25.
        <BLANKLINE>
        Hint: relax the constraint to a value that can be attained.
        """
        best = {
            text: "undefined at every cut"
            if math.isnan(value)
            else f"{_number(value)}, at threshold {float(threshold)!r}"  # which can be copied
            for text, (value, threshold) in attainable.items()
        }
        names = _join([f"'{text}'" for text in best], "and")
        each = "; ".join(f"'{text}' {value}" for text, value in best.items())
        if undefined is not None and (together or len(best) == 1):
            found = f"No cut that satisfies {names} has a value of '{undefined}'. It is 0/0 at all of them."
            hint = "relax the constraint, or choose another objective."
        elif len(best) == 1:
            found = f"No cut satisfies {names}. The best that any cut attains is {''.join(best.values())}."
            hint = _as_share(attainable) or "relax the constraint to a value that can be attained."
        elif together:
            found = (
                f"No cut satisfies {names} together. The best that any cut attains for each of them where "
                f"the others hold: {each}."
            )
            hint = "relax one of them to its value, or a little beyond, for it is rounded; and search again."
        else:
            found = (
                f"No cut satisfies {names} together. The best that any cut attains for each of them "
                f"alone: {each}."
            )
            hint = "relax the constraint that matters least, and search again."
        return cls(found, hint=hint, constraints=tuple(best))

    @classmethod
    def in_each(cls, *, constraints: Sequence[str], told: str) -> Self:
        """Build the error of constraints that no threshold meets in every group."""
        hint = "relax the constraint, or find one threshold per group with find_by()."
        return cls(f"No cut satisfies {told}.", hint=hint, constraints=tuple(constraints))

    @classmethod
    def band(
        cls, *, constraints: Sequence[str], capacity: float | None, least_reviewed: float | None
    ) -> Self:
        """Build the error of a band; `least_reviewed` is the capacity that it takes, None if none does."""
        held = [f"'{text}'" for text in constraints]
        if capacity is not None:
            held.append(f"a capacity of {_number(capacity)}")
        names = _join(held, "and")
        if least_reviewed is None:
            found, hint = f"No band satisfies {names}, however many rows are reviewed.", "relax a constraint."
        else:
            found = (
                f"No band satisfies {names} together. "
                f"The constraints need at least {_number(least_reviewed)} reviews."
            )
            hint = "raise the capacity to that, or relax a constraint."
        return cls(found, hint=hint, constraints=tuple(constraints))

    @classmethod
    def joint(
        cls,
        *,
        attainable: Mapping[str, float],
        together: bool = False,
        empty: str | None = None,
    ) -> Self:
        """Build the error of thresholds for several segments.

        `attainable` has the best value of each constraint over all thresholds, or among those that meet the
        others; `empty` names a segment in which no threshold meets what must hold in each.
        """
        names = _join([f"'{text}'" for text in attainable], "and")
        if empty is not None:
            return cls(
                f"No threshold of segment {empty} meets {names}, which must hold in each segment.",
                hint="relax it, or merge small segments.",
                constraints=tuple(attainable),
            )
        best = "; ".join(
            f"'{text}' {'undefined' if math.isnan(value) else _number(value)}"
            for text, value in attainable.items()
        )
        where = " where the others hold" if together else ""
        return cls(
            f"No thresholds satisfy {names}{' together' if len(attainable) > 1 else ''}. "
            f"The best that can be attained{where}: {best}.",
            hint="relax a constraint to its value, or a little beyond, for it is rounded.",
            constraints=tuple(attainable),
        )

    @classmethod
    def none_certified(
        cls, *, constraints: Sequence[str], confidence: object, rows: int, more_rows: int | None
    ) -> Self:
        """Build the error of constraints that hold at no threshold with the given confidence.

        `more_rows` is how many more would do, None if no threshold seems to meet the constraints.
        """
        how = "in expectation" if confidence == "expectation" else f"with confidence {confidence}"
        names = _join([f"'{text}'" for text in constraints], "and")
        found = f"No threshold can be certified to meet {names} on new data {how}. "
        if more_rows is None:
            found += f"Among the {rows:,} rows, no threshold is clearly on the right side of the bound."
            hint = "relax the constraint, or improve the scores; more rows like these would hardly help."
        else:
            found += f"The {rows:,} rows are too few."
            hint = (
                f"about {more_rows:,} more rows would be needed; or relax the constraint or the confidence."
            )
        return cls(found, hint=hint, constraints=tuple(constraints))


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
        A metric must be a name from the catalogue. Got 'recal' instead.
        <BLANKLINE>
        Hint: did you mean 'recall'?
        """
        import difflib

        plain = name.strip().lower().replace("-", "_").replace(" ", "_")
        near = difflib.get_close_matches(plain, list(dict.fromkeys(known)))
        hint = "run `cutpoints metrics` for the list."
        if near:
            hint = f"did you mean {_join([repr(match) for match in near], 'or')}?"
        hint = next((better for names, better in _NO_METRICS.items() if plain in names.split()), hint)
        return cls(
            f"A metric must be a name from the catalogue. Got {_show(name)} instead.", hint=hint, name=name
        )


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
    def recount(
        cls, *, claimed: float | None, counted: float | None, threshold: float | None, fault: str
    ) -> Self:
        """Build the error of an answer that is not confirmed when the data are counted."""
        found = f"The solver's answer must be that of a threshold. It is not: {fault}."
        if claimed is not None and counted is not None:
            place = "" if threshold is None else f" at threshold {float(threshold)!r}"
            found += f" Claimed {claimed:.10g}, counted {counted:.10g}{place}."
        return cls(
            found,
            hint=("an epsilon near the solver's tolerance (1e-6) splits equal scores; ", *_OTHER_MARGIN),
        )

    @classmethod
    def wrong(cls, *, found: float | None, truth: float | None) -> Self:
        """Build the error of an "optimum" that another cut beats; None stands for "infeasible"."""
        claim = "that no cut is feasible" if found is None else f"{found:.10g}"
        best = "no cut is feasible" if truth is None else f"the best cut attains {truth:.10g}"
        return cls(
            f"The solver's optimum must be the best cut of the data. It found {claim}, but {best}.",
            hint=(
                "an epsilon above the smallest gap between scores forbids good thresholds; ",
                *_OTHER_MARGIN,
            ),
        )

    @classmethod
    def undecided(cls) -> Self:
        """Build the error of joint constraints of which nobody knows whether they can be met together."""
        return cls(
            "Whether any thresholds meet all constraints together could not be decided: "
            "too many combinations come close.",
            hint="leave one constraint out, relax it a little, or round the weights.",
        )

    @classmethod
    def nothing(cls, *, bound: float) -> Self:
        """Build the error of a solver that was stopped before it found any threshold."""
        return cls(
            "The solver must find a threshold within its time limit. It found none; "
            f"no threshold is better than {_number(bound)}.",
            hint=("allow more time, or use ", Argument("formulation", "chain"), "."),
        )


_OTHER_MARGIN = ("use ", Argument("epsilon", "auto"), " or ", Argument("formulation", "chain"), ".")


class MissingDependencyError(CutpointError, ImportError):
    """A package that is not installed with this one is needed: `name`."""

    @classmethod
    def of(cls, *, caller: str, package: str, extra: str | None = None) -> Self:
        """Build the error of a call that needs a package; `extra` is what installs it, if not its name."""
        wanted = package if extra is None else f"'cutpoints[{extra}]'"
        error = cls(
            f"The package '{package}' must be installed for {caller}. It could not be imported.",
            hint=f"run `pip install {wanted}`.",
        )
        error.name = package
        return error

    @classmethod
    def browser(cls, *, names: Sequence[str], said: str | None = None) -> Self:
        """Build the error of a PDF without a browser that prints it."""
        found = "None was found." if said is None else f"It failed: {said.rstrip('. ')}."
        return cls(
            f"A browser must be installed to write PDF: Chromium, Chrome or Edge. {found}",
            hint="write .html instead, and print that page; or put one of "
            f"{_join(list(names), 'or')} on the path.",
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (type(self), self.args), {**vars(self), "name": self.name}


class LeakageWarning(UserWarning):
    """Rows that judge a threshold may have been used to fit the model, or to choose it."""


class DataWarning(_Worded, UserWarning):
    """The answer is right, and something about the data makes it easy to misread."""

    @classmethod
    def inverted(cls, *, auc: float, model: str | None = None) -> Self:
        """Build the warning of positives that score lower than negatives."""
        whose = "" if model is None else f" of model {model!r}"
        return cls(
            f"Positives score lower than negatives: the AUC{whose} is {auc:.2f}, clearly below 0.5. "
            "The threshold is the best one, and the scores may be upside down.",
            hint=(
                "if low scores mean positive, pass ",
                Argument("lower_is_positive", value=True),
                "; otherwise check the labels and ",
                Argument("pos_label"),
                ".",
            ),
        )

    @classmethod
    def positive_class(cls, classes: list[str]) -> Self:
        """Build the warning of string labels without a `pos_label`."""
        return cls(
            f"Labels are strings: {classes[1]!r} is taken as the positive class, the second of {classes} in "
            f"sorted order.\n\nHint: pass pos_label={classes[1]!r} or pos_label={classes[0]!r}."
        )

    @classmethod
    def one_class(cls, *, missing: str, pos_label: object = None) -> Self:
        """Build the warning of labels of one class: the answer is exact, and worth nothing."""
        why = f": no label is {pos_label!r}" if pos_label is not None and missing == "positive" else ""
        return cls(f"There are no {missing} rows{why}. Check the labels, and which of them is positive.")

    @classmethod
    def same_column(cls, *, name: str) -> Self:
        """Build the warning of a column that is both the label and the score."""
        return cls(f"Label and score are the same column, {name!r}: every result will look perfect.")


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


def _unpickled(cls: type[_Worded], args: tuple[Any, ...]) -> _Worded:
    """Make an error that gets its fields from what was pickled."""
    return cls.__new__(cls, *args)


def _spelled(parts: Iterable[Part], spell: Callable[[Argument | Column], str]) -> str:
    return "".join(part if isinstance(part, str) else spell(part) for part in parts)


def _plain(value: Any) -> Any:
    """Return a number or a string as it is, and the representation of anything else: it can be pickled."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    return value if value is None or isinstance(value, (str, int, float)) else _show(value)


def _show(value: Any) -> str:
    """Represent a value on one line: shortened, and a NumPy scalar without its type."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    try:
        return " ".join(_SHORT.repr(value).split())
    except ValueError:  # an integer of more digits than Python writes out
        return f"an object of type {type(value).__name__}, too long to show"


def _number(value: float) -> str:
    """Write a count with separators, and any other number with six digits."""
    # Beyond 1e15 the digits of a float are noise, and up to 308 of them.
    return f"{int(value):,}" if abs(value) < 1e15 and value == int(value) else f"{value:.6g}"


def _file(path: str) -> str:
    """Name a file; '-' is what people call standard input."""
    return "standard input" if path == "-" else f"'{path}'"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _at(first: int | None) -> str:
    return "" if first is None else f", the first at row {first:,} (counting from 0)"


def _missing(name: str, count: int, of: str, first: int | None) -> tuple[Part, ...]:
    are = "is" if count == 1 else "are"
    return Column(name), f" must not contain NaN or null. {count:,} of {of} {are} missing{_at(first)}."


def _no_rows(positives: float) -> Text:
    kind = "negative" if positives else "positive"
    return f"there are no {kind} rows; check the labels and ", Argument("pos_label"), "."


def _where(kind: str, name: str, count: int, first: int | None, rows: int | None = None) -> dict[str, Any]:
    return {"kind": kind, "name": name, "count": count, "first": first, "rows": rows}


def _join(items: Sequence[str], word: str) -> str:
    """Enumerate as English does: 'a', 'a and b', 'a, b and c'."""
    return _spelled(_listed([(item,) for item in items], word), str)


def _listed(items: Sequence[tuple[Part, ...]], word: str) -> list[Part]:
    """Enumerate parts of a message as English does."""
    listed: list[Part] = []
    for i, item in enumerate(items):
        separator = "" if i == 0 else f" {word} " if i == len(items) - 1 else ", "
        listed += [separator, *item]
    return listed
