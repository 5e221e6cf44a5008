"""Choose a setting of hyper-parameters and a threshold on the same rows, by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from cutpoints._data.read import as_source
from cutpoints._evaluate.cross_validation import honest, scored_entries
from cutpoints._evaluate.splits import folds, need_both_classes, numbered
from cutpoints._find import solve
from cutpoints._search.run import search
from cutpoints.exceptions import CutpointError, InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._evaluate.cross_validation import Honest, Splits
    from cutpoints._goal import Goal

Tick = Callable[[int], None] | None
ResponseMethod = Literal["auto", "predict_proba", "decision_function"]


@dataclass(frozen=True)
class Failure:
    """A setting whose fit failed, and how."""

    setting: dict[str, Any]
    error: str

    def __str__(self) -> str:
        return f"{_text(self.setting)}: {self.error}"

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {"setting": _text(self.setting), "error": self.error}


@dataclass(frozen=True)
class Candidate:
    """A setting and how it did.

    `training` and `validation` are the values of the folds: on the rows that fitted (at the best
    threshold for these), and on the others (at the best threshold of the other folds). `pooled` is
    the value at the added-up counts of the folds; it decides. `rows` were used.
    """

    setting: dict[str, Any]
    training: tuple[float, ...]
    validation: tuple[float, ...]
    pooled: float
    rows: int


@dataclass(frozen=True)
class _Scored:
    """A candidate with the out-of-fold scores that its threshold is found on."""

    candidate: Candidate
    splits: Splits
    scores: NDArray[Any]


@dataclass(frozen=True)
class Problem:
    """Rows, labels 0/1 and the goal; what every fit needs."""

    estimator: Any
    X: Any
    y: NDArray[np.int8]
    goal: Goal
    classes: NDArray[Any]
    positive: Any
    groups: NDArray[np.intp] | None
    weights: NDArray[Any] | None
    response_method: ResponseMethod

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        wanted: Goal,
        *,
        groups: Any,
        sample_weight: Any,
        response_method: ResponseMethod,
        pos_label: Any,
    ) -> Problem:
        """Check what the user brings."""
        from sklearn.utils import indexable

        from cutpoints._data.array_input import as_weights
        from cutpoints._sklearn.estimator import CutpointClassifier

        X, y = indexable(X, y)
        reader = CutpointClassifier(estimator, pos_label=pos_label, response_method=response_method)
        reader._goal()  # noqa: SLF001 - the same checks, the same words
        labels = reader._labels(y)  # noqa: SLF001
        weights = None if sample_weight is None else as_weights(sample_weight, "sample_weight")
        if weights is not None and len(weights) != len(labels):
            raise InvalidInputError.length(
                names_and_lengths={"y": len(labels), "sample_weight": len(weights)}
            )
        return cls(
            estimator,
            X,
            (labels == reader._positive).astype(np.int8),  # noqa: SLF001
            wanted,
            reader.classes_,
            reader._positive,  # noqa: SLF001
            numbered(groups, len(labels)),
            weights,
            response_method,
        )

    @property
    def labels(self) -> NDArray[Any]:
        """The labels as the user wrote them."""
        other = self.classes[self.classes != self.positive][0]
        return np.where(self.y == 1, np.asarray(self.positive), other)

    def mass(self, index: NDArray[np.intp]) -> NDArray[Any] | None:
        """Return the weights of some rows."""
        return None if self.weights is None else self.weights[index]

    def part(self, index: NDArray[np.intp]) -> Problem:
        """Return the problem on some of the rows."""
        from sklearn.utils import _safe_indexing

        return replace(
            self,
            X=_safe_indexing(self.X, index),
            y=self.y[index],
            groups=None if self.groups is None else self.groups[index],
            weights=self.mass(index),
        )

    def model(self, setting: dict[str, Any], cv: Any) -> Any:
        """Return an unfitted `CutpointClassifier` with this setting."""
        from sklearn.base import clone

        from cutpoints._sklearn.estimator import CutpointClassifier

        asked: dict[str, Any] = {self.goal.direction: self.goal.expression}
        model = CutpointClassifier(
            clone(self.estimator).set_params(**clone(setting, safe=False)),
            subject_to=list(self.goal.constraints) or None,
            cv=cv,
            response_method=self.response_method,
            pos_label=self.positive,
            **asked,
        )
        model.classes_, model._positive = self.classes, self.positive  # noqa: SLF001
        return model

    def splits(
        self, cv: Any, random_state: Any, parameter: str
    ) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Return pairs of row numbers, after clear words on what cannot be split."""
        pairs = folds(
            self.y,
            cv,
            groups=self.groups,
            random_state=random_state,
            fewest=1,
            parameter=parameter,
            caller="nested",
        )
        need_both_classes(pairs, self.y == 1, f" of {parameter}")
        return pairs


