"""What results have in common: how they print, become JSON and data frames, and become a policy."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sized
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Self

from cutpoints._format import html_pairs, html_table, json_fields, text_pairs, text_table
from cutpoints.exceptions import MissingDependencyError

if TYPE_CHECKING:
    from cutpoints._policy.policy import Policy
    from cutpoints._policy.rules import Missing

SHOWN = 20
"""Segments or labels that people see; `table` has all."""


class Shown(ABC):
    """A result that people read as names and texts."""

    @abstractmethod
    def lines(self) -> list[tuple[str, str]]:
        """Return what people read, as names and texts."""

    def __repr__(self) -> str:
        return text_pairs(self.lines())

    def _repr_html_(self) -> str:
        return html_pairs(self.lines())


class ShownInRows(Shown, Sized):
    """A result with a row for each of its segments or labels, above what people read of all together."""

    _noun: ClassVar[str] = "segments"

    @property
    def _left(self) -> Collection[int]:
        """The columns that hold texts; all others are numbers."""
        return (0,)

    @abstractmethod
    def cells(self, most: int) -> list[list[str]]:
        """Return the header and the first rows, for people."""

    def __repr__(self) -> str:
        if not len(self):
            return super().__repr__()
        more = f"\n{len(self) - SHOWN:,} more {self._noun}" if len(self) > SHOWN else ""
        return f"{text_table(self.cells(SHOWN), self._left)}{more}\n\n{super().__repr__()}"

    def _repr_html_(self) -> str:
        table = html_table(self.cells(5 * SHOWN), self._left) if len(self) else ""
        return table + super()._repr_html_()


class Tabular(ABC):
    """A result with columns of equal length."""

    @abstractmethod
    def table(self) -> Mapping[str, Any]:
        """Return the columns by name."""

    def to_pandas(self) -> Any:
        """Return the table as a pandas data frame."""
        return to_frame(self.table(), "pandas")

    def to_polars(self) -> Any:
        """Return the table as a polars data frame."""
        return to_frame(self.table(), "polars")


def to_frame(columns: Mapping[str, Any], package: Literal["pandas", "polars"]) -> Any:
    """Return columns as a data frame of a package that may not be installed."""
    import importlib

    try:
        module = importlib.import_module(package)
    except ImportError as error:
        raise MissingDependencyError.of(caller=f"to_{package}", package=package) from error
    return module.DataFrame(columns)


class Beside:
    """A result beside which stand values that are computed when they are first looked at.

    `_beside` computes them by name; each is a cached property. Copies have the values, and not what computes
    them.
    """

    value: float | None
    _beside: Mapping[str, Callable[[], Any]]

    def _look_at(self, name: str) -> Any:
        if name not in self._beside:
            self.raise_if_infeasible()
        return self._beside[name]()

    def raise_if_infeasible(self) -> Any:
        """Return itself; a result that may be infeasible raises."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        for name in self._beside if self.value is not None else ():
            getattr(self, name)
        return {**vars(self), "_beside": {}}


class JsonForm:
    """A part of a result, a dataclass, whose JSON form has its fields."""

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form: infinite numbers are "inf" and "-inf", NaN is null."""
        return json_fields(self)


class KnownColumns(NamedTuple):
    """What the data were: columns that have names, the positive label, and the type of the scores."""

    score: str | None = None
    label: str | None = None
    pos_label: Any = None
    dtype: Literal["float32", "float64"] = "float64"


class Deployed(NamedTuple):
    """What a result tells its policy: the kind of its rule with the arguments of that, and what it did.

    `found_on` has fields of `FoundOn`; those that the result has as attributes may be left out. None if
    there is no more to tell than the goal.
    """

    kind: Literal["threshold", "segments", "band", "labels", "ordinal"]
    rule: dict[str, Any]
    columns: KnownColumns
    found_on: dict[str, Any] | None = None


class Deployable(ABC):
    """A result that becomes a policy."""

    objective: str
    direction: Literal["maximize", "minimize"]

    @abstractmethod
    def raise_if_infeasible(self) -> Self:
        """Return itself, or raise `InfeasibleError` saying what would be needed."""

    @abstractmethod
    def _deployed(self) -> Deployed:
        """Return what goes into the policy; only asked where there is a rule."""

    def policy(
        self,
        name: str | None = None,
        *,
        description: str | None = None,
        score: str | None = None,
        label: str | None = None,
        pos_label: Any = None,
        missing: Missing = "error",
    ) -> Policy:
        """Return the result as a policy: a rule to save, to deploy and to check later.

        Parameters
        ----------
        name, description : str, default=None
            What to call it, and what people should know about it.
        score, label : str, default=None
            The columns; those of the data that were searched are known.
        pos_label : int, float, bool or str, default=None
            The positive label; that of the data that were searched is known, and 1 otherwise.
        missing : {"error", "negative", "positive", "review", "keep"}, default="error"
            What to make of a missing score. "review" is for bands; ordered classes have "error" and "keep".

        Raises
        ------
        InfeasibleError or InvalidInputError
            If there is no threshold.

        Examples
        --------
        >>> import cutpoints as cp
        >>> s = cp.find([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], maximize="f1")
        >>> s.policy(score="p").decide([0.34, 0.35])
        array([0, 1], dtype=int8)
        """
        return self._policy(
            {}, name, description=description, score=score, label=label, pos_label=pos_label, missing=missing
        )

    def _policy(self, rule: dict[str, Any], name: str | None, **fields: Any) -> Policy:
        from cutpoints._policy.record import policy_of

        self.raise_if_infeasible()
        made = self._deployed()
        return policy_of(self, made._replace(rule=made.rule | rule), name=name, **fields)


class DeployableBySegment(Deployable):
    """A result that becomes a policy of segments."""

    def policy(
        self, name: str | None = None, *, default: float | Literal["error", "keep"] = "error", **fields: Any
    ) -> Policy:
        """Return the thresholds as a policy: a rule to save, to deploy and to check later.

        Parameters
        ----------
        name : str, default=None
            What to call it.
        default : float, "error" or "keep", default="error"
            For rows of segments that have no threshold here, or that are new: a threshold, or refuse all
            rows, or leave the decision missing.
        **fields
            As in `Solution.policy`: description, score, label, pos_label, missing.

        Raises
        ------
        InfeasibleError or InvalidInputError
            If no segment has a threshold.

        Examples
        --------
        >>> import cutpoints as cp
        >>> found = cp.find_by([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.8], by=["a", "a", "b", "b"], maximize="f1")
        >>> found.policy(default=0.5).decide([0.5, 0.5, 0.5], ["a", "b", "c"])
        array([1, 0, 1], dtype=int8)
        """
        return self._policy({"default": default}, name, **fields)
