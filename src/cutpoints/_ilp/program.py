"""The matrices: minimize ``w @ x`` subject to ``A @ x >= b``, bounds, and integers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cutpoints._extras import needs
from cutpoints._ilp.forms import whole_multiple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from scipy.sparse import csr_array

    from cutpoints._ilp.forms import Form, Side
    from cutpoints._ilp.margin import Margin
    from cutpoints._kernel.cuts import Cuts

RESOLVED_COST = 1e6
"""Whole-numbered costs up to this are left as they are, so that one unit is well above tolerances."""
LARGEST_COST = 1e4
"""Costs that are not small integers are scaled to this size: far above the solver's tolerances."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Instances:
    """What has a pair (z, y): a row of the data, or all rows of a distinct score together.

    `labels` are their own, or that of the majority; `pos` and `neg` the weights of their positives and
    negatives, and `bucket` says which distinct score it is, ascending.
    """

    labels: NDArray[np.uint8]
    pos: Floats
    neg: Floats
    bucket: NDArray[np.intp]

    @classmethod
    def grouped(cls, cuts: Cuts) -> Instances:
        """Return one instance for each distinct score."""
        pos, neg = score_weights(cuts)
        return cls((pos >= neg).astype(np.uint8), pos, neg, np.arange(len(pos)))


@dataclass(frozen=True)
class Cost:
    """A cost vector. What is maximized is ``offset - unit * (w @ x)``."""

    w: Floats
    offset: Fraction
    unit: Fraction
    rounding: float = 0.0
    """How far ``w @ x`` may be off at any x, because large terms canceled in w."""

    def worth(self, total: float) -> float:
        """Return the value of the form at a total cost."""
        return float(self.offset) - float(self.unit) * total


@dataclass(frozen=True, eq=False)
class Program:
    """A program without its cost, which changes from step to step where the goal is a ratio.

    `blocks` names the columns and `row_blocks` the rows, as (prefix, how many); a prefix that
    stands for one thing only is its name.
    """

    A: csr_array
    b: Floats
    lower: Floats
    upper: Floats
    integer: NDArray[np.bool_]
    blocks: tuple[tuple[str, int], ...]
    row_blocks: tuple[tuple[str, int], ...]
    decisions: slice
    """The columns that say whether a row (document) or a distinct score (chain) is positive."""
    bucket: NDArray[np.intp]
    """Of each decision: which distinct score it is about, ascending."""
    pos: Floats
    neg: Floats
    errors: slice | None = None
    """The columns z of the document, where the objective counts errors."""

    def cost(self, form: Form, positives: Fraction) -> Cost:
        """Return the cost whose minimum is the maximum of the form.

        Where there are columns z, as much of the objective as they can say is said by them: for
        accuracy that is all of it, each error costs 1, and for accuracy and recall it is the
        document's ``alpha z - beta y``.
        """
        miss = max(Fraction(0), -form.fp) if self.errors is not None else Fraction(0)
        hit, alarm = form.tp - miss, form.fp + miss
        multiple = whole_multiple(miss, hit, alarm)
        w = np.zeros(len(self.lower))
        hits, alarms = -float(hit * multiple) * self.pos, -float(alarm * multiple) * self.neg
        w[self.decisions] = hits + alarms
        rounding = 4 * float(np.finfo(np.float64).eps) * float(np.abs(hits).sum() + np.abs(alarms).sum())
        if self.errors is not None:
            w[self.errors] = float(miss * multiple) * np.abs(self.pos - self.neg)
        largest = float(np.abs(w).max(initial=0.0))
        if largest > RESOLVED_COST or 0 < largest < 1:  # of small weights, too, which a solver takes for none
            scale = Fraction(LARGEST_COST) / Fraction(largest)
            w *= float(scale)
            rounding *= float(scale)
            multiple *= scale
        w += 0.0  # no negative zeros in files
        # Rows of one score and both labels: the minority errs if the majority does not.
        minority = np.minimum(self.pos, self.neg)
        certain = sum(map(Fraction, minority[minority > 0].tolist()), Fraction(0)) if miss else Fraction(0)
        return Cost(w, form.constant + miss * (positives - certain), 1 / multiple, rounding)

    def names(self) -> list[str]:
        """Return the names of the columns."""
        return _names(self.blocks)

    def row_names(self) -> list[str]:
        """Return the names of the rows."""
        return _names(self.row_blocks)


def _names(blocks: tuple[tuple[str, int], ...]) -> list[str]:
    return [
        name
        for prefix, count in blocks
        for name in ([prefix] if count < 0 else [f"{prefix}{i}" for i in range(1, count + 1)])
    ]


def score_weights(cuts: Cuts) -> tuple[Floats, Floats]:
    """Return the weights of the distinct scores, ascending, from the running sums of all cuts."""
    # "No positives" is the first cut unless a score is +inf; then its zero is put in front here.
    before = np.zeros(int(_infinite(cuts)), dtype=np.int64)
    decode = cuts.summary.grid.decode
    pos, neg = (np.diff(np.concatenate([before, running]))[::-1] for running in (cuts.tp, cuts.fp))
    return decode(pos), decode(neg)


def _infinite(cuts: Cuts) -> bool:
    return cuts.summary.high == math.inf


