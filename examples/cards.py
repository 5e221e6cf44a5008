"""Simulated card payments, for `docs/howto/row_costs.md`: who cheats is drawn from the probability in `p`.

python examples/cards.py cards.csv
"""

import csv
import sys
from pathlib import Path

import numpy as np

ROWS, DAYS = 20_000, 30


def simulate(seed: int = 1) -> dict[str, np.ndarray]:
    """Return payments: day, amount in euros, minutes that a review takes, probability and truth of fraud."""
    rng = np.random.default_rng(seed)
    day = np.sort(rng.integers(1, DAYS + 1, ROWS))
    amount = np.round(rng.lognormal(3.5, 1.3, ROWS), 2)
    minutes = rng.integers(2, 21, ROWS)
    busy = np.where(day % 7 == 6, 0.8, 0.0)  # once a week there are more alarms
    p = np.round(1 / (1 + np.exp(-rng.normal(-5.5 + busy, 1.8, ROWS))), 5)
    fraud = (rng.random(ROWS) < p).astype(np.int64)
    return {"day": day, "amount": amount, "minutes": minutes, "p": p, "fraud": fraud}


def write(path: Path) -> None:
    """Write the payments to a CSV file."""
    columns = simulate()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


if __name__ == "__main__":
    write(Path(sys.argv[1] if len(sys.argv) > 1 else "cards.csv"))
