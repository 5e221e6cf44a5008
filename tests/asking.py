"""The same question to `find` and to the oracle, and how their answers are compared."""

import contextlib
import math

import numpy as np
import pytest

import cutpoints as cp
from cutpoints._data import arrays
from cutpoints._kernel import binning
from oracle import RATIONAL, Sum, Term, on_grid

METHODS = ("sweep", "narrow")
INEXACT = ("information_gain", "prevalence_threshold")
TOLERANCE = 2.0**-40
"""Within which values are called equal where no exact comparison is made."""


def ask(problem, direction, objective, **options):
    """Call `find` with what the problem holds."""
    options[direction] = objective
    if problem.labels is None:
        data = cp.from_counts(problem.scores, positives=problem.positives, negatives=problem.negatives)
        return cp.find(data, **options)
    return cp.find(problem.labels, problem.scores, sample_weight=problem.weights, **options)


@contextlib.contextmanager
def small_steps(*, buckets=4, few=1, block=3, sample=5):
    """Make the narrow search take several passes, ranges, blocks and threads on a few rows.

    `few`: up to this many rows are sorted rather than counted.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(binning, "BUCKETS", buckets)
        patch.setattr(arrays, "BATCH_ROWS", block)
        patch.setattr(arrays, "BLOCK_ROWS", block)
        patch.setattr(arrays, "SAMPLE_ROWS", sample)
        patch.setattr(arrays, "DIRECT_ROWS", few)
        yield


def is_rational(wanted):
    """Whether the value is a fraction."""
    return all(term.name in RATIONAL for term in wanted.terms)


def is_exact(wanted):
    """Whether cuts are told apart exactly: fractions, and roots by themselves."""
    return is_rational(wanted) or (len(wanted.terms) == 1 and wanted.terms[0].name not in INEXACT)


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
        [plain(tie) for tie in solution.ties],
        solution.certificate.lower,
        solution.certificate.upper,
    ]


def ulps(expected, actual):
    """How many floats lie between the two; 0 for equal infinities."""
    if expected == actual:
        return 0
    return abs(expected - actual) / math.ulp(max(abs(expected), abs(actual)))


def assert_value(number, actual, wanted):
    """An exact value is rounded once from the truth; others are as good as floats."""
    expected = float(number)
    if is_rational(wanted):
        assert expected == actual
    elif is_exact(wanted):
        assert ulps(expected, actual) <= 1
    else:
        assert expected == pytest.approx(actual, rel=TOLERANCE, abs=TOLERANCE)


def assert_answer(expected, solution, wanted):
    """The solution is the oracle's answer: threshold, interval, confusion, value, ties, status."""
    if not is_exact(wanted):
        assert_close(expected, solution, wanted)
        return
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
    assert [exact(cut) for cut in expected.ties] == [plain(tie) for tie in solution.ties]
    assert_value(expected.value.number, solution.value, wanted)
    assert solution.value == solution.certificate.lower == solution.certificate.upper


def assert_close(expected, solution, wanted):
    """The best cut of the oracle is the solution or one of its ties, which are as good to `TOLERANCE`."""
    assert expected.status == solution.status
    if expected.status == "optimal":
        assert_value(expected.value.number, solution.value, wanted)
        found = [solution.threshold, *(tie.threshold for tie in solution.ties)]
        assert {expected.best.threshold, *(cut.threshold for cut in expected.ties)} <= set(found)


def assert_attainable(best, told):
    """What is told of a constraint is the oracle's best."""
    assert best.met == told.met
    if best.number is None:
        assert math.isnan(told.value)
        assert math.isnan(told.threshold)
    elif any(name in told.constraint for name in (*INEXACT, " + ", " - ", "*")):
        assert float(best.number) == pytest.approx(told.value, rel=TOLERANCE, abs=TOLERANCE)
    else:
        assert ulps(float(best.number), told.value) <= 1
        assert best.threshold == told.threshold


def replay(scores, labels, threshold, weights=None):
    """The confusion by one plain pass over the input, as the package counts weights, rounded once."""
    called = np.asarray(scores) >= threshold
    positive = np.asarray(labels) == 1
    if weights is not None and len(set(weights.tolist())) > 1:
        weights = np.array(list(map(float, on_grid(weights.tolist())[0])))  # a float holds each of them

    def total(mask):
        return np.count_nonzero(mask) if weights is None else math.fsum(weights[mask])

    return {
        "tp": total(called & positive),
        "fp": total(called & ~positive),
        "fn": total(~called & positive),
        "tn": total(~called & ~positive),
    }
