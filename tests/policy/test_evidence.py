"""Evidence that adds up: levels that hold for every day, and a file that carries it."""

import json
import math

import numpy as np
import pytest
from scipy.special import betainc, betaln
from scipy.stats import norm

import cutpoints as cp
from cutpoints._policy.evidence import BETS, POWERS, Capital, Claim, claims, shift_growth, shift_p_value
from cutpoints._policy.format import checksum
from cutpoints.exceptions import InvalidInputError

BOUND = 0.95
PRECISION = Claim("precision >= 0.95", (1 - BOUND, -BOUND, 0.0, 0.0))


def scores(n, *, seed, shift=0.0, prevalence=0.3):
    """Labels and probabilities of a population."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < prevalence).astype(int)
    return y, 1 / (1 + np.exp(1 - shift - rng.normal(size=n) - 1.5 * y))


def found(**options):
    """A policy that was found on 5,000 rows."""
    y, p = scores(5000, seed=0)
    return cp.find(y, p, **{"maximize": "f1", **options}).policy(score="p", label="y")


# --- the bets


@pytest.mark.parametrize("share", [BOUND, 0.97, 1.0])
def test_no_bet_gains_while_the_claim_is_true(share):
    """The expected growth of each bet on one row is at most 1, so that the capital is a supermartingale."""
    good = np.exp(PRECISION.growth({"tp": 1, "fp": 0, "fn": 0, "tn": 0}))
    bad = np.exp(PRECISION.growth({"tp": 0, "fp": 1, "fn": 0, "tn": 0}))

    assert (share * good + (1 - share) * bad <= 1 + 1e-12).all()
    assert (PRECISION.growth({"tp": 0, "fp": 0, "fn": 5, "tn": 9}) == 0).all()


def test_capital_is_the_sum_over_all_starts_and_bets():
    """The recursion equals what each bet makes from each start, with shares 1/2, 1/6, 1/12, ..."""
    rng = np.random.default_rng(0)
    grown = rng.normal(0, 0.3, (6, len(BETS)))
    capital = Capital("c", ())
    for day, growth in enumerate(grown, 1):
        capital = capital.after(growth, day)
    by_hand = sum(
        np.exp(grown[start:].sum(axis=0)).mean() / ((start + 1) * (start + 2)) for start in range(6)
    )

    assert pytest.approx(by_hand + 1 / 7) == capital.evidence


@pytest.mark.parametrize(("s", "f"), [(540, 60), (560, 40), (57, 3), (5000, 350)])
def test_evidence_is_near_that_of_a_beta_mixture(s, f):
    """On one batch it is about that of the closed form with Jeffreys' prior below the bound."""
    mixture = (
        betaln(0.5 + s, 0.5 + f)
        + math.log(betainc(0.5 + s, 0.5 + f, BOUND))
        - betaln(0.5, 0.5)
        - math.log(betainc(0.5, 0.5, BOUND))
        - s * math.log(BOUND)
        - f * math.log(1 - BOUND)
    )
    growth = PRECISION.growth({"tp": s, "fp": f, "fn": 0, "tn": 0})

    assert abs(mixture - math.log(Capital("c", ()).after(growth, 1).evidence)) < math.log(20)


def days_to_alarm(precision, runs, *, days=250, calls=60, alpha=0.01):
    """The day of the alarm in each run, None without one; `precision` is a function of the day."""
    rng = np.random.default_rng(0)
    found = []
    for _ in range(runs):
        capital = Capital("c", ())
        for day in range(1, days + 1):
            s = rng.binomial(calls, precision(day))
            growth = PRECISION.growth({"tp": s, "fp": calls - s, "fn": 0, "tn": 0})
            capital = capital.after(growth, day)
            if capital.peak >= 1 / alpha:
                break
        found.append(day if capital.peak >= 1 / alpha else None)
    return found


def test_a_year_at_the_bound_gives_no_alarm():
    """At precision 0.95 exactly, 60 calls a day, few of 100 years alarm; daily tests alarm in nine of ten."""
    alarms = days_to_alarm(lambda _: 0.95, 100)

    assert sum(day is not None for day in alarms) <= 3


@pytest.mark.slow
def test_a_year_at_the_bound_gives_no_alarm_in_full():
    """In at most 1 % of 2,000 years, 3 standard errors."""
    alarms = days_to_alarm(lambda _: 0.95, 2000)

    assert np.mean([day is not None for day in alarms]) <= 0.01 + 3 * math.sqrt(0.01 * 0.99 / 2000)


