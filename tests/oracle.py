"""The slow and obvious answer: every cut, one by one, in fractions.

It imports nothing of the package, and its formulas are written from the textbook definitions, not
from the package's own. A row is ``(score, pos, neg)``; the rule is *positive iff score >= threshold*.

An undefined value is None and never wins. A positive number over zero is ``inf``, and may win.
"""

from __future__ import annotations

import decimal
import functools
import itertools
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

DIGITS = 120
"""Irrational numbers are computed to so many digits."""
SAME = Fraction(1, 10**60)
"""Irrational numbers are equal if they agree to 60 digits."""

RELATIONS = {
    ">=": lambda sign: sign >= 0,
    "<=": lambda sign: sign <= 0,
    ">": lambda sign: sign > 0,
    "<": lambda sign: sign < 0,
}


@dataclass(frozen=True)
class Confusion:
    tp: Fraction
    fp: Fraction
    fn: Fraction
    tn: Fraction

    @property
    def P(self):  # noqa: N802
        """All positives."""
        return self.tp + self.fn

    @property
    def N(self):  # noqa: N802
        """All negatives."""
        return self.fp + self.tn

    @property
    def n(self):
        """Everything."""
        return self.P + self.N

    def to_dict(self):
        """The four by name."""
        return {"tp": self.tp, "fp": self.fp, "fn": self.fn, "tn": self.tn}


@dataclass(frozen=True)
class Cut:
    """The decisions of all thresholds in ``(low, threshold]``."""

    threshold: float
    low: float
    confusion: Confusion


@dataclass(frozen=True)
class Value:
    """A number, and a rational key that orders values of one expression as their numbers do."""

    number: Fraction | float
    key: Fraction | float | None
    size: Fraction | float
    """The size of what was added up: 60 digits are counted from here."""


# --- formulas


def div(a, b):
    """a / b; 0/0 is None, and so is anything with an undefined part."""
    if a is None or b is None:
        return None
    if b == 0:
        return None if a == 0 else math.copysign(math.inf, a)
    return Fraction(a) / Fraction(b)


def less(a, b):
    """a - b, None if either is."""
    return None if a is None or b is None else a - b


def plus(a, b):
    """a + b, None if either is."""
    return None if a is None or b is None else a + b


def times(a, b):
    """a * b, None if either is."""
    return None if a is None or b is None else a * b


def context():
    """Decimal arithmetic with `DIGITS` digits."""
    return decimal.localcontext(decimal.Context(prec=DIGITS, Emin=-(10**9), Emax=10**9))


def root(x):
    """The square root of a fraction to `DIGITS` digits."""
    with context():
        return Fraction((decimal.Decimal(x.numerator) / decimal.Decimal(x.denominator)).sqrt())


@functools.lru_cache(100_000)
def entropy_of(share):
    """-p log2 p to `DIGITS` digits, 0 at 0."""
    if share == 0:
        return Fraction(0)
    with context() as c:
        p = decimal.Decimal(share.numerator) / decimal.Decimal(share.denominator)
        return Fraction(-p * c.ln(p) / c.ln(decimal.Decimal(2)))


def entropy(shares):
    """Bits of a distribution."""
    return sum(map(entropy_of, shares), Fraction(0))


def accuracy(c):
    """Right decisions over all."""
    return div(c.tp + c.tn, c.n)


def precision(c):
    """Hits over those called positive."""
    return div(c.tp, c.tp + c.fp)


def recall(c):
    """Hits over the positives."""
    return div(c.tp, c.P)


def specificity(c):
    """Negatives left alone over the negatives."""
    return div(c.tn, c.N)


def npv(c):
    """Negatives over those called negative."""
    return div(c.tn, c.tn + c.fn)


def fpr(c):
    """False alarms over the negatives."""
    return div(c.fp, c.N)


def prevalence(c):
    """Positives over all."""
    return div(c.P, c.n)


def f(c, beta):
    """The weighted harmonic mean of precision and recall, in counts."""
    weight = beta**2
    return div((1 + weight) * c.tp, (1 + weight) * c.tp + weight * c.fn + c.fp)


