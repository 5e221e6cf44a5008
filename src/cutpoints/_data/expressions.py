"""The columns that queries group by: element-wise expressions of narwhals, and nothing else.

What engines disagree on is kept out. NaN never meets a comparison: missing scores become 0 and get
a code. Numbers are cut off before they are rounded down, rounded down before they become integers,
and written as float64. Aggregations are elementary, ``col(x).sum()`` and its like, on columns that
were made before: an expression inside an aggregation is silently wrong on some engines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from cutpoints._data.bins import LARGEST, ROOT, TINIEST, Piece, on_root, scales

if TYPE_CHECKING:
    from collections.abc import Sequence

    from narwhals.dtypes import DType

SCORE, CODE, KEY, ROWS, LOW, HIGH = "s", "c", "k", "n", "lo", "hi"
"""The columns of our queries; the user's own names are left behind in the first step."""
NEGATIVE, POSITIVE, MINUS, NO_LABEL, OTHER, NO_SCORE = range(6)
"""What a row is: its label, or what is wrong with it."""
CODES = 8
GAP = -1
"""The key of rows that are between the asked ranges."""

_EDGE = 2.0**-9
FINE, _WIDE, _CURVED = 2.0**13, 2.0**6, 2.0**15
"""Buckets per unit between 0 and 1, beyond that up to `_WIDE`, and of the root; see `first_bucket`."""


def number(value: Any) -> nw.Expr:
    """Return a constant that no engine takes for a decimal or a float32, for columns of nothing else.

    PostgreSQL takes 0.5 for a decimal. Beside a float64 that does no harm, so there plain numbers are
    written: on Spark each further cast takes a millisecond or more before the query starts.
    """
    if float(value).is_integer() and abs(value) < 1 << 31:
        return nw.lit(int(value)).cast(nw.Float64())
    return nw.lit(float(value), dtype=nw.Float64())


def floats(name: str, dtype: DType) -> tuple[nw.Expr, nw.Expr]:
    """Return a column as float64 with 0 for what is missing, and where it is missing."""
    raw = nw.col(name)
    missing = raw.is_null()
    if dtype == nw.Boolean:
        value = nw.when(raw).then(number(1)).otherwise(number(0))
    else:
        value = raw.cast(nw.Float64())
        if not dtype.is_integer():
            missing = missing | value.is_nan()
    return nw.when(missing).then(number(0)).otherwise(value), missing


def flag(condition: nw.Expr) -> nw.Expr:
    """Return 1 where a condition holds, else 0."""
    return nw.when(condition).then(number(1)).otherwise(number(0))


def label_code(name: str, dtype: DType, positive: Any, other: Any) -> nw.Expr:
    """Return the code of each label; `other` is the second label where `positive` is given.

    Without `positive`, 1 is positive, and 0 or -1 is negative.
    """
    if dtype.is_numeric() or dtype == nw.Boolean:
        value, missing = floats(name, dtype)
        constant: Any = number
    else:
        value, missing = nw.col(name), nw.col(name).is_null()
        if dtype != nw.String:
            value = value.cast(nw.String())
        constant = nw.lit
    code = nw.when(missing).then(number(NO_LABEL))
    if positive is None:
        return (
            code.when(value == 1.0)
            .then(number(POSITIVE))
            .when(value == 0.0)
            .then(number(NEGATIVE))
            .when(value == -1.0)
            .then(number(MINUS))
            .otherwise(number(OTHER))
        )
    code = code.when(value == constant(positive)).then(number(POSITIVE))
    if other is not None:
        code = code.when(value == constant(other)).then(number(NEGATIVE))
    return code.otherwise(number(OTHER))


def side_code(name: str, dtype: DType, positive: Any) -> nw.Expr:
    """Return `POSITIVE` or `NEGATIVE`, for labels that are known to be valid."""
    is_positive = nw.col(name)
    if dtype == nw.Boolean:
        if positive is not None and not positive:
            is_positive = ~is_positive
    elif dtype.is_numeric():
        is_positive = is_positive.cast(nw.Float64()) == float(1 if positive is None else positive)
    else:
        value = is_positive if dtype == nw.String else is_positive.cast(nw.String())
        is_positive = value == nw.lit(positive)
    return nw.when(is_positive).then(number(POSITIVE)).otherwise(number(NEGATIVE))


