"""Arguments that several functions take: checked here once, so that the same fault reads the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutpoints.exceptions import InvalidParameterError


def is_number(x: Any) -> bool:
    """Whether this is one real number; a boolean is none."""
    return isinstance(x, (int, float, np.integer, np.floating)) and not isinstance(x, bool)


def check_confidence(confidence: Any, caller: str, *, expectation: bool = False) -> None:
    """Raise for a confidence that cannot be meant; with `expectation`, it may be that word."""
    if expectation and isinstance(confidence, str) and confidence == "expectation":
        return
    if not is_number(confidence) or not 0 < confidence < 1:
        raise InvalidParameterError.of(
            parameter="confidence",
            caller=caller,
            must_be="a number between 0 and 1" + (", or 'expectation'" if expectation else ""),
            got=confidence,
            hint="for 95 % pass 0.95.",
        )


def check_resamples(n_bootstrap: Any, caller: str) -> None:
    """Raise for a number of resamples that cannot be meant; 0 is for none."""
    whole = isinstance(n_bootstrap, (int, np.integer)) and not isinstance(n_bootstrap, bool)
    if not whole or n_bootstrap < 0:
        raise InvalidParameterError.of(
            parameter="n_bootstrap", caller=caller, must_be="a whole number >= 0", got=n_bootstrap
        )
