"""The floor: merely reading the input."""


def run(y, score, weight):
    """Add up the inputs; no threshold can be found in less."""
    total = score.sum() + y.sum() + (0 if weight is None else weight.sum())
    return float("nan"), float(total)
