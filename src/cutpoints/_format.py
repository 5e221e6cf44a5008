"""Numbers, tables and JSON for people: one way to write each of them."""

from __future__ import annotations

import dataclasses
import datetime as dt
import html
import json
import math
import struct
import unicodedata
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

NOISE = 1e15
"""From here on the digits of a float are noise, and there are up to 308 of them."""
TINY = 1e-9
"""Numbers below this are written with an exponent: nobody counts nine zeros."""
_FLOAT_DIGITS = 17
_END_DIGITS = 10


def shortest_inside(low: float, high: float) -> str:
    """Return the decimal with the fewest digits in ``(low, high]``, the interval of a threshold.

    Of several it is the largest. Every threshold of the interval makes the same decisions on the
    data, so this text may be read, rounded by nobody and typed again. If both ends are float32
    numbers, it lies inside when read as float32, too.

    Examples
    --------
    >>> shortest_inside(0.671352, 0.6713854), shortest_inside(0.4, 0.8), shortest_inside(652.3, 664.37)
    ('0.67138', '0.8', '660')
    >>> shortest_inside(-math.inf, 7.3e-6), shortest_inside(0.9, math.inf)
    ('0.000007', 'inf')
    """
    if math.isinf(high) or high == 0:
        return exact(abs(high) if high == 0 else high)
    single = _is_float32(low) and _is_float32(high)
    for digits in range(1, _FLOAT_DIGITS + 1):
        # The nearest decimal first: 0.3 is above the float 0.3, but is read as that float.
        found = Context(prec=digits).create_decimal_from_float(high)
        if float(found) > high:
            found = Context(prec=digits, rounding=ROUND_FLOOR).create_decimal_from_float(high)
        if float(found) > low and (not single or _as_float32(float(found)) > low):
            return _positional(found)
    return exact(float(high))


def interval_text(low: float, high: float) -> str:
    """Write the interval ``(low, high]`` with ends of ten digits at most, rounded inward.

    So what is said of all thresholds in it is true of all thresholds between the ends that are shown.

    Examples
    --------
    >>> interval_text(0.28406251069265204, 0.28407817527199863), interval_text(-math.inf, 0.1)
    ('(0.2840625107, 0.2840781752]', '(-inf, 0.1]')
    >>> interval_text(0.3, 0.30000000000000004)  # nothing shorter lies between
    '(0.3, 0.30000000000000004]'
    """
    if math.isfinite(low) and math.isfinite(high):
        # From the shortest text of a float: 0.1 is not rounded up to 0.1000000001.
        start = Context(prec=_END_DIGITS, rounding=ROUND_CEILING).create_decimal(repr(float(low)))
        end = Context(prec=_END_DIGITS, rounding=ROUND_FLOOR).create_decimal(repr(float(high)))
        if low <= float(start) < float(end) <= high:
            return f"({_positional(start)}, {_positional(end)}]"
    return f"({exact(low)}, {exact(high)}]"


def _positional(x: Decimal) -> str:
    """Write a decimal without an exponent, unless that takes too many zeros."""
    if x and not TINY <= abs(x) < NOISE:
        return repr(float(x))
    return f"{x.normalize():f}"


