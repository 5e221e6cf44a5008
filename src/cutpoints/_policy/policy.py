"""The policy: one threshold, its rule, where it came from, and what can be done with it."""

from __future__ import annotations

import math
import numbers
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn, get_args

import numpy as np

from cutpoints._format import count, exact, rows_in_words
from cutpoints._goal import goal, in_words
from cutpoints._policy.typed_json import TEXT, is_finite, is_text
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    import os

    from cutpoints._goal import Goal
    from cutpoints._policy.checks import Check
    from cutpoints._policy.files import Applied
    from cutpoints._policy.record import FoundOn
    from cutpoints._policy.sql import Dialect

Missing = Literal["error", "negative", "positive", "keep"]
Dtype = Literal["float64", "float32"]
Direction = Literal["maximize", "minimize"]


@dataclass(frozen=True, repr=False)
class Policy:
    """A threshold to deploy: *positive iff score >= threshold*, and what is known about it.

    `Solution.policy` makes one with everything in it; by hand a threshold is enough. Decisions are
    the same bit for bit wherever it is applied: arrays, frames, files, SQL, plain Python.

    Parameters
    ----------
    threshold : float
        ``inf`` gives no positives (except scores of ``inf``), ``-inf`` gives positives only.
    score, label : str, default=None
        The columns of the scores and, to check it later, of the labels.
    pos_label : int, float, bool or str, default=1
        The positive label.
    missing : {"error", "negative", "positive", "keep"}, default="error"
        What to make of a score that is NaN or null: refuse all rows, decide, or leave the decision
        missing.
    dtype : {"float64", "float32"}, default="float64"
        The type of the scores that it was found on, and so of the threshold. Scores are never rounded
        to it: the rule is about the exact values. So decide on the type that it was found on: 0.3 as
        float64 is below 0.3 as float32.
    name : str, default=None
        What to call it.
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

    threshold: float
    _: KW_ONLY
    score: str | None = None
    label: str | None = None
    pos_label: Any = 1
    missing: Missing = "error"
    dtype: Dtype = "float64"
    name: str | None = None
    objective: str | None = None
    direction: Direction | None = None
    constraints: tuple[str, ...] = ()
    found_on: FoundOn | None = None
    created: str | None = None
    library: str | None = None

    def __post_init__(self) -> None:
        if hasattr(self.pos_label, "item"):
            object.__setattr__(self, "pos_label", self.pos_label.item())
        self._check()
        # -0.0 and 0.0 decide alike, and only one of them looks like it.
        object.__setattr__(self, "threshold", float(self.threshold) + 0.0)
        object.__setattr__(self, "constraints", tuple(self.constraints))
        if self.found_on is None and (self.objective is not None or self.constraints):
            self.goal()  # raises for a slip; what `find` has found may be a function of the user's

    def _check(self) -> None:
        """Raise for anything that cannot be meant."""
        if not isinstance(self.threshold, numbers.Real) or isinstance(self.threshold, bool):
            self._refuse("threshold", "a number, not NaN")
        try:
            threshold = float(self.threshold)
        except OverflowError:
            self._refuse("threshold", "a number that a float can hold", "for no positives pass math.inf.")
        if math.isnan(threshold):
            self._refuse("threshold", "a number, not NaN")
        for field in ("score", "label", "name", "objective", "created", "library"):
            if getattr(self, field) is not None and not is_text(getattr(self, field)):
                self._refuse(field, TEXT)
        label = self.pos_label
        if not (is_text(label) or isinstance(label, bool) or (is_finite(label) and abs(label) < 1 << 63)):
            self._refuse("pos_label", f"{TEXT}, a number below 2**63 or a boolean")
        for field, allowed in (
            ("missing", get_args(Missing)),
            ("dtype", get_args(Dtype)),
            ("direction", (*get_args(Direction), None)),
        ):
            if getattr(self, field) not in allowed:
                self._refuse(field, f"one of {', '.join(map(repr, allowed))}")
        with np.errstate(over="ignore"):
            if self.dtype == "float32" and float(np.float32(threshold)) != threshold:
                self._refuse("threshold", "a float32, as dtype says", "pass float(numpy.float32(threshold)).")
        if isinstance(self.constraints, str) or not all(isinstance(one, str) for one in self.constraints):
            self._refuse("constraints", "a tuple of strings such as 'precision >= 0.95'")
        if (self.objective is None) != (self.direction is None):
            self._refuse("direction", "given together with 'objective'")

    def _refuse(self, field: str, must_be: str, hint: str | None = None) -> NoReturn:
        raise InvalidParameterError.of(
            parameter=field, caller="Policy", must_be=must_be, got=getattr(self, field), hint=hint
        )

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
            For a file that is not a policy, of an unknown version, with a field that is missing,
            unknown or of the wrong kind, or with any number changed since it was saved.
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
        *,
        score: str | None = None,
        column: str = "decision",
        missing: Missing | None = None,
        positive: Any = 1,
        negative: Any = 0,
    ) -> Any:
        """Return the decisions for scores, or a frame with a column of decisions added.

        Parameters
        ----------
        data : array-like, series, data frame or lazy frame
            An array gives an array, a series a series, a frame the same frame with one more column.
            Any frame that narwhals knows: pandas, polars, pyarrow, and lazy ones of polars, DuckDB,
            Spark, Dask, Ibis, which stay lazy.
        score : str, default=None
            The column of scores; the policy's own by default.
        column : str, default="decision"
            The name of the new column, which must not exist.
        missing : {"error", "negative", "positive", "keep"}, default=None
            What to make of NaN and null; as the policy says by default. With ``"error"`` a lazy
            frame is asked once, by a query over the scores alone, whether any is missing: lazy
            frames that must not run before their time need another choice.
        positive, negative : default=1 and 0
            What to write, such as two strings.

        Returns
        -------
        ndarray of int8, series or frame
            With ``missing="keep"`` an array is float64 with NaN (or an object array with None, for strings).
        """
        from cutpoints._policy.decisions import decide

        return decide(
            self,
            data,
            score=score,
            column=column,
            missing=self.missing_rule(missing, "decide"),
            labels=(negative, positive),
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

        Streamed by DuckDB, so files may be larger than memory. All columns are kept as they are, in
        a CSV every cell to the letter. The output appears whole or not at all.

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
        """Return a SQL expression that is 1, 0 or NULL, bit for bit as `decide`.

        Parameters
        ----------
        column : str, default=None
            The column of scores, by its plain name, which is quoted; the policy's own by default.
        dialect : str, default="ansi"
            ``"duckdb"``, ``"sqlite"``, ``"postgres"`` and ``"spark"`` are run in our tests;
            ``"ansi"``, ``"bigquery"``, ``"snowflake"`` and ``"mysql"`` are written by their manuals.
        missing : {"error", "negative", "positive", "keep"}, default=None
            NaN and NULL: as the policy says, where it says "error" NULL, which is no decision. To
            have the query fail, pass ``"error"``; DuckDB, Spark and BigQuery can.
        """
        from cutpoints._policy.sql import to_sql

        rule = self.missing_rule(missing, "to_sql")
        if missing is None and rule == "error":
            rule = "keep"
        return to_sql(self.threshold, self.column(column, "to_sql"), dialect, rule)

    def to_python(self, *, function: str = "decide", missing: Missing | None = None) -> str:
        """Return the source of a Python function of a score, or of a list of scores, that needs no package.

        Parameters
        ----------
        function : str, default="decide"
            The name of the function.
        missing : {"error", "negative", "positive", "keep"}, default=None
            None and NaN: as the policy says by default; "error" raises ValueError.
        """
        from cutpoints._policy.python import to_python

        return to_python(self.threshold, function, self.missing_rule(missing, "to_python"))

    def to_sklearn(self, estimator: Any, *, response_method: str = "auto") -> Any:
        """Return a scikit-learn `FixedThresholdClassifier` with this threshold.

        A fitted estimator stays as it is, and the classifier predicts at once. It is the same rule,
        ``>=``, on ``predict_proba(X)[:, 1]`` or `decision_function`.

        Raises
        ------
        InvalidParameterError
            Where it would decide otherwise: a positive label that the estimator does not have, or
            missing scores that are not an error, since estimators give none.
        """
        from cutpoints._policy.sklearn import to_sklearn

        return to_sklearn(self, estimator, response_method)

    def check(
        self,
        data: Any,
        y_score: Any = None,
        *,
        score: str | None = None,
        label: str | None = None,
        pos_label: Any = None,
        alpha: float = 0.01,
        psi: float = 0.2,
    ) -> Check:
        """Check whether the policy still performs on new data; see `Check`.

        Parameters
        ----------
        data : array-like, data frame, path or Data
            Labels with `y_score` beside them; or scores alone; or a frame or files, with columns; or a
            `Data`, with or without a label, whose score is the policy's own by default.
        y_score : array-like, default=None
            Scores, where `data` are labels.
        score, label : str, default=None
            The columns; the score's name is the policy's own by default. Without `label` only the
            scores are looked at.
        pos_label : default=None
            The positive label; the policy's own by default.
        alpha : float, default=0.01
            How improbable a change must be by chance alone to count as one.
        psi : float, default=0.2
            How large the population stability index must be.
        """
        from cutpoints._policy.checks import check

        return check(
            self,
            data,
            y_score,
            columns=(score, label),
            pos_label=pos_label,
            alpha=alpha,
            psi=psi,
        )

    # --- what the rooms of this package ask

    def goal(self) -> Goal:
        """Return what the policy is best for; raise if it is not said, or a function of the user's."""
        if self.objective is None:
            raise InvalidParameterError.of(
                parameter="objective", caller="Policy", must_be="known to search again", got=None
            )
        constraints = list(self.constraints)
        if self.direction == "minimize":
            return goal(minimize=self.objective, subject_to=constraints, caller="Policy", columns=True)
        return goal(maximize=self.objective, subject_to=constraints, caller="Policy", columns=True)

    def column(self, given: str | None, caller: str) -> str:
        """Return the name of the score's column; raise if it is not known."""
        name = self.score if given is None else given
        if not isinstance(name, str) or not name or "\0" in name:
            raise InvalidParameterError.of(
                parameter="score" if caller != "to_sql" else "column",
                caller=caller,
                must_be="the name of a column, since the policy has none",
                got=name,
                hint=f"for example {caller}(..., score='p')." if caller != "to_sql" else "to_sql('p').",
            )
        return name

    def missing_rule(self, given: Any, caller: str) -> Missing:
        """Return what to make of missing scores; raise for what cannot be meant."""
        if given is not None and given not in get_args(Missing):
            raise InvalidParameterError.of(
                parameter="missing",
                caller=caller,
                must_be=f"one of {', '.join(map(repr, get_args(Missing)))}",
                got=given,
            )
        return self.missing if given is None else given

    def __repr__(self) -> str:
        return "\n".join(f"{name:<12}{text}" for name, text in self.lines())

    def lines(self) -> list[tuple[str, str]]:
        """Return what the policy says, as pairs of a name and a string for people."""
        score = "score" if self.score is None else self.score
        kind = "" if self.dtype == "float64" else f" ({self.dtype})"
        lines = [
            ("policy", self.name or "(no name)"),
            ("rule", f"positive if {score} >= {exact(self.threshold)}{kind}"),
            ("missing", {"error": "an error", "keep": "no decision"}.get(self.missing, self.missing)),
        ]
        if self.objective is not None:
            lines.append(("goal", in_words(self.direction, self.objective, self.constraints)))
        if self.found_on is not None:
            found = self.found_on
            counts = "  ".join(f"{name} {count(n)}" for name, n in found.confusion.to_dict().items())
            data = rows_in_words(found.rows, found.positives, found.negatives)
            lines += [("value", count(found.value)), ("confusion", counts), ("data", data)]
        if self.created is not None:
            by = "" if self.library is None else f", {self.library}"
            lines.append(("created", f"{self.created}{by}"))
        return lines