def precision_recall_min(c):
    """The weaker of precision and recall."""
    p, r = precision(c), recall(c)
    return None if p is None or r is None else min(p, r)


def kappa(c):
    """Agreement beyond chance over what is possible beyond chance."""
    if c.n == 0:
        return None
    by_chance = ((c.tp + c.fp) * c.P + (c.fn + c.tn) * c.N) / c.n**2
    return div(accuracy(c) - by_chance, 1 - by_chance)


def p4(c):
    """The harmonic mean of precision, recall, specificity and NPV; 0 where one of them is 0."""
    if c.tp * c.tn:
        four = (precision(c), recall(c), specificity(c), npv(c))
        return 4 / sum(1 / share for share in four)
    return div(Fraction(0), (c.tp + c.tn) * (c.fp + c.fn))


def chi_square(c):
    """Observed against expected, cell by cell."""
    total = Fraction(0)
    for row in ((c.tp, c.fp), (c.fn, c.tn)):
        for observed, column in zip(row, (c.P, c.N), strict=True):
            expected = div(sum(row) * column, c.n)
            if not expected:
                return None
            total += (observed - expected) ** 2 / expected
    return total


def information_gain(c):
    """What the decision tells: the entropy of the truth less that within each decision."""
    if c.n == 0:
        return None
    gain = entropy([c.P / c.n, c.N / c.n])
    for hits, others in ((c.tp, c.fp), (c.fn, c.tn)):
        size = hits + others
        if size:
            gain -= size / c.n * entropy([hits / size, others / size])
    return gain


def total(c, tp=0, fp=0, fn=0, tn=0):
    """What the four kinds of rows cost or earn in all."""
    return tp * c.tp + fp * c.fp + fn * c.fn + tn * c.tn


def net_benefit(c, at):
    """Hits per row less false alarms per row at the odds of acting."""
    return less(div(c.tp, c.n), times(div(c.fp, c.n), at / (1 - at)))


def sensitivity_specificity_gap(c):
    """How far recall and specificity are apart."""
    difference = less(recall(c), specificity(c))
    return None if difference is None else abs(difference)


RATIONAL = {
    "accuracy": accuracy,
    "error_rate": lambda c: less(1, accuracy(c)),
    "balanced_accuracy": lambda c: div(plus(recall(c), specificity(c)), 2),
    "precision": precision,
    "recall": recall,
    "specificity": specificity,
    "fpr": fpr,
    "fnr": lambda c: less(1, recall(c)),
    "fdr": lambda c: less(1, precision(c)),
    "false_omission_rate": lambda c: less(1, npv(c)),
    "npv": npv,
    "f1": lambda c: f(c, 1),
    "f": f,
    "precision_recall_mean": lambda c: div(plus(precision(c), recall(c)), 2),
    "precision_recall_min": precision_recall_min,
    "jaccard": lambda c: div(c.tp, c.n - c.tn),
    "youden_j": lambda c: less(recall(c), fpr(c)),
    "markedness": lambda c: less(plus(precision(c), npv(c)), 1),
    "kappa": kappa,
    "p4": p4,
    "lr_plus": lambda c: div(recall(c), fpr(c)),
    "lr_minus": lambda c: div(less(1, recall(c)), specificity(c)),
    "diagnostic_odds_ratio": lambda c: div(c.tp * c.tn, c.fp * c.fn),
    "prevalence": prevalence,
    "predicted_positive": lambda c: c.tp + c.fp,
    "predicted_positive_rate": lambda c: div(c.tp + c.fp, c.n),
    "lift": lambda c: div(precision(c), prevalence(c)),
    "chi_square": chi_square,
    "sensitivity_specificity_gap": sensitivity_specificity_gap,
    "cost": total,
    "cost_per_row": lambda c, **weights: div(total(c, **weights), c.n),
    "profit": total,
    "net_benefit": net_benefit,
}


def mcc(c):
    """MCC as (number, signed square); the sign in the numerator is a minus."""
    away = c.tp * c.tn - c.fp * c.fn
    square = div(away**2, (c.tp + c.fp) * c.P * c.N * (c.fn + c.tn))
    if square is None:
        return None
    return (root(square), square) if away >= 0 else (-root(square), -square)