@dataclass(frozen=True, repr=False)
class Selection:
    """The settings that were compared, and the one that was chosen.

    Prints as the table "setting, training, cross-validated, choice": mean ± sd over the folds.
    """

    objective: str
    candidates: tuple[Candidate, ...]
    best: Candidate
    fits: int
    failures: tuple[Failure, ...]
    scored: _Scored

    def fitted(self, problem: Problem, cv: Any) -> Any:
        """Fit the chosen setting on all rows: one fit. The threshold is known already."""
        from sklearn.base import clone
        from sklearn.utils.validation import has_fit_parameter

        model = problem.model(self.best.setting, cv)
        weights: dict[str, Any] = {}
        if problem.weights is not None and has_fit_parameter(model.estimator, "sample_weight"):
            weights = {"sample_weight": problem.weights}
        model.estimator_ = clone(model.estimator).fit(problem.X, problem.labels, **weights)
        splits = self.scored.splits
        row = np.concatenate([test for _, test in splits])
        return model._cut(  # noqa: SLF001
            problem.goal, problem.y[row], self.scored.scores, splits, problem.mass(row)
        )

    def table(self) -> dict[str, list[Any]]:
        """Return the columns: setting, mean and sd in training and in validation, pooled, chosen."""

        def moments(values: Sequence[float]) -> tuple[float, float]:
            known = [value for value in values if not math.isnan(value)]
            return (float(np.mean(known)), float(np.std(known))) if known else (math.nan, math.nan)

        training = [moments(one.training) for one in self.candidates]
        validation = [moments(one.validation) for one in self.candidates]
        return {
            "setting": [_text(one.setting) for one in self.candidates],
            "training_mean": [mean for mean, _ in training],
            "training_sd": [sd for _, sd in training],
            "cv_mean": [mean for mean, _ in validation],
            "cv_sd": [sd for _, sd in validation],
            "cv_pooled": [one.pooled for one in self.candidates],
            "rows": [one.rows for one in self.candidates],
            "chosen": [one is self.best for one in self.candidates],
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form: a list of rows of the table, and the count of fits."""
        from cutpoints._result import json_number

        columns = self.table()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        plain = [{k: json_number(v) if isinstance(v, float) else v for k, v in row.items()} for row in rows]
        return {"settings": plain, "fits": self.fits, "failures": [one.to_dict() for one in self.failures]}

    def __str__(self) -> str:
        columns = self.table()
        several = len(set(columns["rows"])) > 1  # a tournament
        head = ["setting", f"training {self.objective}", f"cross-validated {self.objective}", "pooled"]
        lines = [[*head, *(["rows"] if several else []), "choice"]]
        for row in zip(*columns.values(), strict=True):
            one = dict(zip(columns, row, strict=True))
            cells = [one["setting"]]
            for side in ("training", "cv"):
                mean, sd = one[f"{side}_mean"], one[f"{side}_sd"]
                cells.append("-" if math.isnan(mean) else f"{mean:.3f} ± {sd:.3f}")
            cells.append(f"{one['cv_pooled']:.3f}")
            lines.append([*cells, *([f"{one['rows']:,}"] if several else []), "✓" if one["chosen"] else ""])
        widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]
        return "\n".join(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        )

    __repr__ = __str__


def select(
    problem: Problem,
    settings: Sequence[dict[str, Any]],
    *,
    cv: Any = 5,
    random_state: Any = 0,
    halving: int | None = None,
    training: bool = False,
    tick: Tick = None,
) -> Selection:
    """Compare settings by cross-validation; each is judged with a threshold of its own.

    The best pooled value wins, the first among equals. ``halving=3``: a tournament in rounds, each
    with a third of the settings of the one before and three times its rows.
    """
    failures: list[Failure] = []
    before = rounds(len(settings), halving)
    everyone: dict[int, _Scored] = {}
    alive = list(range(len(settings)))
    fits = 0
    for left in range(before, -1, -1):
        part = problem if left == 0 else _share(problem, cv, (halving or 1) ** left, random_state)
        splits = part.splits(cv, random_state, "cv")
        scored: dict[int, _Scored] = {}
        for i in alive:
            try:
                scored[i] = _evaluate(part, settings[i], splits, training=training)
                fits += len(splits)
            except CutpointError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever an estimator raises is reported, and the rest goes on
                failures.append(Failure(settings[i], f"{type(error).__name__}: {error}"))
            if tick is not None:
                tick(len(splits))
        if not scored:
            raise InvalidInputError.all_failed(number=len(alive), first=str(failures[0]))
        everyone |= scored
        ranking = sorted(scored, key=lambda i: _rank(problem.goal, scored[i].candidate.pooled, i))
        alive = ranking[: max(1, len(alive) // (halving or 1))] if left else ranking
    winner = everyone[alive[0]]
    return Selection(
        objective=str(problem.goal.expression),
        candidates=tuple(everyone[i].candidate for i in sorted(everyone)),
        best=winner.candidate,
        fits=fits,
        failures=tuple(failures),
        scored=winner,
    )


def _evaluate(problem: Problem, setting: dict[str, Any], splits: Splits, *, training: bool) -> _Scored:
    """Fit one setting on every fold."""
    from sklearn.utils import _safe_indexing
    from sklearn.utils.validation import has_fit_parameter

    from cutpoints._sklearn.estimator import _fit_fold

    model = problem.model(setting, len(splits))
    params: dict[str, Any] = {}
    if problem.weights is not None and has_fit_parameter(model.estimator, "sample_weight"):
        params = {"sample_weight": problem.weights}
    scores, fitted_values = [], []
    for train, test in splits:
        out, fitted = _fit_fold(model, problem.X, problem.labels, (train, test), params, keep=training)
        scores.append(out)
        if training:
            seen = model._scores(fitted, _safe_indexing(problem.X, train))  # noqa: SLF001
            fitted_values.append(_best(problem.goal, problem.y[train], seen, problem.mass(train)))
    every = np.concatenate(scores)
    judged = _judge(problem, splits, every)
    candidate = Candidate(setting, tuple(fitted_values), judged.fold_values, judged.value, len(problem.y))
    return _Scored(candidate, splits, every)


def _judge(problem: Problem, splits: Splits, scores: NDArray[Any]) -> Honest:
    row = np.concatenate([test for _, test in splits])
    return honest(
        problem.goal,
        problem.y[row],
        scores,
        scored_entries(splits),
        weights=problem.mass(row),
        mass=float(len(problem.y)) if problem.weights is None else math.fsum(problem.weights),
        skip=True,
    )


def _best(goal: Goal, y: NDArray[Any], scores: NDArray[Any], weights: NDArray[Any] | None) -> float:
    source = as_source(y, scores, sample_weight=weights)
    value = solve(goal, lambda one: search(source, one)).value
    return math.nan if value is None else value


def _rank(goal: Goal, value: float, place: int) -> tuple[float, int]:
    return (math.inf if math.isnan(value) else -goal.sign * value, place)


def rounds(settings: int, halving: int | None) -> int:
    """Return how many rounds come before the last, on fewer rows."""
    if halving is None:
        return 0
    if halving < 2:
        raise InvalidParameterError.of(
            parameter="factor", caller="nested", must_be="a whole number >= 2", got=halving
        )
    return max(0, math.ceil(math.log(max(settings, 1), halving) - 1e-9))


def _share(problem: Problem, cv: Any, divisor: int, random_state: Any) -> Problem:
    """Return every so-many-th row of each class, but enough of each for the folds; groups stay whole."""
    rng = np.random.default_rng(random_state)
    least = 2 * int(cv) if isinstance(cv, (int, np.integer)) else 10
    if problem.groups is not None:
        names = rng.permutation(np.unique(problem.groups))
        kept = names[: max(least, len(names) // divisor)]
        return problem.part(np.flatnonzero(np.isin(problem.groups, kept)))
    rows = []
    for label in (0, 1):
        members = rng.permutation(np.flatnonzero(problem.y == label))
        rows.append(members[: max(least, len(members) // divisor)])
    return problem.part(np.sort(np.concatenate(rows)))


def _text(setting: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in setting.items()) or "as given"
