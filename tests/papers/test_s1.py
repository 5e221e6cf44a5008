"""The document on the F1-optimal threshold, row by row of what it claims."""

import importlib.util
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

import cutpoints as cp
from cutpoints import metrics as m

SCRIPT = Path(__file__).parents[2] / "examples" / "papers" / "f1_half.py"


@pytest.fixture(scope="module")
def paper():
    """The script that draws the document's figures."""
    spec = importlib.util.spec_from_file_location("f1_half", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def normal(mean):
    """The normal density as a plain function: quadrature asks it thousands of times."""
    return lambda s: math.exp(-((s - mean) ** 2) / 2) / math.sqrt(2 * math.pi)


@pytest.fixture(scope="module")
def population():
    """Two normal classes, half a unit to either side of 0, equally frequent."""
    return cp.Population(normal(0.5), normal(-0.5), prevalence=0.5)


def harmonic(precision, recall, beta):
    """F-beta as a weighted harmonic mean."""
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


@pytest.mark.parametrize("beta", [Fraction(1, 2), 1, 2])
def test_1_1_both_forms(beta):
    """The harmonic form of F-beta is the form in counts, exactly."""
    rng = np.random.default_rng(0)
    for tp, fp, fn, tn in rng.integers(1, 50, (50, 4)).tolist():
        counts = {k: Fraction(v) for k, v in zip(("tp", "fp", "fn", "tn"), (tp, fp, fn, tn), strict=True)}
        expected = harmonic(Fraction(tp, tp + fp), Fraction(tp, tp + fn), beta)
        assert expected == m.f(beta=beta).evaluate(**counts)
        if beta == 1:
            assert expected == m.f1.evaluate(**counts)


@pytest.mark.parametrize("threshold", [-3.0, -0.4, 0.0, 0.7, 2.5])
@pytest.mark.parametrize("b", [0.1, 0.5])
def test_1_2_lemma_1(threshold, b):
    """The four integrals by quadrature are those by the normal distribution function."""
    found = cp.Population(normal(0.5), normal(-0.5), prevalence=b).confusion(threshold)
    expected = {
        "tp": b * norm.sf(threshold, 0.5),
        "fp": (1 - b) * norm.sf(threshold, -0.5),
        "fn": b * norm.cdf(threshold, 0.5),
        "tn": (1 - b) * norm.cdf(threshold, -0.5),
    }
    assert expected == pytest.approx(found.to_dict(), abs=1e-10)


@pytest.mark.parametrize("b", [0.02, 0.1, 0.5, 0.9])
@pytest.mark.parametrize("shift", [0.5, 1.0, 3.0])
def test_1_3_theorem_1(b, shift):
    """At the optimum the likelihood ratio is the Jaccard index, J = F / (2 - F), and F is the largest."""
    population = cp.Population(normal(shift), normal(0), prevalence=b)
    best = population.best(maximize="f1")
    assert best.likelihood_ratio == pytest.approx(best.jaccard, rel=1e-9)
    assert best.jaccard == pytest.approx(best.value / (2 - best.value), rel=1e-12)
    values = [population.confusion(best.threshold + step).metric("f1") for step in np.linspace(-1, 1, 21)]
    assert max(values) <= best.value + 1e-12


def test_1_3_other_objectives(population):
    """The general form holds in the population: F-beta, Jaccard, and the Bayes threshold of a cost."""
    two = population.best(maximize="f(beta=2)")
    assert two.posterior == pytest.approx(two.value / 5, rel=1e-9)
    jaccard = population.best(maximize="jaccard")
    assert jaccard.posterior == pytest.approx(jaccard.value / (1 + jaccard.value), rel=1e-9)
    assert population.best(minimize="cost(fp=2, fn=1)").posterior == pytest.approx(2 / 3, rel=1e-9)


def test_1_4_corollary_in_finite_samples():
    """s_(k*) >= F*/2 > s_(k*+1), exactly, for 300 samples."""
    for seed in range(300):
        rng = np.random.default_rng(seed)
        p = np.round(rng.beta(1, 2, 60) * 2**20) / 2**20
        counts = (solution := cp.find_expected(p, maximize="f1")).confusion.fractions()
        half = counts["tp"] / (2 * counts["tp"] + counts["fp"] + counts["fn"])
        assert Fraction(solution.threshold) >= half > Fraction(max(p[p < solution.threshold], default=-1.0))


def test_1_5_population_value(population):
    """F* = 0.7190615, threshold F*/2 = 0.3595308, J = 0.5613553."""
    best = population.best(maximize="f1")
    assert (0.7190615, 0.3595308, 0.5613553) == (
        round(best.value, 7),
        round(best.posterior, 7),
        round(best.jaccard, 7),
    )


def test_1_6_unseeded(paper):
    """Over seeds, F is within .0045 of its population value and the threshold just above F/2."""
    for seed in range(20):
        solution = cp.find_expected(paper.data(seed)[2], maximize="f1")
        assert abs(solution.value - 0.71906) < 0.0045
        assert 0 <= solution.threshold - solution.value / 2 < 0.0005


@pytest.mark.parametrize(
    ("seed", "threshold", "value"),
    [(0, 0.35848, 0.71692), (42, 0.35970, 0.71932), (1234, 0.36017, 0.72029), (2021, 0.35945, 0.71889)],
)
def test_1_7_legacy_seeds(paper, seed, threshold, value):
    """Four seeds of the document's generator, positives drawn first."""
    solution = cp.find_expected(paper.data(seed)[2], maximize="f1")
    assert (threshold, value) == (round(solution.threshold, 5), round(solution.value, 5))


def test_1_8_the_loop(paper):
    """The document's loop over all thresholds has the same argmax; here on a tenth of its rows."""
    p = np.sort(paper.data(size=1000)[2])[::-1]
    f1s = []
    for t in p:
        called = p >= t
        tp, fn = p[called].sum(), p[~called].sum()
        f1s.append(2 * tp / (2 * tp + (called.sum() - tp) + fn))
    solution = cp.find_expected(p, maximize="f1")
    assert p[np.argmax(f1s)] == solution.threshold
    assert max(f1s) == pytest.approx(solution.value, abs=2.0**-36)  # to which probabilities are rounded


@pytest.mark.parametrize("b", [0.1, 0.5])
def test_1_9_uninformative(b):
    """A classifier that knows only the prevalence should call everybody positive: F* = 2b / (1 + b)."""
    solution = cp.find_expected(np.full(100, b), maximize="f1")
    assert solution.value == pytest.approx(2 * b / (1 + b))
    assert b == solution.threshold
    assert solution.theory.threshold == pytest.approx(b / (1 + b))
    assert solution.decide(np.full(100, b)).all()


def test_1_10_figures(paper, tmp_path, capsys):
    """The four figures are drawn, and F1/2 crosses the sorted posteriors at the argmax."""
    paper.main(tmp_path)
    assert 4 == len(list(tmp_path.glob("*.png")))
    assert "the same decisions: True" in capsys.readouterr().out
    curve = cp.find_expected(paper.data()[2], maximize="f1").curve()
    assert curve.best == np.argmax(curve.values)
    assert curve.best == np.flatnonzero(curve.thresholds >= curve.shares)[-1]
