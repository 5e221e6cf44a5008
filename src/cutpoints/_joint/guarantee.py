"""Joint thresholds whose constraints hold on new data: one walk along a frontier that is fixed in advance.

Part of the rows, the pilot, fixes the frontier of the segments. From one of its corners to the next a single
threshold falls, so all thresholds move along one path, and a row has one number: how far along the path it is
called positive. The other rows are certified as `find` certifies one threshold, on these numbers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from cutpoints._data.read import from_counts
from cutpoints._joint.frontier import FrontierCuts
from cutpoints._search.guarantee import certify
from cutpoints._search.linear_goal import linear_goal
from cutpoints._search.points import Points
from cutpoints._validate import check_confidence, generator
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cutpoints._data.data import Data
    from cutpoints._joint.problem import Problem
    from cutpoints._result import Guarantee
    from cutpoints._search.guarantee import Confidence

PILOT_SHARE = 1 / 3
"""The part of the rows on which the frontier is fixed: many thresholds need more of them than one."""


class Certified(NamedTuple):
    """The cut of each segment, None if nothing was certified; and what is promised."""

    cuts: NDArray[np.intp] | None
    guarantee: Guarantee


class Certifier(NamedTuple):
    """What is asked of the constraints on new data."""

    confidence: Confidence
    random_state: Any

    @classmethod
    def of(cls, confidence: Any, random_state: Any, data: Data, *, each: Any, gap: Any) -> Certifier:
        """Check what is asked; raise for what cannot be certified."""
        check_confidence(confidence, "find_joint", expectation=True, parameter="guarantee")
        for name, given in (("each", each), ("gap", gap)):
            if given not in (None, (), []):
                raise InvalidParameterError(
                    name,
                    caller="find_joint",
                    expected="left out when 'guarantee' is given: only what holds over all rows is certified",
                    got=given,
                    hint="to certify each segment by itself use find_by(guarantee=...).",
                )
        if data.weighted or data.counted:
            raise InvalidParameterError(
                "guarantee",
                caller="find_joint",
                expected="left out unless every row counts as one: only independent rows can be certified",
                got="rows with weights" if data.weighted else "rows that are counted already",
            )
        return cls(confidence, random_state)

    def certify(self, problem: Problem) -> Certified:
        """Return the best of the thresholds on the path at which the constraints are certified."""
        linear_goal(problem.goal, problem.cuts.total, caller=problem.caller)  # raises for other metrics
        cuts = problem.cuts
        every = np.array(cuts.added())
        rng = generator(self.random_state, cuts.thresholds, *every, caller=problem.caller)
        pilot = rng.binomial(every, PILOT_SHARE)
        corner = FrontierCuts(Points.of(cuts.split(pilot))).entry(cuts)
        path = np.argsort(corner, kind="stable")  # the cuts of a corner are of one segment, and descend
        # At inf is what any threshold calls positive.
        scores = np.where(corner[path] > 0, -np.arange(float(len(path))), np.inf)
        pos, neg = (every - pilot)[:, path]
        source = from_counts(scores, positives=pos, negatives=neg).stream()
        found, guarantee = certify(source, problem.goal, self.confidence, self.random_state)
        guarantee = replace(
            guarantee,
            pilot_rows=guarantee.pilot_rows + int(pilot.sum()),
            more_rows=guarantee.more_rows and math.ceil(guarantee.more_rows / (1 - PILOT_SHARE)),
        )
        if found.choice is None:
            return Certified(None, guarantee)
        passed = path[scores >= found.cuts.thresholds[found.choice.best]]
        return Certified(cuts.first[:-1] + np.bincount(cuts.segment[passed]) - 1, guarantee)
