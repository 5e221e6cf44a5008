"""The data that benchmarks run on: one function per kind of scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Problem:
    """Labels (int8), scores, and weights or None."""

    name: str
    y: NDArray[np.int8]
    score: NDArray[Any]
    weight: NDArray[Any] | None = None


def make(kind: str, rows: int, *, weighted: bool = False, seed: int = 0) -> Problem:
    """Make a problem of a kind, see `KINDS`; with or without weights."""
    rng = np.random.default_rng(seed)
    score = KINDS[kind](rng, rows)
    # Labels follow the rank of the score, whatever its scale, with plenty of overlap.
    rank = np.arctan(score) if kind in ("geometric", "infinities") else score
    low, high = np.quantile(rank[:: max(1, rows // 10_000)], [0.05, 0.95])
    chance = np.clip((rank - low) / (high - low if high > low else 1.0), 0.05, 0.95)
    y = (rng.random(rows) < chance).astype(np.int8)
    if kind == "separated":
        y = (score > 0.6).astype(np.int8)
    if kind in ("alternating", "pairs"):
        score = np.sort(score) if kind == "alternating" else np.repeat(score[::2], 2)[:rows]
        y = (np.arange(rows) % 2).astype(np.int8)
    if kind == "plateaus":
        y = (np.arange(rows) % 1000 == 0).astype(np.int8)
    if not weighted:
        return Problem(kind, y, score)
    return Problem(f"{kind}, weighted", y, score, rng.random(rows))


def _probabilities(rng: np.random.Generator, rows: int) -> NDArray[Any]:
    """Calibrated-looking probabilities: a sigmoid of a normal variable."""
    score = rng.normal(scale=1.2, size=rows)
    np.exp(-score, out=score)
    score += 1
    np.reciprocal(score, out=score)
    return score


def _rounded(decimals: int) -> Any:
    return lambda rng, rows: np.round(_probabilities(rng, rows), decimals)


KINDS: dict[str, Any] = {
    "probabilities": _probabilities,
    "1 decimal": _rounded(1),
    "2 decimals": _rounded(2),
    "3 decimals": _rounded(3),
    "4 decimals": _rounded(4),
    "5 decimals": _rounded(5),
    "float32": lambda rng, rows: _probabilities(rng, rows).astype(np.float32),
    "logits": lambda rng, rows: rng.normal(scale=3, size=rows),
    "log-normal": lambda rng, rows: np.exp(rng.normal(scale=20, size=rows)),
    "geometric": lambda rng, rows: np.ldexp(1.0 + rng.random(rows), rng.integers(-1000, 1000, rows)),
    "one outlier": lambda rng, rows: np.append(_probabilities(rng, rows - 1), 1e12),
    "cluster": lambda rng, rows: 0.5 + 1e-9 * rng.random(rows) * (rng.random(rows) < 0.99),
    "constant": lambda rng, rows: np.full(rows, 0.5),
    "mostly zero": lambda rng, rows: _probabilities(rng, rows) * (rng.random(rows) < 0.1),
    "infinities": lambda rng, rows: np.where(rng.random(rows) < 0.1, np.inf, rng.normal(size=rows)),
    "sorted": lambda rng, rows: np.sort(_probabilities(rng, rows))[::-1].copy(),
    "separated": _probabilities,
    "alternating": lambda rng, rows: rng.random(rows),
    "pairs": lambda rng, rows: rng.random(rows),
    "plateaus": lambda rng, rows: np.sort(rng.random(rows)),
}
"""Name -> function of (generator, rows)."""