def chain(cuts: Cuts, sides: Sequence[Side]) -> Program:
    """Build the chain: one variable per distinct score, ascending, and ``y[k] <= y[k+1]``.

    Each row has one +1 and one -1: the matrix is that of a network, totally unimodular, and with
    whole-numbered bounds every vertex is whole. So the linear relaxation is exact. Rows of
    constraints destroy that, and make the variables binary; rows that only keep a metric defined
    fix the topmost (or lowest) variables instead, and do not.
    """
    with needs("the integer program", extra="ilp"):
        from scipy.sparse import coo_array, csr_array, vstack

    pos, neg = score_weights(cuts)
    count = len(pos)
    lower, upper = np.zeros(count), np.ones(count)
    if _infinite(cuts):
        lower[-1] = 1.0  # no threshold is above an infinite score
    kept: list[Side] = []
    for side in sides:
        if side.defines and _fix(side.meets, lower, upper):
            continue
        kept.append(side)
    k = np.arange(count - 1)
    data = np.concatenate([np.full(count - 1, -1.0), np.ones(count - 1)])
    place = (np.concatenate([k, k]), np.concatenate([k, k + 1]))
    rows: Any = coo_array((data, place), shape=(count - 1, count))
    A = csr_array(vstack([rows, *(csr_array(_coefficients(s, pos, neg)[None, :]) for s in kept)]))
    return Program(
        A=A,
        b=np.append(np.zeros(count - 1), [side.rhs for side in kept]),
        lower=lower,
        upper=upper,
        integer=np.full(count, bool(kept)),
        blocks=(("y", count),),
        row_blocks=(("order", count - 1), *((side.name, -1) for side in kept)),
        decisions=slice(0, count),
        bucket=np.arange(count),
        pos=pos,
        neg=neg,
    )


def _fix(meets: NDArray[np.bool_], lower: Floats, upper: Floats) -> bool:
    """Say by bounds which cuts are allowed, if they are neighbors; return whether they are.

    Cuts descend: the j-th of the cuts calls the j topmost scores positive, counted from 0, or from
    1 where a score is infinite.
    """
    allowed = np.flatnonzero(meets)
    if len(allowed) == 0 or allowed[-1] - allowed[0] + 1 != len(allowed):
        return False
    count = len(lower)
    shift = count + 1 - len(meets)  # 1 without the cut "no positives"
    least, most = int(allowed[0]) + shift, int(allowed[-1]) + shift
    lower[count - least :] = 1.0
    upper[: count - most] = 0.0
    return True


def _coefficients(side: Side, pos: Floats, neg: Floats) -> Floats:
    return side.tp * pos + side.fp * neg + 0.0


def document(
    rows: Instances, margin: Margin, sides: Sequence[Side], *, errors: bool, whole_errors: bool, fixed: bool
) -> Program:
    """Build the document's program: z (errors) and y (labels) of every instance, and t, in this order.

    Four rows for each row of the data, in blocks: ``z + y >= label``, ``z - y >= -label``,
    ``score*y + t >= score + epsilon``, ``(score - 1)*y - t >= -1``. The last two are written for
    any limits of t; with the document's own they are as printed. `errors`: with z; without, the
    first two blocks are left out, as in the document's program for recall. `whole_errors`: z is
    binary, as the document has it. It need not be: where y is 0 or 1, so is the least z that the rows
    allow, and HiGHS then branches on y alone. `fixed`: the topmost score is infinite, and always
    called positive.
    """
    with needs("the integer program", extra="ilp"):
        from scipy.sparse import coo_array, csr_array, vstack

    n = len(rows.bucket)
    score = margin.scores[rows.bucket]
    each, one = np.arange(n), np.ones(n)
    first = n if errors else 0
    y, t = first + each, np.full(n, first + n)
    below, above = score - (margin.low - margin.epsilon), score - margin.high
    blocks: list[tuple[Any, Any, Any]] = []  # (columns, values) of each block, and its right-hand side
    label = rows.labels.astype(np.float64)
    if errors:
        blocks.append(((each, y), (one, one), label))
        blocks.append(((each, y), (one, -one), 0.0 - label))
    blocks.append(((y, t), (below, one), score + margin.epsilon))
    blocks.append(((y, t), (above, -one), np.full(n, -margin.high)))
    width = first + n + 1
    data = np.concatenate([v for _, values, _ in blocks for v in values])
    columns = np.concatenate([c for places, _, _ in blocks for c in places])
    lines = np.concatenate([each + i * n for i in range(len(blocks)) for _ in (0, 1)])
    matrix: Any = csr_array(coo_array((data, (lines, columns)), shape=(len(blocks) * n, width)))
    matrix.eliminate_zeros()
    pos, neg = rows.pos, rows.neg
    extra = []
    for side in sides:
        line = np.zeros(width)
        line[y] = _coefficients(side, pos, neg)
        extra.append(csr_array(line[None, :]))
    low, high = margin.bounds
    lower = np.append(np.zeros(first + n), low)
    if fixed:
        lower[y[rows.bucket == rows.bucket.max()]] = 1.0
    names = (("miss", n), ("alarm", n)) if errors else ()
    return Program(
        A=csr_array(vstack([matrix, *extra])),
        b=np.concatenate([*(rhs for _, _, rhs in blocks), [side.rhs for side in sides]]),
        lower=lower,
        upper=np.append(np.ones(first + n), high),
        integer=np.concatenate([np.full(first, whole_errors), np.ones(n, dtype=np.bool_), [False]]),
        blocks=((("z", n),) if errors else ()) + (("y", n), ("t", -1)),
        row_blocks=(*names, ("below", n), ("above", n), *((side.name, -1) for side in sides)),
        decisions=slice(first, first + n),
        bucket=rows.bucket,
        pos=pos,
        neg=neg,
        errors=slice(0, n) if errors else None,
    )