def _as_float32(x: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", x))[0])
    except OverflowError:
        return math.copysign(math.inf, x)


def _is_float32(x: float) -> bool:
    return math.isinf(x) or _as_float32(x) == x


def _digits(x: float, digits: int) -> str:
    """Write this many significant digits, without an exponent.

    Examples
    --------
    >>> _digits(0.0000123456, 3), _digits(12.3, 3), _digits(99999.9, 3)
    ('0.0000123', '12.3', '100,000')
    """
    text = f"{x:,.{digits}g}"
    if "e" in text and TINY <= abs(x) < NOISE:
        text = f"{Decimal(text):,f}"
    return text


def exact(x: float | None) -> str:
    """Write a number so that it can be copied: all digits of an integer, the shortest of a float.

    Examples
    --------
    >>> exact(0.1), exact(700.0), exact(0.000055), exact(1234567), exact(None)
    ('0.1', '700', '0.000055', '1,234,567', 'none')
    """
    if x is None:
        return "none"
    if isinstance(x, int):
        return f"{x:,}"
    text = repr(float(x)).removesuffix(".0")
    return f"{Decimal(text):f}" if "e" in text and TINY <= abs(x) < NOISE else text


def count(x: float) -> str:
    """Write a count with separators, a weight or a cost with six digits or all before the point.

    Examples
    --------
    >>> count(1234567), count(0.1234567), count(1234567.891), count(1234567.0001), count(1e90)
    ('1,234,567', '0.123457', '1,234,567.89', '1,234,567', '1e+90')
    """
    if abs(x) < NOISE and x == int(x):
        return f"{int(x):,}"
    return f"{x:,.2f}".removesuffix(".00") if 1e5 <= abs(x) < NOISE else _digits(x, 6)


def value(x: float, digits: int = 4) -> str:
    """Write the value of a metric: four decimals, of 100 and more two, a dash where it is undefined.

    Examples
    --------
    >>> value(2 / 3), value(1250.0), value(522.8758), value(math.nan), value(0.0000123), value(0.0)
    ('0.6667', '1,250', '522.88', '-', '0.00001', '0.0000')
    """
    if math.isnan(x):
        return "-"
    if abs(x) >= NOISE or (abs(x) > 1 and x == round(x)):
        return count(x)
    if abs(x) >= 100:
        return f"{x:,.2f}".removesuffix(".00")
    text = f"{x:.{digits}f}"
    return text if float(text) or not x else _digits(x, 1)


def short(x: float) -> str:
    """Write a number for a sentence: four digits, integers with separators.

    Examples
    --------
    >>> short(2 / 3), short(1234.5), short(12345.6), short(0.00001234), short(1e90), short(math.nan)
    ('0.6667', '1,234', '12,346', '0.00001234', '1e+90', 'undefined')
    """
    if math.isnan(x):
        return "undefined"
    if abs(x) < NOISE and (x == int(x) or abs(x) >= 10_000):
        return f"{x:,.0f}"
    return _digits(x, 4)


def percent(x: float) -> str:
    """Write a share as a percentage of three digits; only 0 is "0 %", and only 1 is "100 %".

    Examples
    --------
    >>> percent(0.12345), percent(0.99996), percent(0.0000012), percent(1.0)
    ('12.3 %', '99.996 %', '0.00012 %', '100 %')
    """
    text = _digits(100 * x, 3)
    for digits in range(4, _FLOAT_DIGITS):
        if text != "100" or x == 1:
            break
        text = _digits(100 * x, digits)
    return f"{text} %"


def p_value(p: float, name: str = "p") -> str:
    """Write a p-value: two digits, and never "p = 0".

    Examples
    --------
    >>> p_value(0.03217), p_value(1e-12), p_value(0.5, name=""), p_value(1e-12, name="")
    ('p = 0.032', 'p < 0.001', '0.5', '< 0.001')
    """
    if math.isnan(p):
        return f"{name} undefined" if name else "-"
    if p < 0.001:
        return f"{name} < 0.001".lstrip()
    return f"{name} = {p:.2g}" if name else f"{p:.2g}"


def plural(n: int, one: str, many: str | None = None) -> str:
    """Write a number of things.

    Examples
    --------
    >>> plural(1, "row"), plural(1234, "row"), plural(2, "pass", "passes")
    ('1 row', '1,234 rows', '2 passes')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


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


def json_form(value: Any) -> Any:
    """Return a value as JSON can hold it: dataclasses and named tuples by their fields, dates as text."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if dataclasses.is_dataclass(value):
        return json_fields(value)
    if isinstance(value, dict):
        return {name: json_form(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [json_form(one) for one in value]
    if hasattr(value, "tolist"):
        return json_form(value.tolist())
    if isinstance(value, dt.date | dt.time):
        return value.isoformat()
    if isinstance(value, float):
        return json_number(value)
    return value if value is None or isinstance(value, str | int) else str(value)


def json_fields(result: Any, *names: str) -> dict[str, Any]:
    """Return attributes of a result as JSON can hold them; by default the public fields of a dataclass."""
    fields = (one.name for one in dataclasses.fields(result) if not one.name.startswith("_"))
    return {name: json_form(getattr(result, name)) for name in names or fields}


def to_json(shown: Mapping[str, Any]) -> str:
    """Return an object as strict, indented JSON: NaN and infinity never reach it as such."""
    return json.dumps(shown, indent=2, allow_nan=False)


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


def html_table(rows: Sequence[Sequence[str]], left: Collection[int] = ()) -> str:
    """Return rows, the first of which has the names of the columns, as a table for notebooks."""

    def line(row: Sequence[str], tag: str) -> str:
        cells = (
            f"<{tag} style='text-align:{'left' if i in left else 'right'}'>{html.escape(cell)}</{tag}>"
            for i, cell in enumerate(row)
        )
        return f"<tr>{''.join(cells)}</tr>"

    body = "".join(line(row, "td") for row in rows[1:])
    return f"<table><thead>{line(rows[0], 'th')}</thead><tbody>{body}</tbody></table>"


def html_pairs(lines: Iterable[tuple[str, str]]) -> str:
    """Return names and texts as a table for notebooks."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(text)}</td></tr>"
        for name, text in lines
    )
    return f"<table>{rows}</table>"