def first_bucket() -> nw.Expr:
    """Return a number for each bucket of the first count, for scores of which nothing is known.

    Steps of 2**-13 between 0 and 1, of 2**-6 up to 64 and down to -64, and steps that grow with the
    distance from 0 beyond, near 0, and below 1 with the distance from 1. Zero, one and the two
    infinities have buckets of their own.
    """
    s = nw.col(SCORE)
    fine = (s >= _EDGE) & (s <= 1 - _EDGE)
    wide = ((s > 1.0) & (s < _WIDE)) | ((s > -_WIDE) & (s < -1 / _WIDE))
    near_one = (s > 0.5) & (s <= 1.0)
    # Engines that compute all branches for all rows have an easy power to take where it is not used.
    distance = nw.when(fine).then(number(1)).when(near_one).then(1.0 - s).otherwise(s.abs())
    curved = whole(_power(distance.clip(0.0, LARGEST)) * _CURVED)
    room = 4 * _CURVED  # a zone of curved buckets ends below half of this
    zone = (
        nw.when(near_one)
        .then(number(2 * room))
        .when(s > LARGEST)
        .then(number(5 * room))
        .when(s >= 0.0)
        .then(number(4 * room))
        .when(s < -LARGEST)
        .then(number(6 * room))
        .otherwise(number(3 * room))
    )
    return (
        nw.when(fine)
        .then(whole(s.clip(0.0, 1.0) * FINE))
        .when(wide)
        .then(whole(s.clip(-_WIDE, _WIDE) * _WIDE) + room)
        .otherwise(curved + zone)
    )


def bucket(pieces: Sequence[Piece]) -> nw.Expr:
    """Return a number for each bucket of the pieces, which ascend, and `GAP` between them."""
    starts = [0]
    for piece in pieces:
        starts.append(starts[-1] + piece.count + 1)
    s = nw.col(SCORE)

    def tree(first: int, last: int) -> nw.Expr:
        if first == last:
            piece = pieces[first]
            return (
                nw.when(within(piece.low, piece.high))
                .then(_leaf(piece, starts[first]))
                .otherwise(number(GAP))
            )
        middle = (first + last + 1) // 2
        low = pieces[middle].low
        split = s > LARGEST if low > LARGEST else s >= low
        return nw.when(split).then(tree(middle, last)).otherwise(tree(first, middle - 1))

    return tree(0, len(pieces) - 1)


def within(low: float, high: float) -> nw.Expr:
    """Return where the score is in a closed interval; infinity is written nowhere."""
    s = nw.col(SCORE)
    if low > LARGEST:
        return s > LARGEST
    if high < -LARGEST:
        return s < -LARGEST
    if low < -LARGEST:
        return s <= min(high, LARGEST) if high <= LARGEST else s == s
    return s >= low if high > LARGEST else (s >= low) & (s <= high)


def within_any(ranges: Sequence[tuple[float, float]]) -> nw.Expr:
    """Return where the score is in one of the intervals."""
    found = within(*ranges[0])
    for low, high in ranges[1:]:
        found = found | within(low, high)
    return found


def rounded(
    frame: nw.LazyFrame[Any], name: str, factors: tuple[nw.Expr | float, nw.Expr | float]
) -> nw.LazyFrame[Any]:
    """Replace a column of weights by the integers of `FixedPoint.encode`: scaled, and ties to even.

    Engines round ties in different ways. Here every step is exact: the two factors are powers of two
    that scale a weight to *half* of its integer, since what rounding down leaves of that half tells
    odd from even.
    """
    half, even = f"{name}_half", f"{name}_even"
    frame = frame.with_columns((nw.col(name) * factors[0] * factors[1]).alias(half))
    frame = frame.with_columns(whole(nw.col(half)).alias(even))
    rest = nw.col(half) - nw.col(even)
    more = nw.when(rest <= 0.25).then(number(0)).when(rest < 0.75).then(number(1)).otherwise(number(2))
    return frame.with_columns((nw.col(even) * 2.0 + more).cast(nw.Int64()).alias(name))


def _leaf(piece: Piece, start: int) -> nw.Expr:
    """Return the buckets of one piece."""
    s, count = nw.col(SCORE), float(piece.count)
    ends = np.array([piece.low]), np.array([piece.high])
    base, scale, power = (found.item() for found in scales(*ends, count))
    if piece.count == 1 or scale == 0:
        return number(start)
    top = piece.high
    if power:
        top, size = float(on_root(top)), _power(s.abs().clip(TINIEST, LARGEST))
        s = size if piece.low > 0 else -1.0 * size
    place = ((s - base).clip(0.0, top - base) * scale).clip(0.0, count)
    return whole(place) + float(start)


def _power(value: nw.Expr) -> nw.Expr:
    return value**ROOT


def whole(value: nw.Expr) -> nw.Expr:
    """Round down, as float64."""
    return value.floor().cast(nw.Float64())  # an integer on some engines
