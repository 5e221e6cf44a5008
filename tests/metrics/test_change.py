"""How formulas change from one confusion to another: against fractions, for the whole catalogue."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import assume, example, given
from hypothesis import strategies as st

from cutpoints._goal import objective
from cutpoints.metrics._change import Change
from cutpoints.metrics._root import Root
from cutpoints.metrics.expression import SLACK
from strategies import single_objectives, weighted_sums

sizes = st.one_of(st.floats(1e-60, 1e60), st.integers(1, 1000).map(float), st.just(0.0))
steps = st.one_of(st.floats(1e-60, 1.0), st.sampled_from([0.0, 1.0, 1e-9, 1e-30]))


@st.composite
def two_confusions(draw):
    """Exact counts at one cut, and what lies between it and another: a part of what is on one side."""
    tp, fp, fn, tn = (draw(sizes) for _ in range(4))
    more = draw(st.booleans())  # the other cut calls more rows positive
    by = [draw(steps) * room for room in ((fn, tn) if more else (tp, fp))]
    return (tp, fp, fn, tn), by if more else [-x for x in by]


@given(
    two_confusions(),
    st.one_of(single_objectives(), weighted_sums()).map(lambda goal: goal.text),
    st.sampled_from([0.0, 1e-12, 1e-9]),
    st.lists(st.sampled_from([-1, 0, 1]), min_size=6, max_size=6),
)
@example(((3.0, 1.0, 2.0, 5.0), [1e-40, 1e-41]), "mcc", 0.0, [0] * 6)
@example(((3.0, 1.0, 2.0, 5.0), [1e-40, 1e-41]), "mcc", 1e-9, [1, -1, 1, -1, 1, -1])
@example(((3.0, 0.0, 0.0, 5.0), [-1e-40, 0.0]), "precision_recall_min", 0.0, [0] * 6)
@example(((1.0, 1.0, 1.0, 1.0), [-0.5, 0.25]), "sensitivity_specificity_gap", 0.0, [0] * 6)
def test_change_is_known_to_a_part_of_its_size(data, name, off, signs):
    """However little of the values it is, and if counts are a bit off by no more than 32 times that."""
    here, (tp, fp) = data
    exact = [Fraction(x) for x in here]
    there = [a + b for a, b in zip(exact, map(Fraction, (tp, fp, -tp, -fp)), strict=True)]
    assume(all(x >= 0 for x in there))
    expression = objective(name)
    names = ("tp", "fp", "fn", "tn")
    values = [expression.evaluate(**dict(zip(names, x, strict=True))) for x in (exact, there)]
    counts = [x * (1 + off * sign) for x, sign in zip(here, signs[:4], strict=True)]
    tp, fp = tp * (1 + off * signs[4]), fp * (1 + off * signs[5])
    changes = [Change(a, np.array([b])) for a, b in zip(counts, (tp, fp, -tp, -fp), strict=True)]
    try:
        with np.errstate(all="ignore"):
            change = expression.evaluate(**dict(zip(names, changes, strict=True)))
    except ZeroDivisionError:
        return  # nothing is said
    by, size = float(change.by[0]), float(change.size[0])

    if not (math.isfinite(by) and math.isfinite(size) and abs(by) > 1e-300):
        return
    assume(all(isinstance(value, (Fraction, Root)) or math.isfinite(value) for value in values))
    values = [value.fraction if isinstance(value, Root) else Fraction(value) for value in values]
    truth = values[1] - values[0]
    slack, digits = Fraction(SLACK) + 32 * Fraction(off), Fraction(1, 10**80)
    assert abs(truth - Fraction(by)) <= slack * Fraction(size) + digits * Fraction(change.bulk)
    assert abs(values[0] - Fraction(change.at)) <= slack * Fraction(change.bulk)


def test_change_of_values_that_agree_in_all_digits():
    """A hundred digits below the values, the sign of the change is sure."""
    counts = {"tp": 300.0, "fp": 100.0, "fn": 50.0, "tn": 700.0}
    by = {"tp": 1e-90, "fp": 1e-90, "fn": -1e-90, "tn": -1e-90}
    change = objective("0.5*precision + 0.5*mcc").evaluate(
        **{name: Change(counts[name], np.array([by[name]])) for name in counts}
    )

    assert abs(change.by[0]) > 1e-3 * change.size[0] > 0
