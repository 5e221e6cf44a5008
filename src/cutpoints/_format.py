"""Numbers, tables and JSON for people: one way to write each of them."""

from __future__ import annotations

import html
import json
import math
import unicodedata
from typing import TYPE_CHECKING, Any, Literal

from cutpoints.exceptions import MissingDependencyError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

NOISE = 1e15
"""From here on the digits of a float are noise, and there are up to 308 of them."""


def exact(x: float | None) -> str:
    """Write a number so that it can be copied: all digits of an integer, the shortest of a float.

    Examples
    --------
    >>> exact(0.1), exact(1234567), exact(None)
    ('0.1', '1,234,567', 'none')
    """
    if x is None:
        return "none"
    return f"{x:,}" if isinstance(x, int) else repr(float(x))


def count(x: float) -> str:
    """Write a count with separators, a weight or a cost with six digits or all before the point.

    Examples
    --------
    >>> count(1234567), count(0.1234567), count(1234567.891), count(1e90)
    ('1,234,567', '0.123457', '1,234,567.89', '1e+90')
    """
    if abs(x) < NOISE and x == int(x):
        return f"{int(x):,}"
    return f"{x:,.2f}" if 1e5 <= abs(x) < NOISE else f"{x:,.6g}"


def value(x: float, digits: int = 4) -> str:
    """Write the value of a metric: four decimals, costs as counts, a dash where it is undefined.

    Examples
    --------
    >>> value(2 / 3), value(1250.0), value(math.nan)
    ('0.6667', '1,250', '-')
    """
    if math.isnan(x):
        return "-"
    if abs(x) >= 1000 or (abs(x) > 1 and x == round(x)):
        return count(x)
    return f"{x:.{digits}f}"


def short(x: float) -> str:
    """Write a number for a sentence: four digits, integers with separators.

    Examples
    --------
    >>> short(2 / 3), short(12345.6), short(1e90)
    ('0.6667', '12,346', '1e+90')
    """
    if abs(x) < NOISE and (x == int(x) or abs(x) >= 10_000):
        return f"{x:,.0f}"
    return f"{x:.4g}"


def percent(x: float) -> str:
    """Write a share as a percentage of three digits.

    Examples
    --------
    >>> percent(0.12345)
    '12.3 %'
    """
    return f"{100 * x:.3g} %"


def rows_in_words(rows: float, positives: float, negatives: float) -> str:
    """Write how many rows there are, and how many of each class."""
    return f"{count(rows)} rows, {count(positives)} positive, {count(negatives)} negative"


def json_number(x: float | None) -> float | int | str | None:
    """Return a number as JSON can hold it: NaN is null, infinite numbers are "inf" and "-inf"."""
    if x is None or math.isnan(x):
        return None
    if math.isinf(x):
        return "inf" if x > 0 else "-inf"
    return x


def to_json(shown: Mapping[str, Any]) -> str:
    """Return an object as strict, indented JSON: NaN and infinity never reach it as such."""
    return json.dumps(shown, indent=2, allow_nan=False)


def to_frame(columns: Mapping[str, Any], package: Literal["pandas", "polars"]) -> Any:
    """Return columns as a data frame of a package that may not be installed."""
    import importlib

    try:
        module = importlib.import_module(package)
    except ImportError as error:
        raise MissingDependencyError.of(caller=f"to_{package}", package=package) from error
    return module.DataFrame(columns)


def text_pairs(lines: Sequence[tuple[str, str]]) -> str:
    """Return names and texts in two columns.

    Examples
    --------
    >>> print(text_pairs([("rows", "1,000"), ("prevalence", "0.1")]))
    rows        1,000
    prevalence  0.1
    """
    width = max(len(name) for name, _ in lines) + 2
    return "\n".join(f"{name:<{width}}{text}" for name, text in lines)


def text_table(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> str:
    """Return aligned columns; those in `left` are texts, all others are numbers.

    Examples
    --------
    >>> print(text_table([["segment", "rows"], ["DE", "1,000"], ["日本", "20"]], left=[0]))
    segment   rows
    DE       1,000
    日本        20
    """
    widths = [max(map(text_width, column)) for column in zip(*rows, strict=True)]

    def padded(i: int, cell: str) -> str:
        room = " " * (widths[i] - text_width(cell))
        return cell + room if i in left else room + cell

    return "\n".join("  ".join(map(padded, range(len(row)), row)).rstrip() for row in rows)


def text_width(text: str) -> int:
    """Return how many columns of a terminal a text takes: two for each wide character."""
    if text.isascii():
        return len(text)
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


def html_pairs(lines: Iterable[tuple[str, str]]) -> str:
    """Return names and texts as a table for notebooks."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
        for name, text in lines
    )
    return f"<table>{rows}</table>"