@pytest.mark.parametrize(
    ("precision", "latest"),
    [(lambda _: 0.90, 10), (lambda _: 0.93, 50), (lambda day: 0.97 if day <= 100 else 0.90, 120)],
    ids=["to 0.90", "to 0.93", "to 0.90 after 100 good days"],
)
def test_a_fall_is_found(precision, latest):
    """The median day of the alarm, also after a long good time: 6, 30 and 12 days."""
    found = days_to_alarm(precision, 60)

    assert all(day is not None for day in found)
    assert np.median(found) <= latest


def test_p_values_of_batches_are_uniform_and_independent():
    """While nothing changes, a batch is as extreme as chance has it, whatever came before."""
    rng = np.random.default_rng(0)
    table = []
    for _ in range(150):
        seen = rng.multinomial(300, np.full(10, 0.1))
        row = []
        for _ in range(3):
            batch = rng.multinomial(40, np.full(10, 0.1))
            row.append(shift_p_value(seen, batch))
            seen = seen + batch
        table.append(row)
    p = np.array(table)

    assert abs(p.mean() - 0.5) < 3 * math.sqrt(1 / 12 / p.size)
    assert abs((p < 0.1).mean() - 0.1) < 3 * math.sqrt(0.09 / p.size)
    assert abs(np.corrcoef(p[:, 0], p[:, 1])[0, 1]) < 3 / math.sqrt(len(p))
    # The integral of power * p ** (power - 1) over [0, 1] is 1: no bet gains on a uniform p-value.
    assert pytest.approx(POWERS * 0.25 ** (POWERS - 1)) == np.exp(shift_growth(0.25))


def test_p_values_of_a_billion_rows():
    """More rows than NumPy can draw from are thinned: like batches stay like, and a shift is still seen."""
    seen = [3 * 10**9] * 10
    even, uneven = [10**8] * 10, [2 * 10**8] * 5 + [0] * 5

    assert shift_p_value(seen, even) > 0.01
    assert shift_p_value(seen, uneven) <= 1 / 10_000
    assert shift_p_value(seen, [20] * 10) > 0.5
    assert shift_p_value(seen, [40] * 5 + [0] * 5) < 0.01


def days_to_shift(shift, runs, *, days, batch=200):
    """The day on which normal scores that have moved are seen to have, None without an alarm."""
    edges = norm.ppf(np.arange(1, 10) / 10)
    shares = np.diff(norm.cdf(edges - shift), prepend=0.0, append=1.0)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(runs):
        seen, capital = rng.multinomial(5000, np.full(10, 0.1)), Capital("c", ())
        for day in range(1, days + 1):
            new = rng.multinomial(batch, shares)
            capital = capital.after(shift_growth(shift_p_value(seen, new)), day)
            seen = seen + new
            if capital.peak >= 100:
                break
        found.append(day if capital.peak >= 100 else None)
    return found


@pytest.mark.parametrize(("shift", "latest"), [(0.45, 2), (0.32, 4)], ids=["index 0.19", "index 0.10"])
def test_a_shift_of_scores_is_found_within_days(shift, latest):
    """The median day of the alarm is 1 and 2, at a level of 1 % for ever."""
    found = days_to_shift(shift, 10, days=20)

    assert all(day is not None for day in found)
    assert np.median(found) <= latest


@pytest.mark.slow
def test_scores_that_have_not_moved_give_no_alarm_in_full():
    """In at most 1 % of 60 times 100 days, 3 standard errors."""
    alarms = days_to_shift(0.0, 60, days=100)

    assert np.mean([day is not None for day in alarms]) <= 0.01 + 3 * math.sqrt(0.01 * 0.99 / 60)


# --- what a policy claims


def test_claims_of_a_policy():
    """Constraints on shares, and that the objective is not worse by a tenth; mcc has no such test."""
    names = lambda policy: [claim.name for claim in claims(policy)[0]]  # noqa: E731
    first, second = names(found(maximize="recall", subject_to="precision >= 0.6"))

    assert "precision >= 0.6" == first
    assert second.startswith("recall >= 0.")
    (cost,) = names(found(minimize="cost(fp=2, fn=1)", maximize=None))
    assert cost.startswith("cost(fp=2, fn=1) <= ")
    assert cost.endswith(" per 1,000 rows")
    assert ((), ("mcc",)) == claims(found(maximize="mcc"))
    assert ((), ()) == claims(cp.Policy(0.5))


@pytest.mark.parametrize(
    "goal", [{"maximize": "f1"}, {"maximize": "accuracy"}, {"minimize": "cost(fp=2, fn=1)"}]
)
def test_claims_are_true_of_the_rows_then(goal):
    """On the policy's own counts the worth of a row is above 0 on average."""
    y, p = scores(5000, seed=0)
    policy = cp.find(y, p, **goal).policy()
    (claim,) = claims(policy)[0]

    assert np.dot(claim.worth, list(policy.found_on.confusion.to_dict().values())) > 0


