"""The exceptions of cutpoints, and all of their wording.

::

    CutpointError
    ├── InvalidParameterError   (also ValueError, TypeError)  an argument that cannot be meant
    ├── InvalidInputError       (also ValueError)             data that cannot be searched or read
    ├── InfeasibleError         (also ValueError)             no cut satisfies the constraints
    ├── UnknownMetricError      (also LookupError)            a name that is not in the catalogue
    ├── SolverError             (also RuntimeError)           a programme's answer that cannot be believed
    └── MissingDependencyError  (also ImportError)            a package that is not installed

    DataWarning                 (a UserWarning)               data that are easily misread

Each message has three parts: what must hold, what was found (how many, where the first one is),
and after a blank line a sentence that starts with ``Hint:`` and names an action. Each class has
constructors that build the message, so that the same fault reads the same wherever it is found.
Rows are counted from 0, and the messages say so. It is the longest module of the package, because
wording must be in one place to exist once; it has no logic to speak of.
"""

from __future__ import annotations

import math
import reprlib
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "CutpointError",
    "DataWarning",
    "InfeasibleError",
    "InvalidInputError",
    "InvalidParameterError",
    "MissingDependencyError",
    "SolverError",
    "UnknownMetricError",
]

_LISTED = 5
_COLUMNS = 20

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 100


class CutpointError(Exception):
    """Base of every exception that cutpoints raises on purpose."""

    @classmethod
    def _build(cls, found: str, hint: str | None) -> Self:
        """Join the parts of a message; a message without a hint ends after the first two."""
        return cls(found if hint is None else f"{found}\n\nHint: {hint}")


class InvalidParameterError(CutpointError, ValueError, TypeError):
    """An argument has a value or a type that it must not have.

    It is both a `ValueError` and a `TypeError`, as in scikit-learn, whose estimator checks accept
    either.
    """

    @classmethod
    def of(
        cls,
        *,
        parameter: str,
        caller: str | None = None,
        must_be: str,
        got: object,
        hint: str | None = None,
    ) -> Self:
        """Build the error of one argument of one function.

        Parameters
        ----------
        parameter, caller : str
            The argument, and the function or class that the user called; None where data are read, for
            whichever function that may be.
        must_be : str
            What is allowed; it completes the sentence "must be …".
        got : object
            What was passed. Its representation is shortened.
        hint : str, optional
            What to do about it.

        Examples
        --------
        >>> from cutpoints.exceptions import InvalidParameterError
        >>> print(
        ...     InvalidParameterError.of(
        ...         parameter="confidence",
        ...         caller="find",
        ...         must_be="a float between 0 and 1",
        ...         got=95,
        ...         hint="for 95 % pass 0.95.",
        ...     )
        ... )
        The 'confidence' parameter of find must be a float between 0 and 1. Got 95 instead.
        <BLANKLINE>
        Hint: for 95 % pass 0.95.
        """
        what = f"'{parameter}'" if caller is None else f"The '{parameter}' parameter of {caller}"
        return cls._build(f"{what} must be {must_be}. Got {_show(got)} instead.", hint)


