"""The policy: a rule, where it came from, and what can be done with it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, get_args

from cutpoints._atomic import replaced
from cutpoints._format import count, rows_in_words
from cutpoints._goal import goal, in_words
from cutpoints._policy import rules
from cutpoints._policy.rules import BandRule, Direction, Dtype, Missing, ThresholdRule
from cutpoints._policy.typed_json import TEXT, is_finite, is_text
from cutpoints._shown import Shown
from cutpoints._validate import one_of
from cutpoints.exceptions import CutpointError, InvalidParameterError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from cutpoints._goal import Goal
    from cutpoints._policy.checks import Check
    from cutpoints._policy.files import Applied
    from cutpoints._policy.record import FoundOn
    from cutpoints._policy.rules import Rule
    from cutpoints._policy.sql import Dialect


@dataclass(frozen=True, repr=False, init=False)
class Policy(Shown):
    """A rule to deploy, such as *positive iff score >= threshold*, and what is known about it.

    Results make one with everything in it: `Solution.policy`, `Segments.policy`. By hand a threshold is
    enough, and `Policy.segments`, `Policy.band`, `Policy.labels` and `Policy.ordinal` make the other rules.
    Decisions are the same bit for bit wherever it is applied: arrays, frames, files, SQL, plain Python, ONNX.

    Parameters
    ----------
    threshold : float
        ``inf`` gives no positives (except scores of ``inf``), ``-inf`` gives positives only.
    rule : Rule, default=None
        Any other rule, in place of a threshold.
    score, label : str, default=None
        The columns of the scores and, to check it later, of the labels.
    pos_label : int, float, bool or str, default=1
        The positive label.
    missing : {"error", "negative", "positive", "review", "keep"}, default="error"
        What to make of a score that is NaN or null: refuse all rows, decide, or leave the decision
        missing. "review" is for bands; ordered classes have "error" and "keep" alone.
    dtype : {"float64", "float32"}, default="float64"
        The type of the scores that it was found on, and so of the threshold. Scores are never rounded
        to it: the rule is about the exact values. So decide on the type that it was found on: 0.3 as
        float64 is below 0.3 as float32.
    name, description : str, default=None
        What to call it, and what people should know about it.
    objective, direction, constraints : str, {"maximize", "minimize"}, tuple of str
        What it is best for, as in the solution; left out by default.
    found_on : FoundOn, default=None
        What it did on the data that it was found on.
    created, library : str, default=None
        When (UTC), and by which version of this library.

    Examples
    --------
    >>> import cutpoints as cp
    >>> policy = cp.Policy(threshold=0.35, score="p")
    >>> policy.decide([0.34, 0.35, 0.36])
    array([0, 1, 1], dtype=int8)
    >>> print(policy.to_sql(dialect="duckdb"))
    CASE WHEN "p" IS NULL OR isnan(CAST("p" AS DOUBLE)) THEN NULL
         WHEN CAST("p" AS DOUBLE) >= CAST('0.35' AS DOUBLE) THEN 1 ELSE 0 END
    """

    rule: Rule
    name: str | None
    description: str | None
    score: str | None
    label: str | None
    pos_label: Any
    missing: Missing
    dtype: Dtype
    objective: str | None
    direction: Direction | None
    constraints: tuple[str, ...]
    found_on: FoundOn | None
    created: str | None
    library: str | None

    def __init__(
        self,
        threshold: float | None = None,
        *,
        rule: Rule | None = None,
        score: str | None = None,
        label: str | None = None,
        pos_label: Any = 1,
        missing: Missing = "error",
        dtype: Dtype = "float64",
        name: str | None = None,
        description: str | None = None,
        objective: str | None = None,
        direction: Direction | None = None,
        constraints: Sequence[str] = (),
        found_on: FoundOn | None = None,
        created: str | None = None,
        library: str | None = None,
    ) -> None:
        if rule is None:
            rule = ThresholdRule(threshold)  # type: ignore[arg-type] # it checks what it gets
        elif threshold is not None or not isinstance(rule, rules.Rule):
            expected = "given without a threshold, and one of the rules of a policy"
            hint = "Policy.segments, Policy.band, Policy.labels and Policy.ordinal make them."
            raise InvalidParameterError("rule", caller="Policy", expected=expected, got=rule, hint=hint)
        pos_label = rules.plain(pos_label)
        given = locals()
        for field in fields(self):
            object.__setattr__(self, field.name, given[field.name])
        self._check_fields()
        object.__setattr__(self, "constraints", tuple(constraints))
        # A slip in a goal is an error; what has been found may be a function of the user's.
        binary = rule.kind in ("threshold", "segments")
        if binary and found_on is None and (objective is not None or constraints):
            self.goal()

    def _check_fields(self) -> None:
        """Raise for a field that cannot be meant."""
        texts = ("score", "label", "name", "description", "objective", "created", "library")
        label, held = self.pos_label, self.constraints
        is_label = is_text(label) or isinstance(label, bool) or (is_finite(label) and abs(label) < 1 << 63)
        are_texts = not isinstance(held, str) and all(isinstance(one, str) for one in held)
        directions = (*get_args(Direction), None)
        choices = {"missing": self._missing, "dtype": get_args(Dtype), "direction": directions}
        together = (self.objective is None) == (self.direction is None)
        for field, holds, expected in (
            *((name, (text := getattr(self, name)) is None or is_text(text), TEXT) for name in texts),
            ("pos_label", is_label, f"{TEXT}, a number below 2**63 or a boolean"),
            *(
                (name, getattr(self, name) in allowed, f"one of {', '.join(map(repr, allowed))}")
                for name, allowed in choices.items()
            ),
            ("constraints", are_texts, "a tuple of strings such as 'precision >= 0.95'"),
            ("direction", together, "given together with 'objective'"),
        ):
            if not holds:
                got = getattr(self, field)
                raise InvalidParameterError(field, caller="Policy", expected=expected, got=got)
        if self.dtype == "float32":
            rules.check_float32(self.rule)

    @classmethod
    def segments(
        cls,
        thresholds: Mapping[Any, float],
        *,
        by: str | Sequence[str],
        default: float | Literal["error", "keep"] = "error",
        **fields: Any,
    ) -> Policy:
        """Return a policy with one threshold per segment.

        Parameters
        ----------
        thresholds : mapping
            From keys to thresholds. A key is the value of the column `by`: a string, a number, a boolean, or
            None for rows without a value; a tuple of them where there are several columns.
        by : str or list of str
            The columns that tell segments apart.
        default : float, "error" or "keep", default="error"
            For rows of any other segment: a threshold, or refuse all rows, or leave the decision missing.
        **fields
            As of a `Policy`: score, label, missing, name, ...

        Examples
        --------
        >>> import cutpoints as cp
        >>> policy = cp.Policy.segments({"DE": 0.4, "FR": 0.6}, by="country", default=0.5)
        >>> policy.decide([0.45, 0.45, 0.45], ["DE", "FR", "IT"])
        array([1, 0, 0], dtype=int8)
        """
        return cls(rule=rules.segments(thresholds, by, default), **fields)

    @classmethod
    def band(cls, low: float, high: float, **fields: Any) -> Policy:
        """Return a policy that says yes from `high` on, no below `low`, and review in between.

        Parameters
        ----------
        low, high : float
            The ends; equal ends leave nothing to review.
        **fields
            As of a `Policy`: score, label, missing, name, ...

        Examples
        --------
        >>> import cutpoints as cp
        >>> cp.Policy.band(0.2, 0.8).decide([0.1, 0.2, 0.8])
        array([ 0, -1,  1], dtype=int8)
        """
        return cls(rule=BandRule(low, high), **fields)

    @classmethod
    def labels(
        cls, thresholds: Mapping[Any, float], *, scores: Mapping[Any, str] | None = None, **fields: Any
    ) -> Policy:
        """Return a policy with one decision per label, for rows that may have several.

        Parameters
        ----------
        thresholds : mapping
            From labels to thresholds, in the order of the columns of a matrix. Integers become text.
        scores : mapping, default=None
            From labels to the columns of their scores in a frame; a column has the label's name by default.
        **fields
            As of a `Policy`: missing, name, ...

        Examples
        --------
        >>> import cutpoints as cp
        >>> cp.Policy.labels({"sport": 0.5, "politics": 0.2}).decide([[0.4, 0.3], [0.6, 0.1]])
        array([[0, 1],
               [1, 0]], dtype=int8)
        """
        return cls(rule=rules.labels(thresholds, scores), **fields)

    @classmethod
    def ordinal(
        cls, cutpoints: Sequence[float], *, classes: Sequence[Any] | None = None, **fields: Any
    ) -> Policy:
        """Return a policy that gives one of several ordered classes.

        Parameters
        ----------
        cutpoints : sequence of float
            Ascending; a score is of the class after the last cutpoint that it reaches.
        classes : sequence of str or numbers, default=None
            One more than there are cutpoints, from the lowest to the highest; 0, 1, 2, ... by default.
        **fields
            As of a `Policy`: score, label, name, ...

        Examples
        --------
        >>> import cutpoints as cp
        >>> cp.Policy.ordinal([0.2, 0.6], classes=["low", "medium", "high"]).decide([0.1, 0.2, 0.9])
        array(['low', 'medium', 'high'], dtype='<U6')
        """
        return cls(rule=rules.cutpoints(cutpoints, classes), **fields)

    @property
    def threshold(self) -> float:
        """The threshold of a policy that has one; an error for other rules."""
        return self.single("threshold")

    def single(self, caller: str) -> float:
        """Return the one threshold; raise if the rule has several."""
        if not isinstance(self.rule, ThresholdRule):
            expected, got = "a policy of one threshold", f"a policy of {self.rule.kind}"
            hint = "policy.rule has its thresholds."
            raise InvalidParameterError("policy", caller=caller, expected=expected, got=got, hint=hint)
        return self.rule.threshold

    @property
    def _missing(self) -> tuple[str, ...]:
        """What can be made of missing scores under this rule."""
        return ("error", *self.rule.missing, "keep")

    # --- a file

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the policy as JSON; the file appears whole or not at all, and an old one is replaced."""
        from cutpoints._policy.format import save

        save(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Policy:
        """Read a policy; ``"-"`` is standard input. Nothing in the file is ever executed.

        Raises
        ------
        InvalidInputError
            If it is no policy, of an unknown version, has a wrong field, or was changed since it was saved.
        """
        from cutpoints._policy.format import load

        return load(path)

    def to_dict(self) -> dict[str, Any]:
        """Return the documented JSON form, `checksum` included: infinite numbers are "inf" and "-inf"."""
        from cutpoints._policy.format import to_dict

        return to_dict(self)

    @classmethod
    def from_dict(cls, content: Any) -> Policy:
        """Return the policy of a JSON form, checked as `load` does."""
        from cutpoints._policy.format import from_dict

        return from_dict(content, "the policy")

    # --- decisions

    def decide(
        self,
        data: Any,
        by: Any = None,
        *,
        score: str | None = None,
        column: str = "decision",
        missing: Missing | None = None,
        positive: Any = 1,
        negative: Any = 0,
        review: Any = -1,
    ) -> Any:
        """Return the decisions for scores, or a frame with a column of decisions added.

        Parameters
        ----------
        data : array-like, series, data frame or lazy frame
            An array gives an array, a series a series, a frame the same frame with one more column. A
            policy of labels takes a matrix with a column per label, and adds a column per label to a frame.
            Any frame that narwhals knows: pandas, polars, pyarrow, and lazy ones of polars, DuckDB,
            Spark, Dask, Ibis, which stay lazy.
        by : array-like, or a list, dict or frame of several, default=None
            The segments of the rows, for arrays and series under a policy of segments; a frame has them in
            the columns that the policy names.
        score : str, default=None
            The column of scores; the policy's own by default.
        column : str, default="decision"
            The name of the new column, which must not exist; ``decision_LABEL`` for a policy of labels.
        missing : {"error", "negative", "positive", "review", "keep"}, default=None
            What to make of NaN and null; as the policy says by default. With ``"error"`` a lazy frame is
            asked once, by a query over these columns alone, whether there are any.
        positive, negative, review : int or str
            What to write.

        Returns
        -------
        ndarray of int8, series or frame
            Where decisions can be missing ("keep"), an array is float64 with NaN (or, for strings, an
            object array with None). Ordered classes are written as they are.
        """
        from cutpoints._policy.decisions import decide

        return decide(
            self,
            data,
            by,
            score=score,
            column=column,
            missing=self.missing_rule(missing, "decide"),
            written={0: negative, 1: positive, -1: review},
        )

    def apply(
        self,
        path: Any,
        output: str | os.PathLike[str],
        *,
        score: str | None = None,
        column: str = "decision",
        missing: Missing | None = None,
        memory_limit: str | None = None,
    ) -> Applied:
        """Decide the rows of files, and write them with a column of decisions.

        Files may be larger than memory. All columns are kept as they are, in a CSV every cell to the letter.
        The output appears whole or not at all.

        Parameters
        ----------
        path : str, path-like, or a list of them
            CSV, Parquet, lines of JSON or Arrow, a folder, a pattern, or ``"-"`` for standard input.
        output : str or path-like
            What to write, by its ending: .csv, .tsv, .parquet, .ndjson; ``"-"`` for standard output,
            in the format of the input.
        score, column, missing
            As in `decide`.
        memory_limit : str, default=None
            What DuckDB may use, such as ``"200MB"``; 1 GB by default, and more only if it cannot do with it.

        Returns
        -------
        Applied
            How many rows there were, and how many of them were called positive.
        """
        from cutpoints._policy.files import apply

        rule = self.missing_rule(missing, "apply")
        return apply(self, path, output, score=score, column=column, missing=rule, memory_limit=memory_limit)

    def to_sql(
        self,
        column: str | None = None,
        *,
        dialect: Dialect = "ansi",
        missing: Missing | None = None,
    ) -> str:
        """Return a SQL expression of the decision or NULL, bit for bit as `decide`.

        For a policy of labels it is one named expression per label, separated by commas.

        Parameters
        ----------
        column : str, default=None
            The column of scores, by its plain name, which is quoted; the policy's own by default.
        dialect : str, default="ansi"
            ``"duckdb"``, ``"sqlite"``, ``"postgres"`` and ``"spark"`` are run in our tests;
            ``"ansi"``, ``"bigquery"``, ``"snowflake"`` and ``"mysql"`` are written by their manuals.
        missing : {"error", "negative", "positive", "keep"}, default=None
            NaN and NULL: as the policy says, where it says "error" NULL, which is no decision. The same
            goes for unknown segments. To have the query fail, pass ``"error"``; DuckDB, Spark and
            BigQuery can.
        """
        from cutpoints._policy.sql import to_sql

        return to_sql(self, column, dialect, self.missing_rule(missing, "to_sql"), fail=missing == "error")

    def to_python(self, *, function: str = "decide", missing: Missing | None = None) -> str:
        """Return the source of a Python function that needs no package.

        It takes a score, or a list of scores; with segments, also a key or a list of keys (tuples where
        there are several columns); with labels, the scores of one row, one per label.

        Parameters
        ----------
        function : str, default="decide"
            The name of the function.
        missing : {"error", "negative", "positive", "keep"}, default=None
            None and NaN: as the policy says by default; "error" raises ValueError.
        """
        from cutpoints._policy.python import to_python

        return to_python(self, function, self.missing_rule(missing, "to_python"))

    def to_onnx(self, path: str | os.PathLike[str] | None = None, *, missing: Missing | None = None) -> Any:
        """Return an ONNX model of the rule, an `onnx.ModelProto`; the extra `onnx` installs what it needs.

        Its input ``score`` has the type of the policy's scores, one value per row, or for labels a matrix
        with a column per label; with segments there is an input ``by_COLUMN`` of strings, int64 or booleans
        for each column. Its output is ``decision``. `onnx.compose.merge_models` puts it behind a model.

        Parameters
        ----------
        path : str or path-like, default=None
            A file to write it to, such as ``"rule.onnx"``; whole or not at all.
        missing : {"error", "negative", "positive", "review"}, default=None
            NaN: as the policy says by default. What is an error, NaN or an unknown segment, makes the run
            fail; runtimes check that on a CPU. ONNX has no null: "keep" and keys that are fractions are
            refused, and a threshold for missing keys is never used.

        Examples
        --------
        >>> import cutpoints as cp
        >>> model = cp.Policy.band(0.2, 0.8).to_onnx()
        >>> [one.name for one in model.graph.output]
        ['decision']
        """
        from cutpoints._policy.onnx_graph import to_onnx

        model = to_onnx(self, self.missing_rule(missing, "to_onnx"))
        if path is not None:
            with replaced(path) as beside:
                beside.write_bytes(model.SerializeToString())
        return model

    def to_sklearn(self, estimator: Any, *, response_method: str = "auto") -> Any:
        """Return a scikit-learn `FixedThresholdClassifier` with this threshold.

        A fitted estimator stays as it is, and the classifier predicts at once. It is the same rule,
        ``>=``, on ``predict_proba(X)[:, 1]`` or `decision_function`; where it would decide otherwise, as
        for a positive label that the estimator does not have, it is an error.
        """
        from cutpoints._policy.python import to_sklearn

        return to_sklearn(self, estimator, response_method)

    def check(
        self,
        data: Any,
        y_score: Any = None,
        *,
        by: Any = None,
        score: str | None = None,
        label: str | None = None,
        pos_label: Any = None,
        alpha: float = 0.01,
        psi: float = 0.2,
        state: str | os.PathLike[str] | None = None,
        batch: str | None = None,
    ) -> Check:
        """Check whether the policy still performs on new data; see `Check`.

        Parameters
        ----------
        data : array-like, data frame, path or Data
            Labels with `y_score` beside them; or scores alone; or a frame or files, with columns; or a
            `Data`, with or without a label, whose score is the policy's own by default.
            For a policy of labels two matrices, or a table with columns for each label.
        y_score : array-like, default=None
            Scores, where `data` are labels.
        by : array-like, or a list, dict or frame of several, default=None
            The segments of the rows, for arrays under a policy of segments; tables have them in columns.
        score, label : str, default=None
            The columns; the score's name is the policy's own by default. Without `label` only the
            scores are looked at. For a policy of labels, `label` has ``{}`` where the label stands:
            ``label="true_{}"``.
        pos_label : int, float, bool or str, default=None
            The positive label; the policy's own by default.
        alpha : float, default=0.01
            How improbable a change must be by chance alone to count as one.
        psi : float, default=0.2
            How large the population stability index must be.
        state : str or path, default=None
            A file that carries the evidence from check to check, and is begun if it is not there; for one
            threshold, and for segments with labels. The probability of a false alarm, ever, is then at most
            `alpha`.
        batch : str, default=None
            A name for these rows in the state, such as a date; by default they are told by their counts.
            Rows that were counted are not counted again.
        """
        from cutpoints._policy.checks import check
        from cutpoints._policy.tally import Asked

        asked = Asked(self, data, y_score, by, score, label, pos_label)
        return check(asked, alpha=alpha, psi=psi, state=state, batch=batch)

    # --- what the rooms of this package ask

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data that the goal adds up, such as amounts: `check` needs them, too."""
        try:
            return tuple(column.name for column in self.goal().columns)
        except CutpointError:  # not said, or a function of the user's
            return ()

    def goal(self) -> Goal:
        """Return what the policy is best for; raise if it is not said, or a function of the user's."""
        if self.objective is None:
            raise InvalidParameterError(
                "objective", caller="Policy", expected="known to search again", got=None
            )
        asked: Any = {self.direction: self.objective}
        return goal(**asked, subject_to=list(self.constraints), caller="Policy", columns=True)

    def column(self, given: str | None, caller: str, own: str | None = None) -> str:
        """Return the name of the score's column, `own` that of a label; raise if it is not known."""
        parameter, hint = "score", f"for example {caller}(..., score='p')."
        if caller == "to_sql":
            parameter, hint = "column", "to_sql('p')."
        if own is not None and given is not None:
            expected = "left out for a policy of labels, which names a column for each"
            raise InvalidParameterError(parameter, caller=caller, expected=expected, got=given)
        name = own or (self.score if given is None else given)
        if not isinstance(name, str) or not name or "\0" in name:
            expected = "the name of a column, since the policy has none"
            raise InvalidParameterError(parameter, caller=caller, expected=expected, got=name, hint=hint)
        return name

    def missing_rule(self, given: Any, caller: str) -> Missing:
        """Return what to make of missing scores; raise for what cannot be meant."""
        if given is not None:
            one_of("missing", given, self._missing, caller=caller)
        return self.missing if given is None else given

    def lines(self) -> list[tuple[str, str]]:
        """Return what the policy says, as pairs of a name and a string for people."""
        kind = [] if self.dtype == "float64" else [("scores", self.dtype)]
        lines = [
            ("policy", self.name or "(no name)"),
            *([] if self.description is None else [("about", self.description)]),
            *self.rule.lines("score" if self.score is None else self.score),
            *kind,
            ("missing", {"error": "an error", "keep": "no decision"}.get(self.missing, self.missing)),
        ]
        if self.objective is not None:
            macro = self.found_on is not None and self.found_on.average == "macro"
            objective = f"macro {self.objective}" if macro else self.objective
            lines.append(("goal", in_words(self.direction, objective, self.constraints)))
            if self.found_on is not None and self.found_on.each:
                lines.append(("in each", " and ".join(self.found_on.each)))
            if self.columns:
                lines.append(("columns", ", ".join(self.columns)))
        if self.found_on is not None:
            found = self.found_on
            lines.append(("value", count(found.value)))
            if found.cross_validated is not None:
                lines.append(("on new data", f"{count(found.cross_validated)}  (cross-validated)"))
            data = f"{count(found.rows)} rows"
            if found.confusion is not None:
                data = rows_in_words(found.rows, found.positives or 0, found.negatives or 0)
                lines.append(("confusion", found.confusion.in_words()))
            lines.append(("data", data))
        if self.created is not None:
            by = "" if self.library is None else f", {self.library}"
            lines.append(("created", f"{self.created}{by}"))
        return lines
