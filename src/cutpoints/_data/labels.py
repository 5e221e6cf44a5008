"""Labels: which value is the positive one, read block by block as 0/1 bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints._data.array_input import refuse_missing, refuse_nan
from cutpoints.exceptions import InvalidInputError, InvalidParameterError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Counts = tuple[int, int, int]
"""Of a block: how many labels are the positive one, how many 0 (or any other), how many -1."""
_BYTES = "?bB"
"""The types whose 0 and 1 are one byte: bool, int8, uint8."""


class Labels:
    """A column of at most two distinct labels.

    0/1, booleans and -1/+1 are read as they are; any other two values need `pos_label`.
    """

    def __init__(self, values: NDArray[Any], pos_label: Any = None, *, name: str = "y_true") -> None:
        self.name = name
        self.values = _plain(values, name)
        self.numeric = self.values.dtype.kind in "biuf"
        if pos_label is None and not self.numeric:
            found = _distinct(self.values)
            raise (
                InvalidInputError.pos_label(values=found, name=name)
                if len(found) <= 2
                else InvalidInputError.labels(values=found, count=len(found), name=name)
            )
        if (
            pos_label is not None
            and self.numeric
            and not isinstance(pos_label, (bool, int, float, np.generic))
        ):
            raise InvalidParameterError(
                "pos_label",
                expected=f"one of the labels in {name!r}, which are numbers",
                got=pos_label,
            )
        self.positive = 1 if pos_label is None else pos_label
        self.given = pos_label is not None

    def __len__(self) -> int:
        return len(self.values)

    def check(self, part: slice) -> tuple[NDArray[np.uint8], Counts]:
        """Return a block as 0/1 bytes and its counts, which go to `settle`; no copy of 0/1 bytes."""
        block = self.values[part]
        if not self.given and block.dtype.char in _BYTES:
            sides = block.view(np.uint8)
            if np.maximum.reduce(sides, initial=0) <= 1:
                positives = int(np.count_nonzero(sides))
                return sides, (positives, len(block) - positives, 0)
        sides = (block == self.positive).view(np.uint8)
        positives = int(np.count_nonzero(sides))
        if self.given:
            return sides, (positives, len(block) - positives, 0)
        minus = int(np.count_nonzero(block == -1)) if block.dtype.kind in "if" else 0
        return sides, (positives, int(np.count_nonzero(block == 0)), minus)

    def read(self, part: slice, index: Any) -> NDArray[np.uint8]:
        """Return some positions of a block as 0/1 bytes."""
        return (self.values[part][index] == self.positive).view(np.uint8)

    def settle(self, counts: list[Counts]) -> int:
        """Return the number of positives; raise if the counts of the blocks show a third label."""
        positives, negatives, minus = counts[0] if len(counts) == 1 else map(sum, zip(*counts, strict=True))
        fine = positives + negatives + minus == len(self.values) and not (negatives and minus)
        if self.given:
            fine = positives == len(self.values) or self._one_other()
        if not fine:
            self.refuse()
        return positives

    def _one_other(self) -> bool:
        other = self.values[np.argmax(self.values != self.positive)]
        return bool(((self.values == self.positive) | (self.values == other)).all())

    def refuse(self) -> None:
        """Raise for labels that are not two, saying which ones there are."""
        if self.values.dtype.kind == "f":
            refuse_nan(self.values, self.name)
        found = _distinct(self.values)
        if len(found) > 2:
            pos_label = self.positive if self.given else None
            raise InvalidInputError.labels(
                values=found, count=len(found), name=self.name, pos_label=pos_label
            )
        if not self.given:
            raise InvalidInputError.pos_label(values=found, name=self.name)
        raise InvalidParameterError(
            "pos_label",
            expected=f"one of the labels {found}",
            got=self.positive,
        )


def _plain(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Turn Python objects into numbers or text, refusing missing ones."""
    if values.dtype.kind != "O":
        return values
    refuse_missing(values, name)
    if all(isinstance(v, (bool, int, float, np.bool_, np.number)) for v in values):
        return values.astype(np.float64)
    return values


def _distinct(values: NDArray[Any]) -> list[Any]:
    """Return the distinct labels, sorted where they can be."""
    found = list(dict.fromkeys(values.tolist()))
    try:
        return sorted(found)
    except TypeError:
        return found
