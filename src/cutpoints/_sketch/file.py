"""A sketch as bytes: plain columns behind a short header, and a checksum at the end.

All numbers are little-endian. Nothing in a file is executed or allocated before it is checked.

=============  ==========================================  =====================================
bytes          type                                        what
=============  ==========================================  =====================================
8              text                                        ``CPSKETCH``
4              unsigned                                    version of this format, 1
4              unsigned                                    level: how often numbers were halved
4              unsigned                                    negative labels seen: 1 for 0, 2 for -1
4, 4           signed, unsigned                            exponent and limbs of the masses
4, 4           signed                                      lowest bit, one past the highest bit
8              unsigned                                    n, the number of buckets
8 n            signed                                      numbers of the buckets, ascending
8 n            signed                                      rows
8 n, 8 n       float                                       lowest and highest score of each bucket
8 n · limbs    signed                                      mass of the positives, limb by limb
8 n · limbs    signed                                      mass of the negatives, limb by limb
32             bytes                                       SHA-256 of all of the above
=============  ==========================================  =====================================

A mass is ``sum(limb[i] * 2**(36*i)) * 2**exponent``; without fractional weights there is one limb of
plain counts, and the exponent is 0.
"""

from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path

import numpy as np

from cutpoints._kernel.float_order import numbered
from cutpoints._kernel.masses import LIMB_BITS, Masses, Unit
from cutpoints._kernel.mergeable_histogram import Cells, unit_of
from cutpoints.exceptions import InvalidInputError

LIMIT = 1 << 16
"""So many buckets at most; a sketch of no more distinct scores than that is exact."""
MAGIC, VERSION = b"CPSKETCH", 1
_HEADER = struct.Struct("<8sIIIiIiiQ")
_CHECKSUM = 32
_LIMBS = 32
"""Weights between 1e-50 and 1e50 never need more."""
_COLUMNS = 4
_LARGEST = _HEADER.size + 8 * LIMIT * (_COLUMNS + 2 * _LIMBS) + _CHECKSUM
_LEVELS = 64
_INT64, _FLOAT64 = np.dtype("<i8"), np.dtype("<f8")


def pack(counts: Cells, labels: int) -> bytes:
    """Return the bytes; equal counts have equal ones."""
    unit, bits = counts.unit, counts.bits or (0, 0)
    header = _HEADER.pack(
        MAGIC, VERSION, counts.level, labels, unit.exponent, unit.limbs, *bits, len(counts.numbers)
    )
    columns = (
        counts.numbers.astype(_INT64),
        counts.rows.astype(_INT64),
        counts.low.astype(_FLOAT64),
        counts.high.astype(_FLOAT64),
        counts.pos.limbs.astype(_INT64),
        counts.neg.limbs.astype(_INT64),
    )
    body = header + b"".join(column.tobytes() for column in columns)
    return body + hashlib.sha256(body).digest()


def unpack(data: bytes, name: str) -> tuple[Cells, int]:
    """Return what `pack` packed; raise, saying what is wrong with it, for anything else."""

    def check(fine: object, reason: str) -> None:
        if not fine:
            raise InvalidInputError.sketch(name=name, reason=reason)

    check(data[: len(MAGIC)] == MAGIC, "It does not begin as one")
    check(len(data) >= _HEADER.size + _CHECKSUM, "It ends too early")
    _, version, level, labels, exponent, limbs, lowest, highest, n = _HEADER.unpack_from(data)
    check(version == VERSION, f"It is of version {version}, and this version of cutpoints reads {VERSION}")
    check(level < _LEVELS and labels <= 2 and n <= LIMIT and 1 <= limbs <= _LIMBS, "Its header is impossible")
    size = _HEADER.size + 8 * n * (_COLUMNS + 2 * limbs) + _CHECKSUM
    check(len(data) == size, f"It has {len(data):,} bytes instead of {size:,}")
    check(
        hashlib.sha256(data[:-_CHECKSUM]).digest() == data[-_CHECKSUM:],
        "Its checksum is not that of its contents",
    )
    words = np.frombuffer(data, _INT64, offset=_HEADER.size, count=n * (_COLUMNS + 2 * limbs))
    numbers, rows, low, high = words[: n * _COLUMNS].reshape(_COLUMNS, n)
    low, high = low.view(_FLOAT64), high.view(_FLOAT64)
    pos, neg = words[n * _COLUMNS :].reshape(2, limbs, n)
    # A checksum is no proof of origin: whoever changes a file can write a new one.
    check((np.diff(numbers) > 0).all() and (rows > 0).all(), "Its buckets are not in order")
    check(int(rows.max(initial=0)) * max(n, 1) < 1 << 62, "It has impossibly many rows")
    check((low <= high).all(), "Its scores are not in order")
    for end in (low, high):
        check(
            (numbered(end.astype(np.float64)) >> level == numbers).all(),
            "Its scores are not in their buckets",
        )
    bits = (lowest, highest) if lowest < highest else None
    unit = Unit(exponent, limbs)
    check(unit == unit_of(bits, int(rows.sum())), "Its masses have an impossible grain")
    for side in (pos, neg):
        check((side >= 0).all() and (side[:-1] < 1 << LIMB_BITS).all(), "Its masses are impossible")
    counts = Cells(
        level,
        numbers.astype(np.int64),
        rows.astype(np.int64),
        low.astype(np.float64),
        high.astype(np.float64),
        Masses(pos.astype(np.int64), unit),
        Masses(neg.astype(np.int64), unit),
        bits,
    )
    heaviest = int(rows.sum()) << max(0, highest - exponent)
    check(counts.pos.total() + counts.neg.total() <= heaviest, "Its masses are more than its rows can have")
    return counts, labels


def read(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file that can be a sketch; a file that is far too long is not read."""
    shown = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST + 1)
    except FileNotFoundError as error:
        raise InvalidInputError.missing_file(path=str(shown)) from error
    except OSError as error:
        raise InvalidInputError.sketch(name=str(shown), reason=error.strerror or str(error)) from error
    if len(data) > _LARGEST:
        raise InvalidInputError.sketch(name=str(shown), reason="It is longer than any sketch")
    return data
