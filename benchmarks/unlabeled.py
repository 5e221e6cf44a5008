"""Would scores without labels certify more? The best case: any number of them, and calibrated probabilities.

    python -m benchmarks.unlabeled               # 1,000 samples for each cell, a minute

A constraint says that a mean is above 0: of ``label - c`` over the rows called positive for precision, of
``label * (called - c)`` over all rows for recall. With probabilities p in the place of labels this mean is
known from scores alone, and labels need to tell no more than how far p is off. That holds however wrong p is
(semi-supervised risk control, arXiv:2412.11174). Here the mean of p is known exactly and p is right,
so nobody can gain more by it. Three ways to certify one given threshold:

- the exact binomial test of the labels alone, as `find(guarantee=0.95)` does;
- bets, which have a proof at every number of rows: many at once, and the best one, which nobody knows;
- the normal approximation, which has none.
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from scipy.stats import binom, norm

SHIFT = 2.0
RISK = 0.05
CELLS = [
    (metric, c, better, share)
    for metric, c, better in (("precision", 0.9, 0.94), ("recall", 0.8, 0.87))
    for share in (0.1, 0.5)
]


class Sample(NamedTuple):
    """Samples in rows: labels, probabilities, who is called positive, and the mean of p that is known."""

    y: Any
    p: Any
    called: Any
    known: float


def probability(scores: Any, share: float) -> Any:
    """Return the chance of a positive, exactly."""
    return expit(logit(share) + SHIFT * scores - SHIFT**2 / 2)


def threshold(metric: str, value: float, share: float) -> float:
    """Return where the metric has this value in the population."""
    if metric == "recall":
        return SHIFT + float(norm.isf(value))

    def precision(t: float) -> float:
        tp, fp = share * norm.sf(t - SHIFT), (1 - share) * norm.sf(t)
        return float(tp / (tp + fp))

    return float(brentq(lambda t: precision(t) - value, -5, 6))


def worth(sample: Sample, metric: str, c: float, *, labels: Any) -> Any:
    """Return what is above 0 on average if the constraint holds; NaN for rows that do not count."""
    if metric == "precision":
        return np.where(sample.called, labels - c, np.nan)
    return labels * (sample.called - c)


def draw(rng: Any, metric: str, c: float, t: float, *, share: float, size: tuple[int, int]) -> Sample:
    """Draw samples, and the mean of p's worth over very many scores."""
    one, many = ((rng.random(shape) < share) for shape in (size, (1, 2_000_000)))
    scores, more = (rng.normal(size=y.shape) + SHIFT * y for y in (one, many))
    p, q = probability(scores, share), probability(more, share)
    seen = Sample(many, q, more >= t, 0.0)
    known = float(np.nanmean(worth(seen, metric, c, labels=q)))
    return Sample(one.astype(float), p, scores >= t, known)


def bets(values: Any, *, known: bool) -> Any:
    """Return which samples have a capital of 1 / risk at some time: by many bets, or the best one."""
    flat = values[np.isfinite(values)]
    tried = 0.5 ** np.arange(0, 7, 0.5) * 0.99 / -flat.min()
    if known:
        tried = [max(tried, key=lambda bet: np.log1p(bet * flat[:200_000]).mean())]
    capital = sum(np.exp(np.cumsum(np.log1p(bet * np.nan_to_num(values)), axis=1)) for bet in tried)
    return (capital / len(tried)).max(axis=1) >= 1 / RISK


def normal(values: Any) -> Any:
    """Return which samples have a mean above 0 by the normal approximation."""
    counts = np.isfinite(values)
    rows = np.maximum(counts.sum(axis=1), 1)
    mean = np.nansum(values, axis=1) / rows
    squares = np.nansum((values - mean[:, None]) ** 2, axis=1)
    return (counts.sum(axis=1) > 1) & (mean * rows > norm.isf(RISK) * np.sqrt(squares))


def exact(sample: Sample, metric: str, c: float) -> Any:
    """Return which samples pass the binomial test."""
    good = (sample.y * sample.called).sum(axis=1)
    whole = (sample.called if metric == "precision" else sample.y).sum(axis=1)
    return np.where(whole > 0, binom.cdf(whole - good, whole, 1 - c), 1.0) <= RISK


def main() -> None:
    """Print a table: certified shares where the constraint holds, and at its bound, where 0.05 is allowed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=1000, help="samples for each cell")
    runs = parser.parse_args().runs
    head = [
        "constraint",
        "positives",
        "labels",
        "exact",
        "bets",
        "bets and p",
        "best bet and p",
        "normal and p",
        "at the bound",
    ]
    print(f"| {' | '.join(head)} |\n| --- |{' ---: |' * (len(head) - 1)}")
    for metric, c, better, share in CELLS:
        for n in (200, 1000, 3000):
            rng = np.random.default_rng([n, round(100 * share)])
            told: list[float] = []
            for truth in (better, c):
                t = threshold(metric, truth, share)
                sample = draw(rng, metric, c, t, share=share, size=(runs, n))
                plain = worth(sample, metric, c, labels=sample.y)
                helped = plain - worth(sample, metric, c, labels=sample.p) + sample.known
                ways = [
                    exact(sample, metric, c),
                    bets(plain, known=False),
                    bets(helped, known=False),
                    bets(helped, known=True),
                    normal(helped),
                ]
                told += [float(np.mean(way)) for way in (ways if truth == better else ways[-1:])]
            cells = [f"{metric} >= {c}", f"{share:.0%}", f"{n:,}", *(f"{one:.3f}" for one in told)]
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
