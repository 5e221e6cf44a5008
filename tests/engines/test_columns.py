"""Every function that takes names of columns takes the frames of every engine."""

import numpy as np
import pyarrow as pa
import pytest

import cutpoints as cp

RNG = np.random.default_rng(8)
Y = (RNG.random(80) < 0.4).astype(np.int64)
P = np.round(np.clip(RNG.normal(0.35 + 0.3 * Y, 0.2), 0.01, 0.99), 2)
Q = np.round(np.clip(RNG.normal(0.4 + 0.2 * Y, 0.2), 0.01, 0.99), 2)
W = RNG.integers(1, 9, 80) / 8
TABLE = pa.table({"y": Y, "p": P, "q": Q, "w": W})
COLUMNS = {"label": "y", "score": "p"}


def test_curves_by_names_of_columns(engine):
    """Every cut, and what one threshold does, weights included; lazy frames are not collected."""
    frame = engine.frame(TABLE)
    expected, found = cp.curve(Y, P, sample_weight=W), cp.curve(frame, **COLUMNS, weight="w")
    for name, column in expected.table("f1").items():
        np.testing.assert_array_equal(column, found.table("f1")[name])
    assert expected.auc == found.auc
    told = cp.evaluate(frame, **COLUMNS, threshold=0.5)
    assert cp.evaluate(Y, P, threshold=0.5).to_dict() == told.to_dict()


def test_rows_by_names_of_columns(engine):
    """What needs all rows has the same answer, up to what depends on their order."""
    frame = engine.frame(TABLE)
    trusted = cp.assess(frame, **COLUMNS, weight="w", maximize="f1", n_bootstrap=0)
    expected = cp.assess(Y, P, sample_weight=W, maximize="f1", n_bootstrap=0)
    assert (expected.resubstitution, expected.near_optimal) == (trusted.resubstitution, trusted.near_optimal)
    found = cp.compare(frame, label="y", score=["p", "q"], maximize="f1", n_bootstrap=0)
    arrays = cp.compare(Y, {"p": P, "q": Q}, maximize="f1", n_bootstrap=0)
    assert arrays.winners == found.winners
    assert [e.confusion for e in arrays.entries.values()] == [e.confusion for e in found.entries.values()]
    assert cp.calibration(Y, P).brier == pytest.approx(cp.calibration(frame, **COLUMNS).brier, rel=1e-12)
