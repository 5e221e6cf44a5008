"""Hypothesis strategies: scores, labels, masses, whole problems, objectives and constraints.

Like the oracle, this imports nothing of the package: an objective is a text of the language
together with the oracle's reading of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from oracle import Bound, Sum, Term, on_grid

KINDS = ("unweighted", "integer weights", "float weights", "one weight", "counted rows")

TINIEST = 5e-324
ADVERSARIAL = (
    -math.inf,
    -1e300,
    -1000.0,
    -1.0,
    -math.nextafter(1.0, 0.0),
    -1e-300,
    -TINIEST,
    -0.0,
    0.0,
    TINIEST,
    1e-310,
    1e-300,
    0.1,
    math.nextafter(0.5, 0.0),
    0.5,
    math.nextafter(0.5, 1.0),
    0.1 + 0.2,
    math.nextafter(1.0, 0.0),
    1.0,
    math.nextafter(1.0, 2.0),
    1e16,
    1e300,
    1.7976931348623157e308,
    math.inf,
)


# --- columns


def finite_scores(width=64):
    """Floats of any size, without infinities."""
    return st.floats(allow_nan=False, allow_infinity=False, width=width)


@st.composite
def score_pools(draw, dtype=np.float64):
    """A few scores to draw from, so that ties abound: adversarial, neighbours, tenths, anything."""
    width = 8 * np.dtype(dtype).itemsize
    kind = draw(st.sampled_from(["tenths", "adversarial", "neighbours", "floats", "integers"]))
    if kind == "tenths":
        pool = st.integers(0, 10).map(lambda k: k / 10)
    elif kind == "adversarial":
        pool = st.sampled_from(ADVERSARIAL)
    elif kind == "neighbours":
        start = draw(st.sampled_from([-5 * TINIEST, 0.5, 1.0, -1.0, 1e300 if width == 64 else 1e30]))
        chain = [dtype(start)]
        for _ in range(7):
            chain.append(np.nextafter(chain[-1], dtype(np.inf)))
        pool = st.sampled_from([float(x) for x in chain])
    elif kind == "floats":
        pool = finite_scores(width)
    else:
        pool = st.integers(-5, 5).map(float)
    with np.errstate(over="ignore", under="ignore"):
        return [float(dtype(x)) for x in draw(st.lists(pool, min_size=1, max_size=9))]


@st.composite
def scores(draw, dtype=None, min_size=1, max_size=24):
    """Scores with many ties, float64 or float32."""
    dtype = dtype or draw(st.sampled_from([np.float64, np.float64, np.float32]))
    pool = draw(score_pools(dtype))
    picked = draw(st.lists(st.sampled_from(pool), min_size=min_size, max_size=max_size))
    return np.array(picked, dtype=dtype)


def labels(size):
    """0/1 labels, sometimes of one class only."""
    both = st.lists(st.integers(0, 1), min_size=size, max_size=size)
    return st.one_of(both, both, both, st.just([0] * size), st.just([1] * size))


def integer_weights(size):
    """Small whole numbers, zero included, and a few large ones."""
    one = st.one_of(st.integers(0, 4), st.sampled_from([0, 1000, 2**31, 2**40]))
    return st.lists(one, min_size=size, max_size=size)


AWKWARD = (0.0, 0.1, 0.2, 0.3, 0.7, 1 / 3, 0.5, 1.0, 2.5, 1e-9, 1e9, 1 + 2**-52)


def float_weights(size):
    """Weights that floats cannot add without rounding: 0.1, 1e-9 beside 1e9, any others."""
    one = st.one_of(st.sampled_from(AWKWARD), st.sampled_from(AWKWARD), st.floats(1e-9, 1e9))
    return st.lists(one, min_size=size, max_size=size)


# --- problems


@dataclass(frozen=True)
class Problem:
    """What a user could bring. `positives` and `negatives` are given for counted rows only."""

    kind: str
    scores: np.ndarray
    labels: np.ndarray | None = None
    weights: np.ndarray | None = None
    positives: np.ndarray | None = None
    negatives: np.ndarray | None = None

    @property
    def rows(self):
        """The rows as the oracle wants them: score, pos, neg."""
        scores = self.scores.tolist()
        if self.labels is None:
            positives, negatives = on_grid(self.positives.tolist(), self.negatives.tolist())
            return list(zip(scores, positives, negatives, strict=True))
        weights = [Fraction(1)] * len(scores)
        if self.weights is not None:
            weights = [Fraction(weight) for weight in self.weights.tolist()]
            if len(set(weights)) > 1:  # one weight for all rows is not rounded
                (weights,) = on_grid(weights)
        return [
            (s, w * y, w * (1 - y)) for s, y, w in zip(scores, self.labels.tolist(), weights, strict=True)
        ]

    def take(self, index):
        """The same problem with the rows picked or permuted."""
        return Problem(
            self.kind,
            self.scores[index],
            *(
                None if column is None else column[index]
                for column in (self.labels, self.weights, self.positives, self.negatives)
            ),
        )

    def with_scores(self, scores):
        """The same problem with other scores."""
        return Problem(self.kind, scores, self.labels, self.weights, self.positives, self.negatives)


@st.composite
def problems(draw, kind=None, *, dtype=None, min_size=1, max_size=24, finite=False):
    """A whole problem of the given kind, or of any."""
    kind = kind or draw(st.sampled_from(KINDS))
    column = draw(scores(dtype, min_size, max_size))
    if finite:
        top = np.finfo(column.dtype).max
        column = np.clip(column, -top, top)
    size = len(column)
    if kind == "counted rows":
        masses = draw(st.sampled_from([integer_weights, float_weights]))
        return Problem(
            kind,
            column,
            positives=np.array(draw(masses(size)), dtype=np.float64),
            negatives=np.array(draw(masses(size)), dtype=np.float64),
        )
    y = np.array(draw(labels(size)), dtype=np.int8)
    if kind == "unweighted":
        return Problem(kind, column, y)
    if kind == "one weight":
        weight = draw(st.one_of(st.sampled_from(AWKWARD[1:]), st.floats(1e-50, 1e50)))
        return Problem(kind, column, y, np.full(size, weight))
    if kind == "integer weights":
        return Problem(kind, column, y, np.array(draw(integer_weights(size)), dtype=np.int64))
    return Problem(kind, column, y, np.array(draw(float_weights(size)), dtype=np.float64))


# --- the language: text, and the oracle's reading of it


@dataclass(frozen=True)
class Objective:
    """A text of the language and what it means."""

    text: str
    meaning: Sum


@dataclass(frozen=True)
class Constraint:
    """A comparison as text and what it means."""

    text: str
    meaning: Bound


PLAIN = (
    "accuracy",
    "error_rate",
    "balanced_accuracy",
    "precision",
    "recall",
    "specificity",
    "fpr",
    "fnr",
    "fdr",
    "false_omission_rate",
    "npv",
    "f1",
    "fowlkes_mallows",
    "g_mean",
    "precision_recall_mean",
    "precision_recall_min",
    "jaccard",
    "youden_j",
    "markedness",
    "mcc",
    "kappa",
    "p4",
    "lr_plus",
    "lr_minus",
    "diagnostic_odds_ratio",
    "prevalence",
    "prevalence_threshold",
    "predicted_positive",
    "predicted_positive_rate",
    "lift",
    "information_gain",
    "chi_square",
    "corner_distance",
    "sensitivity_specificity_gap",
)
"""The canonical names of DESIGN.md without parameters."""

DECIMALS = ("0.1", "0.2", "0.3", "0.25", "0.5", "0.7", "0.75", "0.9", "0.95", "1", "2", "3")
SIGNED = (*DECIMALS, "0", "-1", "-0.5", "-2", "10")


@st.composite
def _terms(draw):
    """One metric: its text, name and parameters."""
    name = draw(
        st.one_of(
            st.sampled_from(PLAIN),
            st.sampled_from(["f", "cost", "cost_per_row", "profit", "net_benefit"]),
        )
    )
    if name in PLAIN:
        return name, name, {}
    if name == "f":
        texts = {"beta": draw(st.sampled_from(DECIMALS))}
    elif name == "net_benefit":
        texts = {"at": draw(st.sampled_from(["0", "0.1", "0.2", "0.5", "0.75", "0.9"]))}
    else:
        keys = draw(st.lists(st.sampled_from(["tp", "fp", "fn", "tn"]), min_size=1, unique=True))
        texts = {key: draw(st.sampled_from(SIGNED)) for key in keys}
    inside = ", ".join(f"{key}={text}" for key, text in texts.items())
    return f"{name}({inside})", name, {key: Fraction(text) for key, text in texts.items()}


@st.composite
def single_objectives(draw):
    """One metric of the catalogue or of a family."""
    text, name, parameters = draw(_terms())
    return Objective(text, Sum((Term(name, parameters),)))


@st.composite
def weighted_sums(draw):
    """Two or three metrics with decimal weights, and sometimes a constant."""
    parts = draw(st.lists(_terms(), min_size=2, max_size=3))
    text, terms = "", []
    for part, name, parameters in parts:
        weight = draw(st.sampled_from(DECIMALS))
        minus = draw(st.booleans())
        text += f"{' - ' if minus else ' + '}{weight}*{part}"
        terms.append(Term(name, parameters, -Fraction(weight) if minus else Fraction(weight)))
    constant = draw(st.sampled_from(["0", "0", "1", "0.5", "-2"]))
    if constant != "0":
        text += f" + {constant}"
    return Objective(text.removeprefix(" + ").strip(), Sum(tuple(terms), Fraction(constant)))


RELATIVE = (
    "lr_plus",
    "lr_minus",
    "diagnostic_odds_ratio",
    "lift",
    "prevalence_threshold",
    "predicted_positive",
    "precision",
    "recall",
    "markedness",
    "mcc",
)


@st.composite
def cancelling(draw):
    """``a*x - b*y <= 0`` and the like: equal terms leave a rounding error, or hide a difference."""
    names = draw(st.lists(st.sampled_from(RELATIVE), min_size=1, max_size=3))
    weights = [draw(st.sampled_from(["1", "0.1", "0.2", "0.3", "2"])) for _ in names]
    signs = [1, *(-1 for _ in names[1:])]
    text = " - ".join(f"{weight}*{name}" for weight, name in zip(weights, names, strict=True))
    relation = draw(st.sampled_from([">=", "<=", ">", "<"]))
    terms = (
        Term(name, {}, sign * Fraction(weight))
        for name, weight, sign in zip(names, weights, signs, strict=True)
    )
    return Constraint(f"{text} {relation} 0", Bound(Sum(tuple(terms)), relation, Fraction(0)))


def objectives():
    """Anything that can be maximised or minimised."""
    return st.one_of(single_objectives(), weighted_sums())


COUNTS = {"predicted_positive", "cost", "profit", "chi_square"}


@st.composite
def constraints(draw):
    """A comparison with a decimal; often one that some cut meets with equality."""
    left = draw(st.one_of(single_objectives(), single_objectives(), weighted_sums()))
    relation = draw(st.sampled_from([">=", "<=", ">=", "<=", ">", "<"]))
    if any(term.name in COUNTS for term in left.meaning.terms):
        bound = draw(st.integers(-2, 20).map(str))
    else:
        bound = draw(
            st.sampled_from(["0", "0.1", "0.2", "0.25", "0.3", "0.5", "0.6", "0.75", "0.8", "0.95", "1", "2"])
        )
    return Constraint(f"{left.text} {relation} {bound}", Bound(left.meaning, relation, Fraction(bound)))


def conjunctions(max_size=3):
    """Some constraints that must hold together, or none."""
    return st.lists(constraints(), max_size=max_size)


directions = st.sampled_from(["maximize", "minimize"])