def rooted(square):
    """The root of a fraction, ordered by the fraction."""
    return None if square is None else (root(square), square)


def prevalence_threshold(c):
    """sqrt(fpr) / (sqrt(fpr) + sqrt(tpr)) moves with fpr / (fpr + tpr), its key."""
    key = div(fpr(c), plus(fpr(c), recall(c)))
    if key is None:
        return None
    alarms, hits = root(fpr(c)), root(recall(c))
    return alarms / (alarms + hits), key


IRRATIONAL = {
    "mcc": mcc,
    "fowlkes_mallows": lambda c: rooted(times(precision(c), recall(c))),
    "g_mean": lambda c: rooted(times(recall(c), specificity(c))),
    "corner_distance": lambda c: rooted(
        plus(times(less(1, recall(c)), less(1, recall(c))), times(fpr(c), fpr(c)))
    ),
    "prevalence_threshold": prevalence_threshold,
    "information_gain": lambda c: None if c.n == 0 else (information_gain(c), None),
}
"""Each gives a number to `DIGITS` digits and, except for logarithms, a rational that orders it."""

NAMES = frozenset(RATIONAL) | frozenset(IRRATIONAL)


def metric(name, confusion, **parameters):
    """The value of one metric; None where it is undefined."""
    if name in RATIONAL:
        value = RATIONAL[name](confusion, **parameters)
        return None if value is None else Value(value, value, abs(value))
    found = IRRATIONAL[name](confusion)
    return None if found is None else Value(found[0], found[1], 1 if found[1] is None else 0)


# --- objectives and constraints


@dataclass(frozen=True)
class Term:
    """A metric with its parameters and its weight."""

    name: str
    parameters: dict = field(default_factory=dict)
    weight: Fraction = Fraction(1)


@dataclass(frozen=True)
class Sum:
    """``constant + sum of weight * metric``."""

    terms: tuple[Term, ...]
    constant: Fraction = Fraction(0)

    def value(self, confusion):
        """The value at a confusion; None where a part is undefined, or inf - inf."""
        parts = [metric(t.name, confusion, **t.parameters) for t in self.terms]
        if any(part is None for part in parts):
            return None
        if len(parts) == 1 and self.terms[0].weight == 1 and self.constant == 0:
            return parts[0]
        number, size, exact = self.constant, abs(self.constant), True
        for term, part in zip(self.terms, parts, strict=True):
            number += term.weight * part.number
            size += abs(term.weight * part.number)
            exact = exact and term.name in RATIONAL
        if number != number:
            return None
        return Value(number, number if exact else None, size)


@dataclass(frozen=True)
class Bound:
    """``expression relation number``."""

    expression: Sum
    relation: str
    number: Fraction

    def holds(self, confusion):
        """Whether it is met; an undefined value never meets it."""
        value = self.expression.value(confusion)
        if value is None:
            return False
        other = Value(self.number, key_of(self.expression, self.number), abs(self.number))
        return RELATIONS[self.relation](compare(value, other))


def key_of(expression, number):
    """The key of a plain number, to compare the values of an expression with it; None if there is none."""
    (term, *others) = expression.terms
    alone = not others and term.weight == 1 and expression.constant == 0
    if all(t.name in RATIONAL for t in expression.terms):
        return number
    if not alone or term.name == "information_gain":
        return None
    if term.name == "prevalence_threshold":
        if not 0 <= number <= 1:
            return -1 if number < 0 else 2
        return number**2 / (number**2 + (1 - number) ** 2)
    return number**2 if number >= 0 else -(number**2)


def compare(a, b):
    """The sign of a - b: exact where both have keys, to 60 digits of their size otherwise."""
    if a.key is not None and b.key is not None:
        return (a.key > b.key) - (a.key < b.key)
    if math.isinf(a.number) or math.isinf(b.number):
        return (a.number > b.number) - (a.number < b.number)
    difference = a.number - b.number
    if abs(difference) <= SAME * max(a.size, b.size, abs(a.number), abs(b.number)):
        return 0
    return 1 if difference > 0 else -1


