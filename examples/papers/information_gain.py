"""The exam question of the lecture: the question that splits five diners best.

A split is a 2 x 2 table, answer against satisfaction, so its gain is the metric
``information_gain`` of that table. Run with ``python examples/papers/information_gain.py``.
"""

from __future__ import annotations

import math

from cutpoints._result import Confusion

FEATURES = ("overcooked pasta", "long wait", "rude waiter")
DINERS = (
    # pasta, wait, waiter -> satisfied
    ((True, True, False), True),
    ((False, False, True), True),
    ((True, True, True), False),
    ((False, True, True), True),
    ((True, False, True), False),
)
Diners = tuple[tuple[tuple[bool, ...], bool], ...]


def entropy(diners: Diners) -> float:
    """Return the entropy of satisfaction, in bits."""
    satisfied = sum(happy for _, happy in diners)
    shares = [k / len(diners) for k in (satisfied, len(diners) - satisfied) if k]
    return -sum(p * math.log2(p) for p in shares) + 0.0


def table(diners: Diners, feature: int) -> Confusion:
    """Return answers against satisfaction: yes is 'called positive'."""
    counts = {"tp": 0, "fp": 0, "fn": 0, "tn": 0}
    for answers, happy in diners:
        counts[("tp" if happy else "fp") if answers[feature] else ("fn" if happy else "tn")] += 1
    return Confusion(**counts)


def gains(diners: Diners) -> dict[str, float]:
    """Return the information gain of each question."""
    return {name: table(diners, i).metric("information_gain") for i, name in enumerate(FEATURES)}


def weighted_entropies(diners: Diners, feature: int) -> dict[bool, float]:
    """Return the entropy after each answer, times the share of diners who gave it."""
    parts = {answer: tuple(d for d in diners if d[0][feature] is answer) for answer in (True, False)}
    return {answer: len(part) / len(diners) * entropy(part) for answer, part in parts.items() if part}


def main() -> None:
    """Print the tree as the lecture builds it."""
    print(f"entropy of satisfaction: {entropy(DINERS):.6f} bits")
    for name, gain in gains(DINERS).items():
        print(f"  gain of '{name}': {gain:.6f}")
    yes, no = weighted_entropies(DINERS, 0).values()
    print(f"split on '{FEATURES[0]}': weighted entropies {yes:.6f} (yes) and {no:.6f} (no: all satisfied)")
    left = tuple(d for d in DINERS if d[0][0])
    for name, gain in gains(left).items():
        print(f"  gain of '{name}' among those with overcooked pasta: {gain:.6f}")


if __name__ == "__main__":
    main()
