"""Bounds on automatic decisions that hold on new data: each side is certified by itself.

The precision of automatic yes depends on the upper cut alone, the share of right automatic no on the lower
one. With k bounds each is certified at a k-th of the risk, so that all of them hold together with the asked
confidence; among the certified cuts the best pair may be chosen freely.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._goal import Goal
from cutpoints._result import Guarantee
from cutpoints._search.guarantee import certify_cuts, count_rows
from cutpoints._validate import check_confidence
from cutpoints._wording import Words
from cutpoints.exceptions import InvalidParameterError
from cutpoints.metrics.counts import predicted_positive
from cutpoints.metrics.metric import Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._band.goal import BandGoal
    from cutpoints._kernel.cuts import Cuts

_SIDES = {"precision": 0, "fdr": 0, "npv": 1, "false_omission_rate": 1}
"""The shares that one cut decides: 0 for the upper one, 1 for the lower one."""


class Allowed(NamedTuple):
    """The cuts that may be the upper and the lower one, and what is promised."""

    sides: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    guarantee: Guarantee


def check_guarantee(wanted: BandGoal, guarantee: Any, *, weighted: bool) -> None:
    """Raise for what cannot be promised."""
    check_confidence(guarantee, "find_band", parameter="guarantee")
    if weighted:
        raise InvalidParameterError(
            "guarantee",
            caller="find_band",
            expected="left out for rows with weights: only independent rows can be certified",
            got=guarantee,
        )
    if wanted.columns:
        raise InvalidParameterError(
            "guarantee",
            caller="find_band",
            expected=f"left out where columns are added up, here {wanted.columns[0]}",
            got=guarantee,
        )
    for one in wanted.constraints:
        if not isinstance(one.expression, Metric) or one.expression.name not in _SIDES:
            raise InvalidParameterError(
                "subject_to",
                caller="find_band",
                expected=f"bounds on {', '.join(_SIDES)} when 'guarantee' is given: each depends on one end "
                "of the band, and has an exact test",
                got=Words(f"the constraint '{one}'"),
            )
    if not wanted.constraints:
        raise InvalidParameterError(
            "guarantee",
            caller="find_band",
            expected="used with a constraint, which is what it guarantees",
            got=guarantee,
            hint="for example subject_to=['precision >= 0.95', 'npv >= 0.99'].",
        )


def with_no_automatic_no(cuts: Cuts) -> Cuts:
    """Return the cuts as numbers of rows, with one at -inf: below it there is no row, on any data.

    No threshold that is a score can be that: new rows below it would be called negative without a test.
    """
    cuts = count_rows(cuts)
    if cuts.thresholds[-1] == -np.inf:
        return cuts
    dtype = cuts.thresholds.dtype.type
    last = np.array([-np.inf], dtype=dtype)
    return replace(
        cuts,
        thresholds=np.append(cuts.thresholds, last),
        below=np.append(cuts.below, last),
        tp=np.append(cuts.tp, cuts.tp[-1]),
        fp=np.append(cuts.fp, cuts.fp[-1]),
    )


def certified(wanted: BandGoal, cuts: Cuts, confidence: float, random_state: Any) -> Allowed:
    """Certify the cuts of both sides; a side without decisions, and one without bounds, needs no test."""
    sides = np.ones((2, len(cuts)), dtype=np.bool_)
    risk = float((1 - Fraction(str(float(confidence)))) / len(wanted.constraints))
    towards = Goal(predicted_positive, "maximize"), Goal(predicted_positive, "minimize")
    found = []
    for one in wanted.constraints:
        assert isinstance(one.expression, Metric)
        side = _SIDES[one.expression.name]
        found.append(certify_cuts(cuts, one, towards[side], risk, random_state))
        sides[side] &= found[-1].mask
    certified_cuts = int(sides.sum())
    sides[0] |= cuts.thresholds == np.inf
    sides[1] |= cuts.thresholds == -np.inf
    rows = int(cuts.summary.positives + cuts.summary.negatives)
    pilot = max(one.pilot_rows for one in found)
    more = [one.more_rows for one in found]
    guarantee = Guarantee(
        confidence=confidence,
        method="learn then test",
        pilot_rows=pilot,
        calibration_rows=rows - pilot,
        tested=sum(one.tested for one in found),
        certified=certified_cuts,
        more_rows=None if None in more else max(number for number in more if number is not None),
    )
    return Allowed((sides[0], sides[1]), guarantee)