# --- cuts


def cuts(rows):
    """Every cut, thresholds descending: "nobody", then each distinct score (-0.0 is 0.0).

    With a score of +inf no float threshold calls nobody positive, so that cut is not there.
    """
    scores = sorted({float(score) + 0.0 for score, _, _ in rows}, reverse=True)
    thresholds = scores if scores[0] == math.inf else [math.inf, *scores]
    found = []
    for threshold in thresholds:
        below = [score for score in scores if score < threshold]
        found.append(
            Cut(threshold, max(below, default=-math.inf), confusion_at(rows, threshold)),
        )
    return found


def confusion_at(rows, threshold):
    """One plain pass over the rows."""
    tp = sum((Fraction(pos) for score, pos, _ in rows if score >= threshold), Fraction(0))
    fp = sum((Fraction(neg) for score, _, neg in rows if score >= threshold), Fraction(0))
    fn = sum((Fraction(pos) for score, pos, _ in rows if not score >= threshold), Fraction(0))
    tn = sum((Fraction(neg) for score, _, neg in rows if not score >= threshold), Fraction(0))
    return Confusion(tp, fp, fn, tn)


@dataclass(frozen=True)
class Attainable:
    """The best that any cut attains for one constraint; None where it is undefined everywhere.

    And the best of the cuts that meet all others, where each can be met by itself and some cut meets these.
    """

    number: Fraction | float | None
    threshold: float | None
    met: bool
    with_others: Attainable | None = None


@dataclass(frozen=True)
class Answer:
    """`status` is optimal, infeasible or undefined; `ties` are all cuts of the best value but `best`.

    Undefined: the objective has no value at any cut at all. Infeasible: it has one at some cuts, but
    at none that meets the constraints.
    """

    status: str
    best: Cut | None = None
    value: Value | None = None
    ties: tuple[Cut, ...] = ()
    attainable: tuple[Attainable, ...] = ()


def solve(rows, objective, direction, bounds=()):
    """The best cut, its ties, or why there is none."""
    every = cuts(rows)
    feasible = [cut for cut in every if all(bound.holds(cut.confusion) for bound in bounds)]
    best = _best(feasible, objective, 1 if direction == "maximize" else -1)
    if best is not None:
        value, equal = best
        # Thresholds descend, so the first calls the fewest rows positive.
        return Answer("optimal", equal[0], value, tuple(equal[1:]))
    if _best(every, objective, 1) is None:
        return Answer("undefined")
    alone = [_attainable(every, bound) for bound in bounds]
    if len(bounds) == 1 or not all(best.met for best in alone):
        return Answer("infeasible", attainable=tuple(alone))
    reports = []
    for i, (bound, best) in enumerate(zip(bounds, alone, strict=True)):
        others = [*bounds[:i], *bounds[i + 1 :]]
        left = [cut for cut in every if all(other.holds(cut.confusion) for other in others)]
        beside = _attainable(left, bound)
        reports.append(replace(best, with_others=None if beside.number is None else beside))
    return Answer("infeasible", attainable=tuple(reports))


def _best(among, objective, sign):
    """The best value and all cuts that have it; None if it is undefined at all of them."""
    best, equal = None, []
    for cut in among:
        value = objective.value(cut.confusion)
        if value is None:
            continue
        order = 1 if best is None else sign * compare(value, best)
        if order > 0:
            best, equal = value, [cut]
        elif order == 0:
            equal.append(cut)
    return None if best is None else (best, equal)


def _attainable(every, bound):
    best = _best(every, bound.expression, 1 if bound.relation in {">=", ">"} else -1)
    if best is None:
        return Attainable(None, None, met=False)
    value, equal = best
    return Attainable(value.number, equal[0].threshold, met=bound.holds(equal[0].confusion))


