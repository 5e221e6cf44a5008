"""The program as a text file that any solver reads: CPLEX LP format, or free MPS."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from cutpoints._atomic import replaced
from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from cutpoints._ilp.program import Cost, Program

_TERMS_PER_LINE = 6
"""Readers of the LP format refuse long lines."""


def write(path: str | os.PathLike[str], program: Program, cost: Cost, title: str) -> None:
    """Write ``.lp`` or ``.mps``, by the name; a write that fails leaves an older file as it was."""
    target = Path(path)
    lines = {".lp": _lp, ".mps": _mps}.get(target.suffix.lower())
    if lines is None:
        raise InvalidParameterError(
            "path", caller="write", expected="a name that ends in .lp or .mps", got=str(path)
        )
    with replaced(target) as beside, beside.open("w", encoding="ascii") as file:
        file.writelines(f"{line}\n" for line in lines(program, cost, title))


def _number(x: float) -> str:
    return str(int(x)) if x == int(x) and abs(x) < 1e15 else repr(float(x))


def _explained(cost: Cost, title: str) -> list[str]:
    return [
        " ".join(title.encode("ascii", "replace").decode().split()),
        f"the value that is maximized is {float(cost.offset)!r} - {float(cost.unit)!r} * (the cost below)",
    ]


def _lp(program: Program, cost: Cost, title: str) -> Iterator[str]:
    """Write sections as text: cost, rows, bounds, binaries."""
    names, rows = program.names(), program.row_names()
    A = program.A
    yield from (f"\\ {line}" for line in _explained(cost, title))
    yield "Minimize"
    used = np.diff(A.tocsc().indptr) > 0
    # Every variable is named once: one that is in no row stands in the cost, with 0 if need be.
    shown = [j for j in range(len(names)) if cost.w[j] != 0 or not used[j]]
    yield from _sum("cost", [(cost.w[j], names[j]) for j in shown] or [(0.0, names[0])])
    yield "Subject To"
    for i, row in enumerate(rows):
        part = slice(A.indptr[i], A.indptr[i + 1])
        terms = [(a, names[j]) for a, j in zip(A.data[part], A.indices[part], strict=True)]
        yield from _sum(row, terms or [(0.0, names[0])])
        yield f"   >= {_number(program.b[i])}"
    yield "Bounds"
    for name, low, high in zip(names, program.lower, program.upper, strict=True):
        yield f" {_number(low)} <= {name} <= {_number(high)}"
    if program.integer.any():
        # "General" and not "Binary": bounds that fix a variable must stay.
        yield "General"
        yield from (f" {name}" for name, whole in zip(names, program.integer, strict=True) if whole)
    yield "End"


def _sum(name: str, terms: list[tuple[float, str]]) -> Iterator[str]:
    for start in range(0, len(terms), _TERMS_PER_LINE):
        text = " ".join(
            f"{'-' if a < 0 else '+'} {_number(abs(a))} {variable}"
            for a, variable in terms[start : start + _TERMS_PER_LINE]
        )
        yield f" {name}: {text}" if start == 0 else f"   {text}"


def _mps(program: Program, cost: Cost, title: str) -> Iterator[str]:
    """Write column by column, in free format, so that numbers keep all their digits."""
    names, rows = program.names(), program.row_names()
    A = program.A.tocsc()
    yield from (f"* {line}" for line in _explained(cost, title))
    yield "NAME cutpoints"
    yield "ROWS"
    yield " N cost"
    yield from (f" G {row}" for row in rows)
    yield "COLUMNS"
    whole_before = False
    for j, name in enumerate(names):
        whole = bool(program.integer[j])
        if whole != whole_before:
            yield f" MARKER{j} 'MARKER' '{'INTORG' if whole else 'INTEND'}'"
            whole_before = whole
        yield f" {name} cost {_number(cost.w[j])}"
        part = slice(A.indptr[j], A.indptr[j + 1])
        for a, i in zip(A.data[part], A.indices[part], strict=True):
            yield f" {name} {rows[i]} {_number(a)}"
    if whole_before:
        yield " MARKEREND 'MARKER' 'INTEND'"
    yield "RHS"
    yield from (f" rhs {row} {_number(b)}" for row, b in zip(rows, program.b, strict=True) if b != 0)
    yield "BOUNDS"
    for name, low, high in zip(names, program.lower, program.upper, strict=True):
        yield f" LO bound {name} {_number(low)}"
        yield f" UP bound {name} {_number(high)}"
    yield "ENDATA"
