"""Arguments that several functions take: checked here once, so that the same fault reads the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutpoint._errors import InvalidParameterError


def check_resamples(n_bootstrap: Any, caller: str) -> None:
    """Raise for a number of resamples that cannot be meant; 0 is for none."""
    whole = isinstance(n_bootstrap, (int, np.integer)) and not isinstance(n_bootstrap, bool)
    if not whole or n_bootstrap < 0:
        raise InvalidParameterError.of(
            parameter="n_bootstrap", caller=caller, must_be="a whole number >= 0", got=n_bootstrap
        )