def on_grid(*columns):
    """Weights as the library counts them: each rounded once to a common grid, half to even; in fractions.

    The grid has 36 bits for the largest weight, fewer where the sum of all rows would not fit 62 bits.
    """
    numbers = [Fraction(weight) for column in columns for weight in column]
    largest = max(numbers, default=Fraction(0))
    exponent = 0
    while largest and Fraction(2) ** exponent <= largest:
        exponent += 1
    while largest and Fraction(2) ** (exponent - 1) > largest:
        exponent -= 1
    step = Fraction(2) ** (exponent - min(36, 62 - len(columns[0]).bit_length()))
    return [[round(Fraction(weight) / step) * step for weight in column] for column in columns]


def added_up(values):
    """What rows add to a sum of a column: hundredths as they are, else rounded to a grid; in fractions.

    The grid is that of the weights, for values of either sign.
    """
    room = min(36, 62 - len(values).bit_length())
    cents = [math.floor(value * 100 + 0.5) for value in values]
    near = all(abs(v * 100 - c) <= abs(v) * 2.0**-44 for v, c in zip(values, cents, strict=True))
    if near and max(map(abs, values)) * 100 < 2**room:
        return [Fraction(cent, 100) for cent in cents]
    sizes = on_grid([abs(value) for value in values])[0]
    return [size if value >= 0 else -size for size, value in zip(sizes, values, strict=True)]


def solve_rows(rows, worth, direction, bounds=()):
    """The best cut of rows that are worth something: ``(value, threshold, ties)``, None if there is none.

    A row is ``(score, label, weight, values by column)``; values are times the weight already. `worth`
    gives for each cell its number, and numbers by column. Bounds are ``(worth, relation, number)``.
    """

    def total(worth, threshold):
        found = Fraction(0)
        for score, label, weight, values in rows:
            called = score >= threshold
            cell = ("tp" if called else "fn") if label else ("fp" if called else "tn")
            number, columns = worth.get(cell, (0, {}))
            found += Fraction(number) * weight
            found += sum((Fraction(w) * values[name] for name, w in columns.items()), Fraction(0))
        return found

    def holds(threshold):
        signs = ((total(one, threshold) - number, relation) for one, relation, number in bounds)
        return all(RELATIONS[relation](sign) for sign, relation in signs)

    scores = sorted({float(score) + 0.0 for score, *_ in rows}, reverse=True)
    thresholds = scores if scores[0] == math.inf else [math.inf, *scores]
    values = {t: total(worth, t) for t in thresholds if holds(t)}
    if not values:
        return None
    best = max(values.values()) if direction == "maximize" else min(values.values())
    first, *ties = [t for t, value in values.items() if value == best]
    return best, first, ties


# --- several thresholds


def joint(segments, objective, direction, bounds=(), *, each=(), gaps=()):
    """The best value of one cut per segment, by trying all combinations; None if none meets the bounds.

    `segments` are lists of rows. Bounds in `each` segment do not apply where they are undefined at all of
    its cuts, and neither does the bounds on the `gaps`, (metric, relation, number).
    """
    sign = 1 if direction == "maximize" else -1
    best = None
    for combination in itertools.product(*(_allowed(cuts(rows), each) for rows in segments)):
        if not all(_close(segments, combination, *gap) for gap in gaps):
            continue
        total = added(cut.confusion for cut in combination)
        value = objective.value(total)
        if value is None or not all(bound.holds(total) for bound in bounds):
            continue
        if best is None or sign * compare(value, best) > 0:
            best = value
    return None if best is None else best.number


def added(confusions):
    """The sum of confusions."""
    columns = zip(*((c.tp, c.fp, c.fn, c.tn) for c in confusions), strict=True)
    return Confusion(*(sum(column, Fraction(0)) for column in columns))


def _allowed(every, each):
    for bound in each:
        if any(bound.expression.value(cut.confusion) is not None for cut in every):
            every = [cut for cut in every if bound.holds(cut.confusion)]
    return every


def _close(segments, combination, name, relation, number):
    rates = []
    for rows, cut in zip(segments, combination, strict=True):
        if all(metric(name, one.confusion) is None for one in cuts(rows)):
            continue
        rate = metric(name, cut.confusion)
        if rate is None:
            return False
        rates.append(rate.number)
    spread = max(rates) - min(rates) if rates else Fraction(0)
    return RELATIONS[relation]((spread > number) - (spread < number))