class InvalidInputError(CutpointError, ValueError):
    """The data cannot be searched: NaN, lengths, labels, negative masses, no rows."""

    @classmethod
    def nan(cls, *, name: str, count: int, rows: int, first: int | None) -> Self:
        """Build the error of missing values.

        Parameters
        ----------
        name : str
            The argument or the column.
        count, rows : int
            How many values are missing, and of how many.
        first : int or None
            The row of the first one, from 0; None if the engine keeps no order of rows.
        """
        are = "is" if count == 1 else "are"
        return cls._build(
            f"'{name}' must not contain NaN or null. "
            f"{count:,} of {_plural(rows, 'value')} {are} missing{_first(first)}.",
            "drop these rows or fill in the values first; cutpoints does not guess them.",
        )

    @classmethod
    def not_probabilities(cls, *, name: str, count: int, rows: int, first: int | None, value: float) -> Self:
        """Build the error of scores that must be probabilities, and are not.

        Parameters
        ----------
        name : str
            The argument or the column.
        count, rows : int
            How many values lie outside [0, 1], and of how many.
        first : int or None
            The row of the first one, from 0; None if the engine keeps no order of rows.
        value : float
            That value.
        """
        lie = "lies" if count == 1 else "lie"
        return cls._build(
            f"'{name}' must be probabilities, between 0 and 1. "
            f"{count:,} of {_plural(rows, 'value')} {lie} outside{_first(first)}, with {_show(value)}.",
            "with labels, find() takes any scores, and recalibrate() makes probabilities of them.",
        )

    @classmethod
    def all_sure(cls, *, objective: str, probability: int) -> Self:
        """Build the error of an objective that is 0/0 because all probabilities are 0, or all are 1."""
        there = "no positives" if probability == 0 else "no negatives"
        return cls._build(
            f"The objective '{objective}' must be defined at one cut at least. "
            f"All probabilities are {probability}, so {there} are expected, and it is 0/0 at every cut.",
            "check that the column holds probabilities, and not decisions.",
        )

    @classmethod
    def no_prevalence(cls, *, reason: str) -> Self:
        """Build the error of probabilities from which the share of positives cannot be estimated."""
        return cls._build(
            f"'y_prob' must tell the prevalence of its rows. It does not: {reason}.",
            "label a sample of the new rows and take its share of positives.",
        )

    @classmethod
    def no_theory(cls, *, objective: str) -> Self:
        """Build the error of an objective for which no threshold follows from its best value."""
        return cls._build(
            f"The objective '{objective}' must be a quotient of linear functions of TP and FP, with a best "
            "threshold on the probabilities. It is not.",
            "choose f1, f(beta=2), jaccard, accuracy or a cost.",
        )

    @classmethod
    def length(cls, *, names_and_lengths: Mapping[str, int]) -> Self:
        """Build the error of arguments that must have one entry per row, and have not."""
        names = _join([f"'{name}'" for name in names_and_lengths], "and")
        lengths = _join([f"{n:,} in '{name}'" for name, n in names_and_lengths.items()], "and")
        return cls._build(
            f"{names} must have the same number of rows. Got {lengths} instead.",
            "pass one entry per row in each of them, from the same rows in the same order.",
        )

    @classmethod
    def labels(
        cls, *, values: Iterable[object], count: int, name: str = "y_true", pos_label: object = None
    ) -> Self:
        """Build the error of labels with three or more distinct values.

        Parameters
        ----------
        values : iterable of object
            Distinct labels, not necessarily all of them. The first five are listed.
        count : int
            How many distinct labels there are.
        name : str, default="y_true"
            The argument or the column.
        pos_label : object, default=None
            The label that the user called positive, if one.
        """
        shown = [_show(value) for _, value in zip(range(_LISTED), values, strict=False)]
        one = shown[0] if pos_label is None else _show(pos_label)
        more = [f"{count - len(shown):,} more"] if count > len(shown) else []
        return cls._build(
            f"'{name}' must have two distinct labels. "
            f"Got {count:,} distinct labels instead: {_join(shown + more, 'and')}.",
            f"for one class against the rest, pass `{name} == {one}` as the labels.",
        )

    @classmethod
    def pos_label(cls, *, values: Sequence[object], name: str = "y_true") -> Self:
        """Build the error of labels that do not say which one is positive."""
        shown = [_show(value) for value in values]
        return cls._build(
            f"'{name}' must hold 0 and 1, -1 and 1 or booleans when 'pos_label' is not given, "
            f"since otherwise it is not clear which label is positive. "
            f"Got {_join(shown, 'and')} instead.",
            f"pass {_join([f'pos_label={label}' for label in reversed(shown)], 'or')}.",
        )

    @classmethod
    def negative(cls, *, name: str, count: int, first: int | None, value: float) -> Self:
        """Build the error of negative weights, counts or masses.

        Parameters
        ----------
        name : str
            The argument or the column.
        count : int
            How many values are negative.
        first : int or None
            The row of the first one, from 0; None if the engine keeps no order of rows.
        value : float
            A negative value: the first one, if there is an order.
        """
        are = "is" if count == 1 else "are"
        example = f"such as {_show(value)}" if first is None else f"with {_show(value)}"
        return cls._build(
            f"'{name}' must not be negative. "
            f"{_plural(count, 'value')} {are} negative{_first(first)}, {example}.",
            "drop these rows, or set them to 0 if they are not meant to count.",
        )

    @classmethod
    def empty(cls, *, name: str) -> Self:
        """Build the error of data without rows."""
        return cls._build(
            f"'{name}' must have at least one row. Got 0 rows instead.",
            "check the filter or the file that the rows come from.",
        )

    @classmethod
    def missing_file(cls, *, path: str, near: Sequence[str] = (), pattern: bool = False) -> Self:
        """Build the error of a path or a pattern at which there is no file.

        Parameters
        ----------
        path : str
            The path or the pattern as the user wrote it.
        near : sequence of str
            Files whose names are nearly the same.
        pattern : bool, default=False
            Whether the path is a pattern such as ``scores/*.csv``.
        """
        if pattern:
            return cls._build(
                f"The pattern '{path}' must match at least one file. It matches none.",
                "check the folder and the ending; '**' matches folders of any depth.",
            )
        hint = (
            f"did you mean {_join([repr(match) for match in near], 'or')}?"
            if near
            else "check the path, or pass '-' for standard input."
        )
        return cls._build(f"'{path}' must be a file. There is no such file.", hint)

    @classmethod
    def standard_input_twice(cls, *, count: int) -> Self:
        """Build the error of '-' among the files more than once: nothing is left for the second."""
        return cls._build(
            f"'-' must be given once: standard input can be read only once. Got it {count:,} times.",
            "pass '-' once; files and one '-' may be mixed.",
        )

    @classmethod
    def file_twice(cls, *, path: str, other: str) -> Self:
        """Build the error of a file that is named, or that a folder or a pattern has, more than once."""
        again = f"'{path}'" if path == other else f"'{other}' and '{path}'"
        return cls._build(
            f"Each file must be given once, or its rows count twice. Got {again} "
            f"{'more than once' if path == other else 'for one file'}.",
            "leave one of them out; folders and patterns that overlap name their files twice.",
        )

    @classmethod
    def directory(cls, *, path: str) -> Self:
        """Build the error of a folder without files of data."""
        return cls._build(
            f"The folder '{path}' must have data files in it: CSV, Parquet, NDJSON or Arrow. It has none.",
            f"for files with other endings pass a pattern, such as '{path.rstrip('/')}/**/*.dat'.",
        )

    @classmethod
    def filtered_away(cls, *, filters: Mapping[str, str]) -> Self:
        """Build the error of filters, by their parameters, that leave no row."""
        shown = _join([f"{name}={_show(text)}" for name, text in filters.items()], "and")
        return cls._build(
            f"The filter must leave at least one row. No row is left by {shown}.",
            "check the values in it: text is compared letter by letter, and case matters.",
        )

    @classmethod
    def empty_file(cls, *, path: str) -> Self:
        """Build the error of a file without a single byte, or with blank lines only."""
        return cls._build(
            f"{_file(path)} must have named columns. It is empty.",
            "check the command that wrote it.",
        )

    @classmethod
    def unreadable(cls, *, path: str, form: str, reason: str, hint: str | None = None) -> Self:
        """Build the error of a file that is broken, or of another format than it seems.

        Parameters
        ----------
        path : str
            The file.
        form : {"CSV", "Parquet", "JSON", "Arrow"}
            As what it was read.
        reason : str
            What the reader said, without a full stop.
        hint : str, optional
            What to do about it, where the format has no better advice.
        """
        hints = {
            "CSV": "a CSV file is UTF-8 text with the same number of values in each line, "
            "separated by commas, semicolons, tabs or bars.",
            "Parquet": "if it was copied or is still being written, it may not be complete.",
            "JSON": "a file of JSON has one object in braces in each line; of an array, "
            "jq -c '.[]' old.json > new.ndjson makes one.",
            "Arrow": "an Arrow file is what pyarrow.feather.write_feather writes; "
            "if it was copied or is still being written, it may not be complete.",
        }
        article = "an" if form == "Arrow" else "a"
        return cls._build(f"{_file(path)} must be {article} {form} file. {reason}.", hint or hints[form])

    @classmethod
    def memory(cls, *, path: str, limit: str | None) -> Self:
        """Build the error of a file that DuckDB cannot read in the memory that it may use."""
        much = "" if limit is None else f" of {limit}"
        return cls._build(
            f"{_file(path)} must be read in the memory that DuckDB may use. The limit{much} is too low.",
            "allow more, for example memory_limit='2GB'.",
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
        shown = [_show(column) for column in columns[:_COLUMNS]]
        more = [f"{len(columns) - len(shown):,} more"] if len(columns) > len(shown) else []
        plain = {column.strip().lower(): column for column in reversed(columns)}
        import difflib

        near = [plain[match] for match in difflib.get_close_matches(name.strip().lower(), plain)]
        hint = "choose one of these; in a CSV file, the first line must have the names."
        if near:
            hint = f"did you mean {_join([_show(match) for match in near], 'or')}?"
        return cls._build(
            f"The column {_show(name)} must be in {_file(path)}. "
            f"Its columns are {_join(shown + more, 'and')}.",
            hint,
        )

    @classmethod
    def not_numbers(cls, *, name: str, value: object, count: int, first: int) -> Self:
        """Build the error of text in a column that must hold numbers.

        Parameters
        ----------
        name : str
            The column.
        value : object
            The first value that is not a number.
        count, first : int
            How many such values there are, and the row of the first, from 0.
        """
        are = "is not a number" if count == 1 else "are not numbers"
        hint = "choose another column, or convert it first; missing values are empty cells."
        if isinstance(value, str) and value.count(",") == 1 and "." not in value:
            hint = "numbers must have a decimal point, not a decimal comma."
        return cls._build(
            f"The column '{name}' must hold numbers. "
            f"{_plural(count, 'value')} {are}{_first(first)}, with {_show(value)}.",
            hint,
        )

    @classmethod
    def not_a_number_type(cls, *, name: str, type_: str) -> Self:
        """Build the error of a typed column that must hold numbers, and holds dates or lists."""
        return cls._build(
            f"The column '{name}' must hold numbers. Its type is {type_}.",
            "choose another column, or convert it first.",
        )

    @classmethod
    def not_1d(cls, *, name: str, shape: tuple[int, ...], hint: str | None = None) -> Self:
        """Build the error of an array that must have one dimension, and has not."""
        return cls._build(f"'{name}' must be one-dimensional. Got an array of shape {shape} instead.", hint)

    @classmethod
    def one_class(cls, *, what: str, rows: int, positives: int) -> Self:
        """Build the error of a part of the rows that has one class only.

        Parameters
        ----------
        what : str
            The part, as the subject of a sentence: "The rows outside fold 2 of 5".
        rows, positives : int
            How many rows it has, and how many of them are positive.
        """
        return cls._build(
            f"{what} must have both classes. Of {_plural(rows, 'row')}, {positives:,} are positive.",
            "use fewer folds, folds that are stratified, or more rows of the rare class.",
        )

    @classmethod
    def targets(cls, *, kind: str, classes: int) -> Self:
        """Build the error of targets that are not two classes; scikit-learn's checks know its words.

        Parameters
        ----------
        kind : str
            The type of the target, as scikit-learn calls it.
        classes : int
            How many distinct values there are.
        """
        return cls._build(
            f"Only binary classification is supported. The type of the target is {kind}, "
            f"with {classes:,} {'class' if classes == 1 else 'classes'}.",
            "for one class against the rest, pass `y == label`.",
        )

    @classmethod
    def all_failed(cls, *, number: int, first: str) -> Self:
        """Build the error of a search in which no setting could be fitted."""
        return cls._build(
            "At least one setting must be fitted without an error. "
            f"Of {number:,}, none was; the first: {first}",
            "check the names and the values of the parameters against the estimator.",
        )

    @classmethod
    def too_few(cls, *, what: str, needed: int, found: int, hint: str) -> Self:
        """Build the error of fewer rows, groups or members of a class than the folds need."""
        return cls._build(f"{what} must be at least {needed:,}. Got {found:,} instead.", hint)

    @classmethod
    def changed(cls, *, expected: int, found: int) -> Self:
        """Build the error of a lazy frame that gives other rows when it is read again."""
        return cls._build(
            "The frame must give the same rows each time that it is read. "
            f"Where {_plural(expected, 'row')} {'was' if expected == 1 else 'were'} counted before, "
            f"there {'is' if found == 1 else 'are'} {found:,} now.",
            "write or cache the frame first: a random sample, a random number or a table that is "
            "still being written changes from one query to the next.",
        )

    @classmethod
    def too_many_scores(cls, *, rows: int, most: int) -> Self:
        """Build the error of a search that must look at more scores than there is room for."""
        return cls._build(
            f"A search that must look at every score must have {most:,} of them at most on a lazy frame. "
            f"There may be {rows:,}.",
            "round the scores; leave method='sweep' out; and for a function of yours that never falls with "
            "tp and never rises with fp, say so: metrics.custom(function, monotone=True).",
        )

    @classmethod
    def unwritable(cls, *, path: str, reason: str) -> Self:
        """Build the error of a file that cannot be written, with what the system says."""
        return cls._build(
            f"'{path}' must be a place that can be written to. {reason}.",
            "choose another folder, or check its permissions and the space that is left.",
        )

    @classmethod
    def no_folder(cls, *, path: str, folder: str) -> Self:
        """Build the error of a file that is to be written into a folder that there is not."""
        return cls._build(
            f"'{path}' must be a place that can be written to. There is no folder '{folder}'.",
            "check its name, or make it first.",
        )

    @classmethod
    def sketch(cls, *, name: str, reason: str) -> Self:
        """Build the error of bytes that are not a sketch, or not a whole one."""
        return cls._build(
            f"'{name}' must be a sketch that Sketch.save wrote. {reason}.",
            "make the sketch again from its data, or copy the file again.",
        )

    @classmethod
    def not_sketched(cls, *, what: str, sketched: str, found: str) -> Self:
        """Build the error of data that are not those of the sketch they are to refine."""
        return cls._build(
            f"The data must be the rows that were sketched. {what}: {sketched} in the sketch, "
            f"{found} in the data.",
            "pass the same rows, labels and weights that the sketch was updated with, each once.",
        )

    @classmethod
    def mixed_labels(cls) -> Self:
        """Build the error of parts of the data whose negative label differs."""
        return cls._build(
            "'y_true' must have two distinct labels. Got -1, 0 and 1 over the parts that were sketched.",
            "use one label for the negatives in all parts, or pass 'pos_label'.",
        )

    @classmethod
    def nan_scores(cls, *, name: str, count: int, rows: int, first: int | None) -> Self:
        """Build the error of rows that cannot be decided, because their scores are missing."""
        are = "is" if count == 1 else "are"
        return cls._build(
            f"'{name}' must not contain NaN or null. "
            f"{count:,} of {_plural(rows, 'score')} {are} missing{_first(first)}.",
            "say what to do with such rows: missing='negative', missing='positive' or missing='keep'.",
        )

    @classmethod
    def mixed_files(cls, *, what: str, first: str, other: str) -> Self:
        """Build the error of files that must be alike to be written to one."""
        return cls._build(
            f"All files must have the same {what}. {_file(other)} differs from {_file(first)}.",
            "apply the policy to each of them by itself.",
        )

    @classmethod
    def policy(cls, *, path: str, reason: str, hint: str | None = None) -> Self:
        """Build the error of a policy that cannot be believed.

        Parameters
        ----------
        path : str
            The file.
        reason : str
            What is wrong with it, without a full stop.
        hint : str, optional
            What to do about it, if it is not to take the original.
        """
        return cls._build(
            f"{_file(path)} must be a policy file. {reason}.",
            hint or "take the file as `Policy.save` or `cutpoints find --policy` wrote it.",
        )

    @classmethod
    def too_few_rows(cls, *, rows: int, needed: int) -> Self:
        """Build the error of a segment with fewer rows than the user asks for."""
        return cls._build(
            f"The segment must have at least {_plural(needed, 'row')}. It has {rows:,}.",
            "join small segments, or lower 'min_rows'.",
        )

    @classmethod
    def not_by_segment(cls, *, engine: str) -> Self:
        """Build the error of a source of one's own, which has no columns to group by."""
        return cls._build(
            f"The data must be arrays, a data frame or files where 'by' is given. Got {engine} instead.",
            "pass the frame or the path itself, with the names of its columns.",
        )

    @classmethod
    def beyond_probabilities(cls, *, what: str, low: float, high: float) -> Self:
        """Build the error of scores beyond [0, 1] where only probabilities make sense."""
        return cls._build(
            f"The scores must be probabilities for {what}. "
            f"They range from {_number(low)} to {_number(high)}.",
            "calibrate the scores first, or use cost_curve, which takes any scores.",
        )

    @classmethod
    def undefined(cls, *, objective: str, positives: float, negatives: float) -> Self:
        """Build the error of an objective that is 0/0 at every cut of these data.

        Parameters
        ----------
        objective : str
            The objective as the user wrote it.
        positives, negatives : int or float
            The totals of the two masses.
        """
        if not positives and not negatives:
            hint = "all weights are 0: no row counts."
        elif not positives:
            hint = "there are no positive rows; check the labels and 'pos_label'."
        elif not negatives:
            hint = "there are no negative rows; check the labels and 'pos_label'."
        else:
            hint = "run `cutpoints metrics show NAME` for where a metric is undefined."
        return cls._build(
            f"The objective '{objective}' must be defined at one cut at least. "
            f"It is 0/0 at every cut of data with {_number(positives)} positives "
            f"and {_number(negatives)} negatives.",
            hint,
        )

    @classmethod
    def no_rows_of(cls, *, what: str, positives: float, negatives: float) -> Self:
        """Build the error of a question that needs a class of which there are no rows.

        Parameters
        ----------
        what : str
            The question, such as "roc" or "calibration".
        positives, negatives : int or float
            The totals of the two masses, one of which is 0.
        """
        missing = "negative" if positives else "positive"
        return cls._build(
            f"The data for {what} must have {missing} rows. "
            f"Got {_number(positives)} positives and {_number(negatives)} negatives instead.",
            f"there are no {missing} rows; check the labels and 'pos_label'.",
        )


class InfeasibleError(CutpointError, ValueError):
    """No cut satisfies the constraints.

    `find` does not raise it, but returns a solution that says so. The estimator, `assess`, `report`
    and the command line do, and so does a solution that is asked for what it does not have.
    """

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
        if undefined is not None and (together or len(best) == 1):
            return cls._build(
                f"No cut that satisfies {names} has a value of '{undefined}'. It is 0/0 at all of them.",
                "relax the constraint, or choose another objective.",
            )
        if len(best) == 1:
            ((text, found),) = best.items()
            return cls._build(
                f"No cut satisfies '{text}'. The best that any cut attains is {found}.",
                "relax the constraint to a value that can be attained.",
            )
        found = "; ".join(f"'{text}' {value}" for text, value in best.items())
        if together:
            return cls._build(
                f"No cut satisfies {names} together. The best that any cut attains for each of them where "
                f"the others hold: {found}.",
                "relax one of them to its value, or a little beyond, for it is rounded; and search again.",
            )
        return cls._build(
            f"No cut satisfies {names} together. The best that any cut attains for each of them "
            f"alone: {found}.",
            "relax the constraint that matters least, and search again.",
        )

    @classmethod
    def none_certified(
        cls, *, constraints: Sequence[str], confidence: object, rows: int, more_rows: int | None
    ) -> Self:
        """Build the error of constraints that hold at no threshold with the asked confidence.

        Parameters
        ----------
        constraints : sequence of str
            As the user wrote them.
        confidence : float or "expectation"
            What was asked for.
        rows : int
            How many rows there are.
        more_rows : int or None
            How many more would do; None if no threshold seems to meet the constraints at all.
        """
        how = "in expectation" if confidence == "expectation" else f"with confidence {confidence}"
        names = _join([f"'{text}'" for text in constraints], "and")
        found = f"No threshold can be certified to meet {names} on new data {how}. "
        if more_rows is None:
            return cls._build(
                f"{found}Among the {rows:,} rows, no threshold is clearly on the right side of the bound.",
                "relax the constraint, or improve the scores; more rows like these would hardly help.",
            )
        return cls._build(
            f"{found}The {rows:,} rows are too few.",
            f"about {more_rows:,} more rows would be needed; or relax the constraint or the confidence.",
        )


_OF_ALL = "it is of all thresholds together, not of one: `cutpoints curve`, or curve(y_true, y_score)."
_NO_METRICS = {
    "auc roc_auc auroc roc_auc_score": f"{_OF_ALL}auc.",
    "ap average_precision average_precision_score auprc pr_auc": f"{_OF_ALL}average_precision.",
    "log_loss logloss cross_entropy brier brier_score ece": "it judges probabilities, not a threshold: "
    "`cutpoints calibration`, or calibration(y_true, y_prob).",
    "f05 f0_5 f05_score": "write f(beta=0.5).",
    "min": "write precision_recall_min, the smaller of precision and recall.",
}
"""Names that people try, and what to use instead."""


class UnknownMetricError(CutpointError, LookupError):
    """A metric has a name that is not in the catalogue."""

    @classmethod
    def of(cls, *, name: str, known: Iterable[str]) -> Self:
        """Build the error, with the nearest names if there are any.

        Parameters
        ----------
        name : str
            The name that was asked for.
        known : iterable of str
            The names and aliases that there are.

        Examples
        --------
        >>> from cutpoints.exceptions import UnknownMetricError
        >>> print(UnknownMetricError.of(name="recal", known=["accuracy", "f1", "recall"]))
        A metric must be a name from the catalogue. Got 'recal' instead.
        <BLANKLINE>
        Hint: did you mean 'recall'?
        """
        plain = name.strip().lower().replace("-", "_").replace(" ", "_")
        import difflib
        import re

        near = difflib.get_close_matches(plain, list(dict.fromkeys(known)))
        found = f"A metric must be a name from the catalogue. Got {_show(name)} instead."
        for names, hint in _NO_METRICS.items():
            if plain in names.split():
                return cls._build(found, hint)
        if beta := re.fullmatch(r"f_?([2-9])(_score)?", plain):
            return cls._build(found, f"write f(beta={beta[1]}).")
        if not near:
            return cls._build(found, "run `cutpoints metrics` for the list.")
        return cls._build(found, f"did you mean {_join([repr(match) for match in near], 'or')}?")


class SolverError(CutpointError, RuntimeError):
    """The solver of the 0-1 programme failed, or its answer is not what it claims to be."""

    @classmethod
    def failed(cls, *, solver: str, said: str) -> Self:
        """Build the error of a solver that neither found an answer nor proved that there is none."""
        return cls._build(
            f"{solver} must end with an answer. It ended with: {said}.",
            "the sweep of find needs no solver.",
        )

    @classmethod
    def recount(
        cls, *, claimed: float | None, counted: float | None, threshold: float | None, fault: str
    ) -> Self:
        """Build the error of an answer that is not confirmed when the data are counted.

        Parameters
        ----------
        claimed, counted : float or None
            The objective by the solver's account, and at the threshold on the data.
        threshold : float or None
            The lowest score that the solver calls positive.
        fault : str
            What is wrong with the answer; it completes the sentence "Of the solver's answer, …".
        """
        numbers = ""
        if claimed is not None and counted is not None:
            numbers = f" Claimed {claimed:.10g}, counted {counted:.10g}"
        place = "" if threshold is None else f" at threshold {float(threshold)!r}"
        return cls._build(
            f"The solver's answer must be that of a threshold. It is not: {fault}."
            + (f"{numbers}{place}." if numbers else ""),
            "an epsilon near the solver's tolerance (1e-6) splits equal scores; "
            "use epsilon='auto' or formulation='chain'.",
        )

    @classmethod
    def wrong(cls, *, found: float | None, truth: float | None) -> Self:
        """Build the error of an "optimum" that another cut beats; None stands for "infeasible"."""
        claim = "that no cut is feasible" if found is None else f"{found:.10g}"
        best = "no cut is feasible" if truth is None else f"the best cut attains {truth:.10g}"
        return cls._build(
            f"The solver's optimum must be the best cut of the data. It found {claim}, but {best}.",
            "an epsilon above the smallest gap between scores forbids good thresholds; "
            "use epsilon='auto' or formulation='chain'.",
        )

    @classmethod
    def nothing(cls, *, bound: float) -> Self:
        """Build the error of a solver that was stopped before it found any threshold."""
        return cls._build(
            "The solver must find a threshold within its time limit. It found none; "
            f"no threshold is better than {_number(bound)}.",
            "allow more time, or use formulation='chain'.",
        )


class MissingDependencyError(CutpointError, ImportError):
    """A package that is not installed with this one is needed and not there."""

    @classmethod
    def of(cls, *, caller: str, package: str, extra: str | None = None) -> Self:
        """Build the error of one call that needs one package.

        Parameters
        ----------
        caller : str
            The function or command that the user called.
        package : str
            The package that could not be imported; also the `name` of the `ImportError`.
        extra : str, optional
            The extra that installs it; without one, the package is installed by its own name.
        """
        wanted = package if extra is None else f"'cutpoints[{extra}]'"
        error = cls._build(
            f"The package '{package}' must be installed for {caller}. It could not be imported.",
            f"run `pip install {wanted}`.",
        )
        error.name = package
        return error


class DataWarning(UserWarning):
    """The answer is right, and something about the data makes it easy to misread."""

    @classmethod
    def imbalance(cls, *, prevalence: float) -> Self:
        """Build the warning of a class that is rare: accuracy says little then."""
        return cls(
            f"The positives are {100 * prevalence:.3g} % of the rows, fewer than 5 %. "
            f"Calling nobody positive has an accuracy of {1 - prevalence:.4g}.\n\n"
            "Hint: judge by precision and recall, by MCC or by a cost, not by accuracy."
        )

    @classmethod
    def below_baseline(cls, *, name: str, accuracy: float, baseline: float) -> Self:
        """Build the warning of an accuracy below that of always naming the larger class."""
        return cls(
            f"{name} has an accuracy of {accuracy:.4g}, below the {baseline:.4g} of always naming "
            "the larger class.\n\n"
            "Hint: that may be right if errors differ in cost; otherwise check labels and scores."
        )


def _show(value: object) -> str:
    """Represent a value on one line: shortened, and a NumPy scalar without its type."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    return " ".join(_SHORT.repr(value).split())


def _number(value: float) -> str:
    """Write a count with separators, and any other number with six digits."""
    # Beyond 1e15 the digits of a float are noise, and up to 308 of them.
    if abs(value) < 1e15 and value == int(value):
        return f"{int(value):,}"
    return f"{value:.6g}"


def _file(path: str) -> str:
    """Name a file; '-' is what people call standard input."""
    return "standard input" if path == "-" else f"'{path}'"


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _first(row: int | None) -> str:
    return "" if row is None else f", the first at row {row:,} (counting from 0)"


def _join(items: Sequence[str], word: str) -> str:
    """Enumerate as English does: 'a', 'a and b', 'a, b and c'."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {word} {items[-1]}"