# --- the file


def test_state_carries_the_evidence(tmp_path):
    """Evidence grows from batch to batch, and an alarm comes when it reaches its limit."""
    policy, state = found(maximize="recall", subject_to="precision >= 0.6"), tmp_path / "state.json"
    first = policy.check(*scores(300, seed=1), state=state)

    assert (1, 300, True) == (first.watch.batches, first.watch.rows, first.watch.counted)
    assert "fine" == first.status
    assert 3 / 0.01 == first.watch.limit
    for day in range(2, 30):
        check = policy.check(*scores(300, seed=day, prevalence=0.12), state=state)
        if check.alarms:
            break
    assert "precision >= 0.6 is broken" in check.summary
    assert check.watch.refuted("precision >= 0.6")
    assert day == check.watch.batches


def test_rows_are_counted_once(tmp_path):
    """The same rows, or a batch of the same name, change nothing, and that is said."""
    policy, state = found(), tmp_path / "state.json"
    policy.check(*scores(300, seed=1), state=state)
    before = state.read_bytes()
    again = policy.check(*scores(300, seed=1), state=state)

    assert not again.watch.counted
    assert "not counted again. Small batches can agree by chance" in " ".join(again.notes)
    assert before == state.read_bytes()
    named = policy.check(*scores(300, seed=1), state=state, batch="Tuesday")
    assert named.watch.counted
    other = policy.check(*scores(300, seed=2), state=state, batch="Tuesday")
    assert not other.watch.counted
    assert "by chance" not in " ".join(other.notes)


def test_scores_alone_have_a_state_of_their_own(tmp_path):
    """A shift is an alarm once the evidence of all checks is enough, and not before a single odd day."""
    policy, state = found(), tmp_path / "state.json"
    _, p = scores(60, seed=1)
    assert "fine" == policy.check(p, state=state).status
    for day in range(2, 20):
        check = policy.check(scores(60, seed=day, shift=1.5)[1], state=state)
        if check.alarms:
            break

    assert "the scores have moved" in check.summary
    assert day <= 6
    with pytest.raises(InvalidInputError, match="begun without labels"):
        policy.check(*scores(60, seed=1), state=state)


def damaged(content, how):
    """A state that is not what was written."""
    if how == "text":
        return "hello"
    if how == "number":
        content["evidence"][0]["peak"] = 1.0
        content["evidence"][0]["evidence"] = 0.123
    if how == "version":
        content["version"] = 2
    if how == "field":
        del content["batches"]
    if how == "bets":
        content["evidence"][0]["logs"].pop()
    if how == "buckets":
        content["scores"].pop()
    if how == "rows":
        content["scores"][0] = 2**62
    if how in ("bets", "buckets", "rows"):
        del content["checksum"]
        content["checksum"] = checksum(content)
    return json.dumps(content)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("text", "not JSON"),
        ("number", "does not match its checksum"),
        ("version", "not a state of version 1"),
        ("field", "'batches' is missing"),
        ("bets", "'scores have not moved' has 8 bets"),
        ("buckets", "'scores' has 9 buckets"),
        ("rows", "'scores' has 10 buckets with [0-9]{19} rows"),
    ],
)
def test_damaged_states_are_refused(tmp_path, how, message):
    """What was changed by hand, cut off or written by another version is an error, and stays as it is."""
    policy, state = found(), tmp_path / "state.json"
    policy.check(*scores(300, seed=1), state=state)
    state.write_text(damaged(json.loads(state.read_text()), how))
    before = state.read_bytes()

    with pytest.raises(InvalidInputError, match=message):
        policy.check(*scores(300, seed=2), state=state)
    assert before == state.read_bytes()


def test_the_state_of_another_policy_is_refused(tmp_path):
    """Evidence against one policy says nothing of another."""
    state = tmp_path / "state.json"
    found().check(*scores(300, seed=1), state=state)

    with pytest.raises(InvalidInputError, match="belongs to another policy"):
        found(maximize="mcc").check(*scores(300, seed=2), state=state)


def test_nothing_is_counted_if_it_cannot_be_written(tmp_path):
    """Without a folder for the file there is an error and no half file."""
    with pytest.raises(InvalidInputError, match="Folder not found"):
        found().check(*scores(300, seed=1), state=tmp_path / "no" / "state.json")
    assert [] == list(tmp_path.iterdir())
