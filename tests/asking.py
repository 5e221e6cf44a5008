"""The same question to `find` and to the oracle, and how their answers are compared."""

import contextlib
import math
from fractions import Fraction

import numpy as np
import pytest

import cutpoints as cp
from cutpoints._data import arrays
from cutpoints._kernel import binning as _buckets
from cutpoints._kernel import cuts as _cuts
from cutpoints._kernel import sums as _sums
from cutpoints._kernel import unique_scores as distinct
from cutpoints._search import optimum as choice
from oracle import Sum, Term

METHODS = ("sweep", "narrow")


def ask(problem, direction, objective, **options):
    """Call `find` with what the problem holds."""
    options[direction] = objective
    if problem.labels is None:
        data = cp.counted(problem.scores, positives=problem.positives, negatives=problem.negatives)
        return cp.find(data, **options)
    return cp.find(problem.labels, problem.scores, sample_weight=problem.weights, **options)


@contextlib.contextmanager
def small_steps(*, buckets=4, few=1, block=3, sample=5, keep=10**9, sorts=None):
    """Make the narrow search take several passes, ranges, blocks and threads on a few rows.

    And compare even two cuts as many are compared.
    `keep`: one row in so many may be copied by the source, so 1 copies whatever is asked for.
    `sorts`: fewer rows than that are sorted rather than counted.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_buckets, "BUCKETS", buckets)
        as_many(patch, 0)
        patch.setattr(_cuts, "FEW", 0)
        patch.setattr(choice, "HANDFUL", 0)
        patch.setattr(choice, "MANY", 0)
        patch.setattr(arrays, "LAST", few)
        patch.setattr(arrays, "BLOCK", block)
        patch.setattr(distinct, "LUMP", 2)
        patch.setattr(distinct, "BLOCK_ROWS", block)
        patch.setattr(arrays, "SAMPLE", sample)
        patch.setattr(arrays, "FEW", keep)
        patch.setattr(arrays.ArraySource, "_worth_a_sort", lambda _: block if sorts is None else sorts)
        yield


def as_many(patch, most):
    """Compare more cuts than so many on whole arrays."""
    for module in (_sums, _cuts, choice):
        patch.setattr(module, "VECTOR", most)


def meaning(metric):
    """The oracle's reading of an entry of the catalogue."""
    return Sum((Term(metric.name, dict(metric.parameters)),))


def exact(cut):
    """A cut of the oracle as plain numbers: threshold, interval and confusion."""
    counts = {name: float(count) for name, count in cut.confusion.to_dict().items()}
    return cut.threshold, (cut.low, cut.threshold), counts


def plain(cut):
    """A cut (or a solution) of the package in the same form."""
    counts = {name: float(count) for name, count in cut.confusion.to_dict().items()}
    return cut.threshold, tuple(cut.interval), counts


def everything(solution):
    """All that sweep and narrow must agree on, bit for bit."""
    if solution.status == "infeasible":
        return [repr(one) for one in solution.attainable]
    return [
        plain(solution),
        solution.value,
        solution.counts,
        [plain(tie) for tie in solution.ties],
        solution.certificate.lower,
        solution.certificate.upper,
    ]


def ulps(expected, actual):
    """How many floats lie between the two; 0 for equal infinities."""
    if expected == actual:
        return 0
    return abs(expected - actual) / math.ulp(max(abs(expected), abs(actual)))


def assert_value(number, actual, *, rational):
    """A rational value is rounded once from the truth; an irrational one may be one float off."""
    expected = float(number)
    if rational:
        assert expected == actual
    else:
        assert ulps(expected, actual) <= 1


def assert_answer(expected, solution, *, rational):
    """The solution is the oracle's answer: threshold, interval, confusion, value, ties, status."""
    assert expected.status == solution.status
    if expected.status == "infeasible":
        assert None is solution.threshold
        assert len(expected.attainable) == len(solution.attainable)
        for best, told in zip(expected.attainable, solution.attainable, strict=True):
            assert_attainable(best, told)
            assert (best.with_others is None) == (told.with_others is None)
            if best.with_others is not None:
                assert_attainable(best.with_others, told.with_others)
        return
    assert exact(expected.best) == plain(solution)
    assert expected.best.confusion.to_dict() == solution.counts
    assert [exact(cut) for cut in expected.ties] == [plain(tie) for tie in solution.ties]
    assert_value(expected.value.number, solution.value, rational=rational)
    assert solution.value == solution.certificate.lower == solution.certificate.upper


def assert_attainable(best, told):
    """What is told of a constraint is the oracle's best."""
    assert best.met == told.met
    if best.number is None:
        assert math.isnan(told.value)
        assert math.isnan(told.threshold)
    else:
        assert ulps(float(best.number), told.value) <= 1
        assert best.threshold == told.threshold


def true_sum(weights):
    """The exact sum of floats or whole numbers; floats are fractions over powers of two."""
    ratios = [weight.as_integer_ratio() for weight in weights.tolist()]
    bottom = max((below for _, below in ratios), default=1)
    return Fraction(sum(above * (bottom // below) for above, below in ratios), bottom)


def replay(scores, labels, threshold, weights=None):
    """The confusion by one plain pass over the input, in fractions."""
    called = np.asarray(scores) >= threshold
    positive = np.asarray(labels) == 1

    def mass(mask):
        return np.count_nonzero(mask) if weights is None else true_sum(weights[mask])

    return {
        "tp": mass(called & positive),
        "fp": mass(called & ~positive),
        "fn": mass(~called & positive),
        "tn": mass(~called & ~positive),
    }
