"""The bootstrap opens few blocks and still finds the optimum of every resample."""

import numpy as np
import pytest
from scipy.stats import ks_2samp

import cutpoints as cp
from cutpoints._assess import bootstrap
from cutpoints._goal import goal

GOALS = [
    {"maximize": "f1"},
    {"maximize": "mcc"},
    {"maximize": "accuracy"},
    {"maximize": "precision"},
    {"maximize": "lr_plus"},
    {"minimize": "cost(fp=1, fn=5)"},
    {"maximize": "information_gain"},
    {"maximize": "0.7*accuracy + 0.3*recall"},
    {"maximize": "recall", "subject_to": "precision >= 0.6"},
    {"maximize": "precision", "subject_to": ["recall >= 0.5", "predicted_positive_rate <= 0.4"]},
]


def rows(n, *, decimals=None, seed=0, prevalence=0.3):
    """Rows of two overlapping classes, with ties if rounded."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prevalence).astype(np.uint8)
    scores = rng.normal(size=n) + 1.2 * y
    return y, scores if decimals is None else scores.round(decimals)


def given(blocks, drawn):
    """Draws that are known for each row, in the form in which blocks are drawn and dealt."""
    sides = [np.where(side, drawn, 0) for side in (blocks.rows.positive, ~blocks.rows.positive)]
    totals = [np.add.reduceat(side, blocks.starts, axis=1) for side in sides]

    def detail(replicate, block):
        width = blocks.sizes[block].max()
        dealt = []
        for side in sides:
            out = np.zeros((len(block), width), dtype=np.int64)
            for i, (r, b) in enumerate(zip(replicate, block, strict=True)):
                start, size = blocks.starts[b], blocks.sizes[b]
                out[i, :size] = side[r, start : start + size]
            dealt.append(out)
        return dealt

    return *totals, detail


@pytest.mark.parametrize("decimals", [None, 1, 0], ids=["distinct", "ties", "few scores"])
@pytest.mark.parametrize("asked", GOALS, ids=lambda g: " ".join(map(str, g.values())))
def test_opening_few_blocks_finds_the_optimum_of_every_resample(monkeypatch, asked, decimals):
    """With the same draws, the pruned search and the search over every row agree on each resample."""
    monkeypatch.setattr(bootstrap, "FINE_ROWS", 4)
    monkeypatch.setattr(bootstrap, "COARSE_BLOCKS", 5)
    wanted = goal(**asked)
    for seed in range(3):
        ordered = bootstrap.Ordered.of(*rows(150, decimals=decimals, seed=seed))
        rng = np.random.default_rng(seed)
        drawn = np.array([np.bincount(rng.integers(150, size=150), minlength=150) for _ in range(40)])
        blocks = bootstrap._Blocks.of(ordered, wanted)

        pruned = bootstrap._from_blocks(blocks, wanted, *given(blocks, drawn))

        expected = bootstrap._from_weights(ordered, wanted, drawn.astype(float))
        assert expected.tolist() == pruned.tolist()


@pytest.mark.parametrize("asked", GOALS, ids=lambda g: " ".join(map(str, g.values())))
def test_a_resample_is_a_weight_per_row(asked):
    """The optimum of a resample is what `find` says of the rows with their draws as weights."""
    y, scores = rows(80, decimals=1, seed=4)
    ordered = bootstrap.Ordered.of(y, scores)
    drawn = np.random.default_rng(5).integers(0, 4, size=(10, 80))
    found = bootstrap._from_weights(ordered, goal(**asked), drawn.astype(float))

    for weights, index in zip(drawn, found, strict=True):
        solution = cp.find(ordered.positive, ordered.scores, sample_weight=weights, **asked)
        if solution.status == "infeasible":
            assert index == -1
        else:
            expected = -2 if solution.threshold == np.inf else solution.threshold
            assert expected == (-2 if index == -2 else ordered.scores[index])


@pytest.mark.parametrize("stratify", [True, False])
def test_drawing_blocks_first_is_the_ordinary_bootstrap(stratify):
    """The thresholds have the distribution of those from drawing rows one by one."""
    y, scores = rows(400, seed=7)
    ordered = bootstrap.Ordered.of(y, scores)
    wanted = goal(maximize="f1")
    fast = bootstrap.optima(ordered, wanted, 1500, np.random.default_rng(1), stratify=stratify)
    rng = np.random.default_rng(2)
    drawn = bootstrap._row_weights(ordered, 1500, rng, stratify=stratify, weights=None, groups=None)
    plain = ordered.scores[bootstrap._from_weights(ordered, wanted, drawn)]

    assert ks_2samp(fast, plain).pvalue > 0.001
    assert len(np.unique(fast)) > 20


def test_stratified_draws_keep_the_classes():
    """Stratified, each resample has as many positives as the rows; otherwise it varies."""
    y, scores = rows(300, seed=3)
    blocks = bootstrap._Blocks.of(bootstrap.Ordered.of(y, scores), goal(maximize="f1"))
    rng = np.random.default_rng(0)

    pos, neg = blocks.draw(50, rng, stratify=True)
    assert {int(y.sum())} == set(pos.sum(axis=1))
    assert {300 - int(y.sum())} == set(neg.sum(axis=1))
    pos, neg = blocks.draw(50, rng, stratify=False)
    assert len(set(pos.sum(axis=1))) > 5
    assert {300} == set((pos + neg).sum(axis=1))


def test_deals_every_draw_to_a_row_of_its_block_and_class():
    """Dealing out keeps the totals, and puts draws of positives on positive rows only."""
    y, scores = rows(500, seed=3)
    blocks = bootstrap._Blocks.of(bootstrap.Ordered.of(y, scores), goal(maximize="f1"))
    rng = np.random.default_rng(0)
    pos, neg = blocks.draw(4, rng, stratify=True)
    replicate, block = np.nonzero(np.ones_like(pos))

    dealt = blocks.deal(pos, neg, rng)(replicate, block)

    for total, part, side in zip((pos, neg), dealt, (True, False), strict=True):
        assert total.ravel().tolist() == part.sum(axis=1).tolist()
        for i, b in enumerate(block):
            kept = blocks.rows.positive[blocks.starts[b] : blocks.starts[b] + blocks.sizes[b]] == side
            assert part[i, : len(kept)][~kept].sum() == 0


def test_groups_are_drawn_whole():
    """All rows of a group have the same weight in a resample."""
    y, scores = rows(60, seed=1)
    ordered = bootstrap.Ordered.of(y, scores)
    groups = np.arange(60) // 3
    drawn = bootstrap._row_weights(
        ordered, 20, np.random.default_rng(0), stratify=True, weights=None, groups=groups
    )

    assert (drawn.reshape(20, 20, 3) == drawn.reshape(20, 20, 3)[:, :, :1]).all()
    assert {20.0} == set(drawn.reshape(20, 20, 3)[:, :, 0].sum(axis=1))


def test_memory_is_bounded_by_chunks(monkeypatch):
    """Replicates are made in chunks, and there are as many of them as asked for."""
    y, scores = rows(300, seed=2)
    ordered = bootstrap.Ordered.of(y, scores)
    monkeypatch.setattr(bootstrap, "CHUNK", 1000)
    for weights in (None, np.ones(300)):
        found = bootstrap.optima(ordered, goal(maximize="f1"), 37, np.random.default_rng(0), weights=weights)
        assert 37 == len(found)
        assert not np.isnan(found).any()


def test_no_threshold_is_nan():
    """A resample in which nothing meets the constraints has no threshold."""
    ordered = bootstrap.Ordered.of(np.array([0, 1, 0, 1], dtype=np.uint8), np.array([4.0, 3, 2, 1]))
    wanted = goal(maximize="recall", subject_to="precision >= 0.9")

    found = bootstrap.optima(ordered, wanted, 20, np.random.default_rng(0), stratify=True)

    assert np.isnan(found).sum() > 0
