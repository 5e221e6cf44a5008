"""Checks of arguments: one for each kind of value, so that the same mistake reads the same everywhere."""

from __future__ import annotations

import hashlib
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from cutpoints.exceptions import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cutpoints._wording import Text


_FLOAT_BITS = 1023
"""Bits of the largest integer that is certainly a finite float."""


def is_number(x: Any) -> bool:
    """Return whether this is one real number that a float can hold; a boolean is not."""
    if isinstance(x, int) and x.bit_length() > _FLOAT_BITS:
        return False
    if isinstance(x, np.longdouble) and np.isfinite(x) and np.isinf(float(x)):
        return False
    return isinstance(x, (int, float, Fraction, np.integer, np.floating)) and not isinstance(x, bool)


def is_integer(x: Any) -> bool:
    """Return whether this is one integer; a boolean is not."""
    return isinstance(x, (int, np.integer)) and not isinstance(x, bool)


def one_of(name: str, value: Any, allowed: Iterable[str], *, caller: str | None = None) -> None:
    """Raise unless `value` is one of the allowed words.

    Examples
    --------
    >>> one_of("method", "sweeping", ["sweep", "narrow"])
    Traceback (most recent call last):
    cutpoints.exceptions.InvalidParameterError: method must be one of 'sweep', 'narrow', got 'sweeping'.
    """
    words = list(allowed)
    if not isinstance(value, str) or value not in words:
        expected = f"one of {', '.join(map(repr, words))}"
        raise InvalidParameterError(name, got=value, expected=expected, caller=caller)


def number_in(
    name: str,
    value: Any,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    ends: str = "[]",
    expected: str | None = None,
    hint: Text | None = None,
    caller: str | None = None,
) -> None:
    """Raise unless `value` is a number between `low` and `high`.

    `ends` says whether the ends belong to it: "[)" is from `low`, but below `high`. An infinite end
    never does, so that without bounds the number must be finite.

    Examples
    --------
    >>> number_in("max_fpr", 2, 0, 1, ends="(]")
    Traceback (most recent call last):
    cutpoints.exceptions.InvalidParameterError: max_fpr must be a number in (0, 1], got 2.
    """
    above = is_number(value) and -math.inf < value and (low < value or (ends[0] == "[" and value == low))
    if not above or not (value < high or (ends[1] == "]" and value == high < math.inf)):
        allowed = expected or _range(low, high, ends)
        raise InvalidParameterError(name, got=value, expected=allowed, hint=hint, caller=caller)


def integer_in(
    name: str,
    value: Any,
    low: int,
    high: float = math.inf,
    *,
    hint: Text | None = None,
    caller: str | None = None,
) -> None:
    """Raise unless `value` is an integer of at least `low` and at most `high`.

    Examples
    --------
    >>> integer_in("n_bootstrap", 0.5, 0)
    Traceback (most recent call last):
    cutpoints.exceptions.InvalidParameterError: n_bootstrap must be an integer >= 0, got 0.5.
    """
    if not is_integer(value) or not low <= value <= high:
        expected = f"an integer >= {low}" if math.isinf(high) else f"an integer from {low} to {high:.0f}"
        raise InvalidParameterError(name, got=value, expected=expected, hint=hint, caller=caller)


def positive_integer(name: str, value: Any, *, hint: Text | None = None, caller: str | None = None) -> None:
    """Raise unless `value` is an integer of at least 1."""
    if not is_integer(value) or value < 1:
        raise InvalidParameterError(name, got=value, expected="a positive integer", hint=hint, caller=caller)


def boolean(name: str, value: Any, *, caller: str | None = None) -> None:
    """Raise unless `value` is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidParameterError(name, got=value, expected="True or False", caller=caller)


def check_confidence(
    confidence: Any, caller: str, *, expectation: bool = False, parameter: str = "confidence"
) -> None:
    """Raise for a confidence that is not between 0 and 1; with `expectation`, it may be that word."""
    if not (expectation and isinstance(confidence, str) and confidence == "expectation"):
        expected = "a number between 0 and 1" + (", or 'expectation'" if expectation else "")
        hint = "for 95 % pass 0.95."
        number_in(parameter, confidence, 0, 1, ends="()", expected=expected, hint=hint, caller=caller)


def generator(random_state: Any, *data: Any, caller: str | None = None) -> np.random.Generator:
    """Return a generator for what scikit-learn calls a random state; an integer is mixed with the data.

    The same data give the same draw, and other data another one. A seed alone would draw the same ranks
    of every sample: the rows drawn would then depend on the scores, and no test on them would be valid.
    The data should be in an order that does not depend on how the rows came.

    Examples
    --------
    >>> int(generator(0, [1, 2]).integers(1000)), int(generator(0, [1, 3]).integers(1000))
    (115, 658)
    """
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31 - 1))
    try:
        if is_integer(random_state):
            digest = hashlib.sha256()
            for column in data:
                digest.update(np.ascontiguousarray(column).tobytes())
            words = np.frombuffer(digest.digest(), dtype=np.uint32)
            random_state = np.random.SeedSequence([int(random_state), *words.tolist()])
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(
            "random_state", got=random_state, expected="an int, None or a NumPy generator", caller=caller
        ) from error


def _range(low: float, high: float, ends: str) -> str:
    if math.isinf(low) and math.isinf(high):
        return "a finite number"
    if math.isinf(high):
        return f"a number {'>=' if ends[0] == '[' else '>'} {low:g}"
    return f"a number in {ends[0]}{low:g}, {high:g}{ends[1]}"
