"""A sketch as bytes: a short header, plain columns, and a checksum at the end.

All numbers are little-endian. Nothing in a file is executed, or allocated before its size is checked.

=============  ==========  ==========================================================
bytes          type        what
=============  ==========  ==========================================================
8              text        ``CPSKETCH``
4              unsigned    version of this format, 2
4              unsigned    level: how often the numbers of the floats were halved
8              float       max_weight; 0 if rows are counted
8              unsigned    max_rows; 0 if rows are counted
4              unsigned    m, the length of the labels
8              unsigned    n, the number of buckets
m              text        the positive and the negative label as JSON: ``[1, 0]``
8 n            signed      number of each bucket, ascending
8 n, 8 n       float       lowest and highest score of each bucket
8 n, 8 n       signed      sum of the positives and of the negatives
8 n            signed      rows
32             bytes       SHA-256 of all of the above
=============  ==========  ==========================================================

Sums are in units of the grid that `FixedPoint.fitting` makes of max_weight and max_rows, or rows.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from pathlib import Path

import numpy as np

from cutpoints._data import file_errors
from cutpoints._kernel.mergeable_histogram import MAX_LEVEL, MergeableHistogram, numbered
from cutpoints._sketch.contents import MAX_BUCKETS, MAX_LABEL_LENGTH, Contents, Label, plain_label, possible
from cutpoints.exceptions import InvalidInputError

MAGIC, VERSION = b"CPSKETCH", 2
_HEADER = struct.Struct("<8sIIdQIQ")
_CHECKSUM = 32
_COLUMNS = 6
_LABELS = 32 * MAX_LABEL_LENGTH
"""More than two labels of any characters take as JSON."""
LARGEST_FILE = _HEADER.size + _LABELS + 8 * MAX_BUCKETS * _COLUMNS + _CHECKSUM
_INT64, _FLOAT64 = np.dtype("<i8"), np.dtype("<f8")


def pack(contents: Contents) -> bytes:
    """Return the bytes; equal contents have equal ones."""
    buckets = contents.buckets
    labels = _labels(contents.positive, contents.negative)
    limits = contents.max_weight or 0.0, contents.max_rows or 0
    header = _HEADER.pack(MAGIC, VERSION, buckets.level, *limits, len(labels), len(buckets))
    columns = (
        buckets.numbers.astype(_INT64),
        buckets.low.astype(_FLOAT64),
        buckets.high.astype(_FLOAT64),
        buckets.pos.astype(_INT64),
        buckets.neg.astype(_INT64),
        buckets.rows.astype(_INT64),
    )
    body = header + labels + b"".join(column.tobytes() for column in columns)
    return body + hashlib.sha256(body).digest()


def unpack(data: bytes, name: str) -> Contents:
    """Return what `pack` packed; raise, saying what is wrong with it, for anything else."""

    def check(fine: object, reason: str) -> None:
        if not fine:
            raise _no_sketch(name=name, reason=reason)

    check(data[: len(MAGIC)] == MAGIC, "It does not begin as one")
    check(len(data) >= _HEADER.size + _CHECKSUM, "It ends too early")
    _, version, level, max_weight, max_rows, m, n = _HEADER.unpack_from(data)
    check(version == VERSION, f"It is of version {version}, and this version of cutpoints reads {VERSION}")
    counting = max_weight == max_rows == 0
    check(
        (counting or possible(max_weight, max_rows))
        and level <= MAX_LEVEL
        and m <= _LABELS
        and n <= MAX_BUCKETS,
        "Its header is impossible",
    )
    size = _HEADER.size + m + 8 * n * _COLUMNS + _CHECKSUM
    check(len(data) == size, f"It has {len(data):,} bytes instead of {size:,}")
    body = data[:-_CHECKSUM]
    check(hashlib.sha256(body).digest() == data[-_CHECKSUM:], "Its checksum is not that of its contents")
    # A checksum does not prove origin: anyone who changes a file can write a new one.
    text = body[_HEADER.size : _HEADER.size + m]
    try:
        positive, negative = (None if one is None else plain_label(one) for one in json.loads(text))
    except (ValueError, TypeError, RecursionError):
        text = b""
        positive = negative = None
    check(text == _labels(positive, negative), "Its labels are impossible")
    words = np.frombuffer(body, _INT64, offset=_HEADER.size + m, count=n * _COLUMNS).astype(np.int64)
    numbers, lowest, highest, pos, neg, rows = words.reshape(_COLUMNS, n)
    low, high = lowest.view(np.float64), highest.view(np.float64)
    check((numbers[1:] > numbers[:-1]).all() and (rows > 0).all(), "Its buckets are not in order")
    check((low <= high).all(), "Its scores are not in order")
    for end in (low, high):
        check((numbered(end) >> level == numbers).all(), "Its scores are not in their buckets")
    contents = Contents(
        None if counting else max_weight,
        None if counting else max_rows,
        positive,
        negative,
        MergeableHistogram(level, numbers, low, high, pos, neg, rows),
    )
    check(sum(rows.tolist()) <= contents.most_rows, "It has impossibly many rows")
    heaviest = 1 if counting else int(contents.grid.encode(np.array([max_weight]))[0])
    room = rows * heaviest  # the sum over all buckets is below 2**62
    check(((pos >= 0) & (neg >= 0) & (pos <= room) & (neg <= room - pos)).all(), "Its sums are impossible")
    check(not counting or (pos + neg == rows).all(), "Its sums are not those of its rows")
    check((positive is None) == (n == 0), "Its labels are impossible")
    return contents


def _labels(positive: Label | None, negative: Label | None) -> bytes:
    return json.dumps([positive, negative]).encode()


def read(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file that can be a sketch; a file that is far too long is not read."""
    shown = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except FileNotFoundError as error:
        raise file_errors.missing_file(path=str(shown)) from error
    except OSError as error:
        raise _no_sketch(name=str(shown), reason=error.strerror or str(error)) from error
    if len(data) > LARGEST_FILE:
        raise _no_sketch(name=str(shown), reason="It is longer than any sketch")
    return data


def _no_sketch(*, name: str, reason: str) -> InvalidInputError:
    """Return the error of bytes that are not a sketch, or not a whole one."""
    return InvalidInputError(
        f"'{name}' must be a sketch that Sketch.save wrote. {reason}.",
        hint="make the sketch again from its data, or copy the file again.",
    )
