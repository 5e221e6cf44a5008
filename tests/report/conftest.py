"""Data that the tests of the report share."""

import numpy as np
import pytest


@pytest.fixture(scope="package")
def scored():
    """Return labels, the scores of a good and of a worse model; 400 rows, all scores distinct."""
    rng = np.random.default_rng(12)
    y = (rng.random(400) < 0.3).astype(int)
    good, worse = (1 / (1 + np.exp(-(rng.normal(size=400) + shift * y - 1))) for shift in (2.0, 1.0))
    return y, good, worse
