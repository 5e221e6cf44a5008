"""The page in a real browser: headless Chromium does what people do, and the library checks the numbers.

Skipped, with the reason, where there is no Chromium or no playwright; `make test` installs both where
it can.
"""

import itertools
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import cutpoints as cp
from cutpoints import metrics as m
from cutpoints._format import percent, short
from report.plain import counted

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
HOSTILE = (
    "</script><img src=x onerror=\"window.hacked='name'\">",
    '=HYPERLINK("http://example.com/","click") \u2028 <!-- <script> \'"`${1}\\',
    "模型 Ω " + "very long " * 60,
)

try:
    from playwright.sync_api import expect, sync_playwright
except ImportError:
    sync_playwright = None

pytestmark = [
    pytest.mark.xdist_group("chromium"),
    pytest.mark.skipif(
        CHROMIUM is None or sync_playwright is None,
        reason="THE PAGE IS NOT TESTED: "
        + ("playwright (the Python package)" if sync_playwright is None else "Chromium")
        + " is not installed; run `make test` as root on Debian, or install chromium and playwright.",
    ),
]


@pytest.fixture(scope="module")
def browser():
    """Start Chromium once, with a fresh profile."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(scored, tmp_path_factory):
    """Write the pages that the tests look at, once."""
    folder = tmp_path_factory.mktemp("pages with spaces and ü")
    y, good, worse = scored
    cp.report(y, {"good": good, "worse": worse}, folder / "two.html", minimize="cost(fp=1, fn=3)")
    cp.report(y, good, folder / "f1.html", maximize="f1", title="One model")
    limits = {"maximize": "recall", "subject_to": "precision >= 0.85"}
    cp.report(y, good, folder / "limits.html", **limits)
    names = {"positive_name": "fraud", "case_name": "order", "unit": "EUR", "per_month": 30_000}
    cp.report(y, good, folder / "named.html", minimize="cost(fp=2, fn=30)", **names)
    rare = np.arange(2000) < 39  # 19.5 of 1,000
    cp.report(rare, np.sin(np.arange(2000)) + rare, folder / "rare.html", maximize="f1")
    cp.report(y, good, folder / "profit.html", maximize="profit(tp=20, fp=-3)", unit="EUR")
    inverted = {"maximize": "kappa", "subject_to": "predicted_positive_rate >= 0.2"}
    cp.report(y, 1 - good, folder / "kappa.html", **inverted)
    cp.report(y, good, folder / "loss.html", maximize="profit(tp=1, fp=-30, fn=-20)", unit="EUR")
    cp.report(y, good, folder / "segments.html", maximize="f1", by=segment_keys(y))
    limited = {"minimize": "cost_per_row(fp=1, fn=3)", "subject_to": "recall >= 0.9"}
    cp.report(y, good, folder / "limited.html", **limited, by=segment_keys(y))
    amounts = {"maximize": m.profit(tp=20, fp=-3, fn=-amounts_of(y)), "unit": "EUR"}
    cp.report(y, good, folder / "amounts.html", **amounts)
    cp.report(y, np.round(1000 * good), folder / "points.html", maximize="mcc")
    cp.report(y, good, folder / "gain.html", maximize=lambda tp, fp, fn, tn: tp * tn - fp * fn)
    names = dict(zip(HOSTILE, (good, worse, good - worse), strict=True))
    cp.report(y, names, folder / "hostile.html", maximize="f1", title=HOSTILE[0])
    return folder


def amounts_of(y):
    """Return an amount for each row."""
    return np.round(np.random.default_rng(2).lognormal(3, 1, len(y)), 2)


@pytest.fixture
def visit(browser, pages):
    """Open a page without a network; at the end no error and no request must have been seen."""
    contexts, errors, requests = [], [], []

    def _visit(name, *, width=1440, **options):
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda m: errors.append(m.text) if m.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto((pages / name).as_uri())
        # Not wait_for_function, whose eval the page forbids.
        page.locator(".plot svg").first.wait_for(state="attached")
        settle(page)
        return page

    yield _visit
    for context in contexts:
        context.close()
    assert [] == errors
    assert [] == [url for url in requests if not url.startswith(("file:", "blob:", "data:,"))]
    assert len([url for url in requests if url.startswith("file:")]) == len(contexts)


def settle(page):
    """Wait until what was asked for is drawn."""
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def text_of(page, place):
    """Return a text with plain spaces: a number and its unit are kept on one line by another kind."""
    return page.locator(place).inner_text().replace("\u00a0", " ")


def raw(page, place):
    """Return the number behind a text on the page, in full precision."""
    return float(page.locator(place).get_attribute("data-value").replace("Infinity", "inf"))


READ = """() => {
    const value = (node) => [node.textContent, Number(node.dataset.value)];
    const pick = (nodes, name) => Object.fromEntries([...nodes].map((node) => [name(node), value(node)]));
    const mark = document.querySelector('#roc .mark-now');
    return {
        threshold: document.querySelector('#now').dataset.value,
        typed: document.querySelector('#now').value,
        sentence: document.querySelector('#sentence').textContent.replaceAll('\u00a0', ' '),
        cells: pick(document.querySelectorAll('#matrix [data-cell]'), (node) => node.dataset.cell),
        tiles: pick(document.querySelectorAll('#tiles dd[id]'), (node) => node.id.slice(5)),
        value: Number(document.querySelector('#value').dataset.value),
        fpr: mark.getAttribute('cx') / CHARTS.roc.width * 1.03 - 0.015,
        recall: 1.015 - mark.getAttribute('cy') / CHARTS.roc.height * 1.03,
    };
}"""
METRICS = ("precision", "recall", "f1", "mcc", "predicted_positive_rate", "specificity", "npv", "accuracy")


def check_numbers(page, y, p, goal=None, prevalence=None):
    """Compare everything on the page with a plain count at the threshold that it shows."""
    page.evaluate("document.querySelector('#more').open = true")
    settle(page)
    shown = page.evaluate(READ)
    threshold = float(shown["threshold"].replace("Infinity", "inf"))
    counts = counted(y, p, threshold)
    if shown["typed"] != "none":  # what people read and copy decides the same
        assert counts == counted(y, p, float(shown["typed"]))
        flagged = counts["fn"] + counts["tn"] > 0 and counts["tp"] + counts["fp"] > 0
        assert flagged == (f" \u2265 {shown['typed']}: " in shown["sentence"])
    if prevalence is not None:
        share = np.mean(y)
        counts = {
            name: count * (prevalence / share if name in ("tp", "fn") else (1 - prevalence) / (1 - share))
            for name, count in counts.items()
        }
    for name, count in counts.items():
        assert count == pytest.approx(shown["cells"][name][1], rel=1e-12)
        if prevalence is None:
            assert f"{count:,}" == shown["cells"][name][0]
    confusion = cp.Confusion(**counts)
    assert set(METRICS) == set(shown["tiles"])
    for name, (text, value) in shown["tiles"].items():
        wanted = confusion.metric(name)
        assert wanted == pytest.approx(value, rel=1e-9, abs=1e-12, nan_ok=True), name
        assert ("undefined" == text) == np.isnan(wanted)
    if goal is not None:
        wanted = confusion.metric(goal)
        assert wanted == pytest.approx(shown["value"], rel=1e-9, abs=1e-12, nan_ok=True)
    for name in ("fpr", "recall"):  # the mark on the ROC curve is where the rates are
        assert confusion.metric(name) == pytest.approx(shown[name], abs=1e-9)
    return threshold


def test_the_top_is_what_the_library_says(visit, pages, scored):
    """Sentence, value, threshold, the value at 0.5 and that on new data are those of the library."""
    y, good, _ = scored
    page = visit("f1.html")
    best = cp.find(y, good, maximize="f1")
    judged = cp.assess(y, good, maximize="f1", n_bootstrap=0)
    report = cp.report(y, good, maximize="f1").to_dict()

    assert best.threshold == check_numbers(page, y, good, "f1")
    assert best.value == raw(page, "#value")
    assert "proven: no threshold is better" == page.locator("#value-note").inner_text()
    assert report["models"][0]["sentence"] == text_of(page, "#sentence")
    assert judged.cross_validated == raw(page, "#expected")
    assert text_of(page, "#expected-note").startswith(f"at least {judged.lower_bound:.4g} with 95")
    assert cp.curve(y, good).at(0.5).confusion.metric("f1") == raw(page, "#usual")
    assert "One model" == page.title() == page.locator("h1").inner_text()


def test_page_and_library_say_the_same_sentence(visit, scored):
    """The page makes the sentence of each model in the same words as the library does."""
    names = ("two", "f1", "limits", "named", "profit", "loss", "points", "kappa")
    for name in [f"{one}.html" for one in names]:
        page = visit(name)
        said, made = page.evaluate(
            "[data.models.map((m) => m.sentence), models.map((m) => sentence(m, m.best))]"
        )
        assert said == made


def test_a_bound_is_no_rounding_error(visit, pages):
    """A bound that is 0 but for rounding reads 0: no -5e-15 stands in a sentence."""
    rng = np.random.default_rng(5)
    y = (rng.random(2000) < 0.3).astype(int)
    goal = {"maximize": "0.7*recall + 0.3*precision", "subject_to": "predicted_positive <= 20"}
    cp.report(y, rng.normal(y), pages / "zero.html", **goal)
    page = visit("zero.html")
    (model,) = page.evaluate("data.models")
    assert 0 < abs(model["new_data"]["bound"]) < 1e-12
    assert "at least 0 with 95 % confidence" == text_of(page, "#expected-note")


def test_the_slider_by_keyboard(visit, scored):
    """Arrow keys move by one cut, Home and End to all and none; every number follows."""
    y, good, _ = scored
    page = visit("f1.html")
    slider = page.locator("#threshold")
    best = cp.find(y, good, maximize="f1").threshold
    assert best == check_numbers(page, y, good)

    slider.focus()
    page.keyboard.press("ArrowLeft")
    below = check_numbers(page, y, good, "f1")
    assert below == max(good[good < best])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert check_numbers(page, y, good, "f1") == min(good[good > best])
    assert " below the best" in page.locator("#value-note").inner_text()
    assert "not known" == page.locator("#expected").inner_text()
    page.keyboard.press("PageDown")
    check_numbers(page, y, good)
    page.keyboard.press("End")
    assert np.inf == check_numbers(page, y, good, "f1")
    assert "undefined" == page.locator("#tile-precision").inner_text()
    assert text_of(page, "#sentence").startswith("Flag no case: this flags 0 % of cases")
    page.keyboard.press("Home")
    assert min(good) == check_numbers(page, y, good)
    assert "0" == page.locator("#matrix [data-cell=fn]").inner_text()
    assert text_of(page, "#sentence").startswith("Flag every case: this flags 100 % of cases")
    assert page.locator("#now").input_value() == slider.get_attribute("aria-valuetext")


def test_a_row_of_the_table_by_keyboard(visit, scored):
    """Enter on a row takes its threshold, and Tab goes on from there."""
    y, good, _ = scored
    page = visit("f1.html")
    row = page.locator("#table tbody tr").nth(2)
    row.locator("th button").focus()
    page.keyboard.press("Enter")
    check_numbers(page, y, good)
    assert row.locator("td").first.inner_text() == page.locator("#now").input_value()
    assert row.locator("th button").evaluate("node => node === document.activeElement")
    page.keyboard.press("Tab")
    assert "Copy" == page.evaluate("document.activeElement.textContent")


MARKED = ("roc", "pr", "metrics", "histogram", "cost", "envelope", "decision")


def test_the_slider_by_mouse(visit, scored):
    """A click on the track and a drag move the threshold, and the marks of all charts with it."""
    y, good, _ = scored
    page = visit("f1.html")
    check_numbers(page, y, good)
    before = {i: page.locator(f"#{i} .marks").inner_html() for i in MARKED}
    slider = page.locator("#threshold")
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + box["height"] / 2)
    first = check_numbers(page, y, good)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    assert check_numbers(page, y, good) > first
    for i, marks in before.items():
        assert marks != page.locator(f"#{i} .marks").inner_html(), i
    page.locator("#to-usual").click()
    assert 0.5 == check_numbers(page, y, good)
    page.locator("#to-best").click()
    assert cp.find(y, good, maximize="f1").threshold == check_numbers(page, y, good)


def test_a_threshold_is_typed(visit, scored):
    """A typed threshold decides as it says; what is no number says so and changes nothing."""
    y, good, _ = scored
    page = visit("f1.html")
    for text in ("0.3", "0,61", "1e-9", "2", "none"):
        page.locator("#now").fill(text)
        page.keyboard.press("Enter")
        at = float(text.replace(",", ".").replace("none", "inf"))
        assert counted(y, good, at) == counted(y, good, check_numbers(page, y, good))
    before = raw(page, "#now")
    page.locator("#now").fill("a lot")
    page.keyboard.press("Enter")
    assert "The threshold must be a number" in page.locator("#threshold-problem").inner_text()
    assert before == raw(page, "#now")
    enter(page, cost_fp="2")  # and is forgotten with the next change of any kind
    assert page.locator("#threshold-problem").is_hidden()


def test_shares_are_percentages(visit, scored):
    """A goal that is a share is a percentage wherever it is told, and differences are percentage points."""
    y, good, _ = scored
    page = visit("limits.html")
    best = cp.find(y, good, maximize="recall", subject_to="precision >= 0.85")
    assert percent(best.value) == text_of(page, "#value")
    found = f"{percent(best.value)} of positives found"
    assert text_of(page, "#brief").endswith(found)  # and not again as "recall"
    page.locator("#now").fill("0.9")
    page.keyboard.press("Enter")
    here = cp.curve(y, good).at(0.9).confusion.metric("recall")
    gap = f"{percent(best.value - here)[:-2]} percentage points below the best"
    assert (percent(here), gap) == (text_of(page, "#value"), text_of(page, "#value-note"))


def test_a_threshold_above_all_scores_flags_nobody(visit, pages):
    """Where not all cuts are drawn, a typed threshold beyond the scores is still taken at its word."""
    rng = np.random.default_rng(3)
    y = (rng.random(5000) < 0.3).astype(int)
    cp.report(y, rng.normal(y), pages / "many.html", maximize="f1")
    page = visit("many.html")
    page.locator("#now").fill("99")
    page.keyboard.press("Enter")

    assert "none" == page.locator("#now").input_value()
    assert text_of(page, "#sentence").startswith("Flag no case: this flags 0 % of cases")


def test_charts_tell_and_move_the_threshold(visit, scored):
    """Pointing at a chart names what it shows there; a click moves the threshold there."""
    y, good, _ = scored
    page = visit("f1.html")
    for chart, told in {
        "cost": ["Threshold", "Cost per 1,000 cases"],
        "metrics": ["Threshold", "Precision", "Recall", "F1"],
        "pr": ["Threshold", "Recall", "False positive rate", "Precision"],
        "histogram": ["Scores", "positives", "negatives"],
        "roc": ["Threshold", "Recall", "False positive rate", "Precision"],
        "decision": ["Threshold", "Net benefit per case"],
    }.items():
        check_numbers(page, y, good)
        place = page.locator(f"#{chart}")
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        where = (box["x"] + 0.6 * box["width"], box["y"] + 0.4 * box["height"])
        page.mouse.move(*where)
        assert told == page.locator("#tip dt").all_inner_texts(), chart
        shown = page.locator("#tip dd").first.inner_text()
        page.mouse.click(*where)
        check_numbers(page, y, good)
        if chart != "histogram":
            assert shown == page.locator("#now").input_value(), chart
        page.mouse.move(5, 5)
        assert page.locator("#tip").is_hidden()


def enter(page, **fields):
    """Type into the fields of the costs."""
    for name, text in fields.items():
        page.locator(f"#{name.replace('_', '-')}").fill(text)
    settle(page)


def test_costs_drive_everything(visit, scored, tmp_path):
    """New costs and a new share of positives move threshold, sentence, value, charts, table and policy."""
    y, good, _ = scored
    hull = cp.curve(y, good).hull()
    for name in ("two.html", "f1.html"):
        page = visit(name)
        check_numbers(page, y, good)
        for fp, fn, part in (("3", "2", None), ("1", "40", "5"), ("7.5", "1", "60"), ("0", "1", "30")):
            before = page.locator("#cost").inner_html()
            enter(page, cost_fp=fp, cost_fn=fn, **({"prevalence": part} if part else {}))
            share = float(part) / 100 if part else None
            touch = hull.at_cost(fp=float(fp), fn=float(fn), prevalence=share)
            goal = f"cost(fp={fp}, fn={fn})"

            assert touch.cuts[0].threshold == check_numbers(page, y, good, goal, share)
            assert len(y) * touch.cost == pytest.approx(raw(page, "#value"), abs=1e-9)
            assert "no threshold is better" == page.locator("#value-note").inner_text()
            assert before != page.locator("#cost").inner_html()
            row = page.locator("#table tbody tr").first
            assert "Lowest cost" == row.locator("th").inner_text()
            assert page.locator("#now").input_value() == row.locator("td").first.inner_text()
            with page.expect_download() as waiting:
                page.locator("#download-now").click()
            waiting.value.save_as(tmp_path / "policy.json")
            policy = cp.Policy.load(tmp_path / "policy.json")
            assert touch.cuts[0].threshold == policy.threshold
            assert ("minimize", str(cp.find(y, good, minimize=goal).objective)) == (
                policy.direction,
                policy.objective,
            )
            counts = cp.Confusion(**counted(y, good, policy.threshold))
            assert counts.metric(goal) == policy.found_on.value
            said = f"Chosen for {part} % positives; the data have {percent(np.mean(y))}." if part else None
            assert (said, None) == (policy.description, policy.found_on.cross_validated)
            # `check` judges it by the new costs: on the same rows nothing has changed.
            assert policy.check(y, good).fine
        page.locator("#reset").click()
        settle(page)
        (model, *_) = page.evaluate("data.models")
        assert model["solution"]["threshold"] == check_numbers(page, y, good)
        assert model["sentence"] == text_of(page, "#sentence")


def test_costs_by_row_stay_and_the_others_can_be_changed(visit, scored, tmp_path):
    """Amounts are fixed on the page; with other costs and shares the threshold is still the best one."""
    y, good, _ = scored
    amount = amounts_of(y)
    page = visit("amounts.html")
    assert ("-values", True) == (
        page.locator("#cost-fn").input_value(),
        page.locator("#cost-fn").is_disabled(),
    )
    assert page.locator("#figure-cost h3").inner_text() == "Profit against threshold"
    best = cp.find(y, good, maximize=m.profit(tp=20, fp=-3, fn=-amount))
    (model,) = page.evaluate("data.models")
    assert model["sentence"] == text_of(page, "#sentence")
    assert best.value == pytest.approx(-raw(page, "#value"))
    missed = float(amount[(y == 1) & (good < best.threshold)].sum())
    assert f"cost {missed:,.0f} EUR" == text_of(page, "#money-fn") or f"cost {missed:,.2f} EUR" == text_of(
        page, "#money-fn"
    )
    for fp, part in (("9", None), ("1", "60")):
        enter(page, cost_fp=fp, **({"prevalence": part} if part else {}))
        share = float(part) / 100 if part else y.mean()
        weights = np.where(y == 1, share / y.mean(), (1 - share) / (1 - y.mean()))
        values = {}
        for t in [np.inf, *np.unique(good)]:
            called = good >= t
            gains = np.where(called, np.where(y == 1, 20, -float(fp)), np.where(y == 1, -amount, 0.0))
            values[t] = float((weights * gains).sum())
        assert max(values.values()) == pytest.approx(-raw(page, "#value"))
        assert max(values, key=values.get) == raw(page, "#now")
        with page.expect_download() as waiting:
            page.locator("#download-now").click()
        waiting.value.save_as(tmp_path / "policy.json")
        policy = cp.Policy.load(tmp_path / "policy.json")
        assert f"cost(tp=-20, fp={fp}, fn=-values)" == policy.objective
    page.locator("#reset").click()
    settle(page)
    assert model["sentence"] == text_of(page, "#sentence")
    page.locator("#band summary").click()
    enter(page, review_cost="4")
    top = np.argsort(-good)
    flagged = np.append(0, np.cumsum(np.where(y[top] == 1, 0, 3)))  # false alarms above the upper cut
    left = np.append(0, np.cumsum(np.where(y[top] == 1, -20 - amount[top], 0))) + amount[y == 1].sum()
    pairs = [flagged[i] + left[j] + 4 * (j - i) for j in range(len(y) + 1) for i in range(j + 1)]
    assert min(pairs) == pytest.approx(raw(page, "#band-cost"))
    assert f"Profit per 1,000 cases: {-min(pairs) * 1000 / len(y):,.0f} EUR." in text_of(page, "#band-impact")
    enter(page, review_cost="0.5")
    assert re.search(r"EUR more than with one threshold\.$", text_of(page, "#band-impact"))


def test_the_share_of_positives_moves_every_metric(visit, scored):
    """Precision, F, MCC, the baseline of the PR chart and a goal by F1 follow the share of positives."""
    y, good, _ = scored
    page = visit("f1.html")
    weights = np.where(y == 1, 0.05 / np.mean(y), 0.95 / (1 - np.mean(y)))
    before = page.locator("#pr").inner_html()
    enter(page, prevalence="5")
    best = cp.find(y, good, maximize="f1", sample_weight=weights)
    assert best.threshold == check_numbers(page, y, good, "f1", 0.05)
    assert before != page.locator("#pr").inner_html()
    assert 0.05 == page.evaluate("CHARTS.pr.shape.series[0].y[0]")
    rows = page.locator("#table tbody tr").all()
    assert ["Best for the goal", "0.5", "Best MCC", "Best Youden's J", "Best accuracy"] == [
        row.locator("th").inner_text() for row in rows
    ]
    for name, row in zip(("mcc", "accuracy"), (rows[2], rows[4]), strict=True):
        wanted = cp.find(y, good, maximize=name, sample_weight=weights).threshold
        row.locator("th button").click()
        assert wanted == check_numbers(page, y, good, None, 0.05), name


def test_constraints_follow_the_share_of_positives(visit, scored):
    """At another share the constraints are checked again, and the best threshold meets them there."""
    y, good, _ = scored
    page = visit("limits.html")
    for part in ("10", "60"):
        share = float(part) / 100
        enter(page, prevalence=part)
        weights = np.where(y == 1, share / np.mean(y), (1 - share) / (1 - np.mean(y)))
        best = cp.find(y, good, maximize="recall", subject_to="precision >= 0.85", sample_weight=weights)
        assert best.threshold == check_numbers(page, y, good, "recall", share)
    page.locator("#threshold").focus()
    page.keyboard.press("Home")
    assert "does not meet precision >= 0.85" in page.locator("#warnings").inner_text()


def test_a_goal_that_the_page_cannot_compute_says_so(visit, scored):
    """At another share, a goal without a formula keeps its threshold, and the page says why."""
    page = visit("gain.html")
    before = raw(page, "#now")
    enter(page, prevalence="5")
    assert before == raw(page, "#now")
    assert "cannot be computed here for another share" in page.locator("#warnings").inner_text()


def test_counts_are_for_rows_a_thousand_cases_or_a_month(visit, scored):
    """The matrix is shown for the rows, for 1,000 cases or for a month, as one chooses."""
    y, good, _ = scored
    page = visit("named.html")
    best = cp.find(y, good, minimize="cost(fp=2, fn=30)").confusion
    for value, cases in (("month", 30_000), ("thousand", 1000), ("rows", 400)):
        page.locator(f"[name=volume][value={value}]").check(force=True)
        assert best.fp * cases / 400 == pytest.approx(raw(page, "#matrix [data-cell=fp]"))
    enter(page, month="800")
    assert 2 * best.fp == pytest.approx(raw(page, "#matrix [data-cell=fp]"))
    assert f"Of 800 cases a month, {2 * (best.tp + best.fp)} are flagged" in text_of(page, "#impact")
    assert f"Cost a month: {2 * best.metric('cost(fp=2, fn=30)'):,.0f} EUR" in text_of(page, "#impact")


def test_what_is_flagged_is_the_sum_of_what_is_told(visit):
    """Of 1,000 cases never 1,000 are flagged, of which 20 are positive and 981 false alarms."""
    page = visit("rare.html")
    page.locator("[name=volume][value=thousand]").check(force=True)
    page.locator("#threshold").focus()
    page.keyboard.press("Home")
    assert "Of 1,000 cases, 1,000 are flagged: 20 positives and 980 false alarms" in text_of(page, "#impact")
    assert "980" == page.locator("#matrix [data-cell=fp]").inner_text()
    every = page.evaluate("state.model.t.map((_, i) => parts(scene(state.model).confusion(i), 1000))")
    for told in every:
        flagged, tp, fp = (float(told[name].replace(",", "")) for name in ("flagged", "tp", "fp"))
        assert flagged == pytest.approx(tp + fp)
        if flagged >= 10 and "." in told["fn"]:  # digits as for the others, but never 0 where some are missed
            assert 0 < float(told["fn"]) < 0.5


def test_a_band_of_reviews_is_the_best_of_all_pairs(visit, scored):
    """Thresholds, cost and reviews of the card are those of `find_band`, with and without a limit."""
    y, good, _ = scored
    page = visit("named.html")
    page.evaluate("document.querySelector('#band').open = true")
    for cost, most in (("1", ""), ("0.5", "2000"), ("3", "500"), ("40", ""), ("0", "0")):
        enter(page, review_cost=cost, review_most=most)
        capacity = float(most) * len(y) / 30_000 if most else None
        band = cp.find_band(y, good, minimize=f"cost(fp=2, fn=30, review={cost})", capacity=capacity)
        assert band.value == pytest.approx(raw(page, "#band-cost"))
        assert band.reviewed == raw(page, "#band-reviewed")
        assert (band.low, band.high) == (raw(page, "#band-low-now"), raw(page, "#band-high-now"))
    assert "Review nothing" in page.locator("#band-sentence").inner_text()
    assert "one threshold" not in page.locator("#band-impact").inner_text()  # no "0 EUR less than"
    enter(page, review_cost="1", review_most="")
    page.locator("#band-low").focus()
    page.keyboard.press("Home")
    assert min(good) == raw(page, "#band-low-now")
    page.keyboard.press("End")
    assert (np.inf, np.inf) == (raw(page, "#band-low-now"), raw(page, "#band-high-now"))
    assert "more than the best pair" in page.locator("#band-note").inner_text()
    enter(page, review_cost="-1")
    assert "at least 0" in page.locator("#band-problem").inner_text()


def test_reviews_are_compared_with_one_threshold_as_free_as_they_are(visit, scored):
    """Constraints are not applied to a pair, nor to the threshold that it is compared with."""
    page = visit("limited.html")
    page.evaluate("document.querySelector('#band').open = true")
    enter(page, review_cost="100")
    assert "Review nothing" in page.locator("#band-sentence").inner_text()
    assert "than with one threshold" not in page.locator("#band-impact").inner_text()
    assert "cutpoints band" not in page.locator("#band-note").inner_text()  # all pairs were compared


def test_segments_follow_the_threshold(visit, scored):
    """Each segment has its counts at the threshold of the page, and its own best threshold beside them."""
    y, good, _ = scored
    page = visit("segments.html")
    keys = segment_keys(y)
    own = cp.find_by(y, good, by=keys, maximize="f1")

    def check(threshold):
        rows = {
            row.locator("th").inner_text().split(" few")[0]: row.locator("td").all_inner_texts()
            for row in page.locator("#segments-table tbody tr").all()
        }
        assert {HOSTILE[0], "north", "(missing)"} == set(rows)
        for key, cells in rows.items():
            inside = np.array([one == (None if key == "(missing)" else key) for one in keys])
            confusion = cp.Confusion(**counted(y[inside], good[inside], threshold))
            wanted = [confusion.metric(name) for name in ("predicted_positive_rate", "precision", "recall")]
            shown = [f"{inside.sum()}", *(percent(x).replace("nan", "undefined") for x in wanted)]
            assert shown == [cells[0], *cells[2:5]]
            assert short(confusion.metric("f1")) == cells[5]
            best = own[None if key == "(missing)" else key]
            assert short(best.value) == cells[7]
            assert best.interval.low < float(cells[6]) <= best.interval.high

    check(check_numbers(page, y, good))
    page.locator("#now").fill("0.6")
    page.keyboard.press("Enter")
    check(check_numbers(page, y, good))
    enter(page, cost_fp="1", cost_fn="9")
    assert "Cost per 1,000 cases" in page.locator("#segments-table thead").inner_text()


def test_segments_have_their_costs_and_constraints(visit, scored):
    """A segment's best threshold meets the constraints at any costs, and its cost is that of all its rows."""
    y, good, _ = scored
    page = visit("limited.html")
    for fp, fn in (("1", "3"), ("2", "1")):
        enter(page, cost_fp=fp, cost_fn=fn)
        own = cp.find_by(
            y, good, by=segment_keys(y), minimize=f"cost(fp={fp}, fn={fn})", subject_to="recall >= 0.9"
        )
        for row in page.locator("#segments-table tbody tr").all():
            key, cells = row.locator("th").inner_text().split(" few")[0], row.locator("td").all_inner_texts()
            best = own[None if key == "(missing)" else key]
            assert best.interval.low < float(cells[6]) <= best.interval.high
            assert float(cells[7]) == pytest.approx(best.value * 1000 / len(y), abs=0.01)


def test_segments_tell_the_goal_once(visit, pages, scored):
    """Precision as the goal has one column."""
    y, good, _ = scored
    goal = {"maximize": "precision", "subject_to": "recall >= 0.5"}
    cp.report(y, good, pages / "once.html", **goal, by=segment_keys(y))
    heads = visit("once.html").locator("#segments-table thead th").all_inner_texts()
    assert ["Flagged", "Recall", "Precision", "Best here", "Precision there"] == heads[3:]


def segment_keys(y):
    """Return segments with a hostile and a missing name."""
    return np.array([HOSTILE[0], "north", None], dtype=object)[np.arange(len(y)) % 7 % 3]


def test_a_field_that_is_no_number_is_refused(visit):
    """An empty or negative field says what it must be and changes nothing; Reset brings the goal back."""
    page = visit("two.html")
    before = raw(page, "#now")
    page.locator("#cost-fn").fill("-3")
    assert "Costs must be numbers of at least 0." == page.locator("#cost-problem").inner_text()
    page.locator("#cost-fn").fill("3")
    page.locator("#prevalence").fill("120")
    assert "between 0 and 100" in page.locator("#cost-problem").inner_text()
    assert before == raw(page, "#now")
    page.locator("#reset").click()
    assert page.locator("#cost-problem").is_hidden()


def test_a_constraint_that_will_fail_stands_beside_the_headline(visit, pages):
    """What is expected to fail on new data is a warning on the first screen."""
    page = visit("limits.html")
    warning = page.locator("#warnings li").first
    assert "precision >= 0.85 holds on these rows" in warning.inner_text()
    assert "expected to fail on new data" in warning.inner_text()
    assert warning.bounding_box()["y"] < 500


def test_half_is_for_probabilities(visit):
    """For points there is no "0.5": no fact, no button, no row, no word in the sentence."""
    page = visit("points.html")
    assert page.locator("#usual-fact").is_hidden()
    assert page.locator("#to-usual").is_hidden()
    assert "0.5" not in text_of(page, "#sentence")
    assert "0.5" not in page.locator("#table tbody th").all_inner_texts()


def test_models_are_switched_by_keyboard(visit, scored):
    """Another model brings its own threshold, sentence, table and policies."""
    y, good, worse = scored
    page = visit("two.html")
    check_numbers(page, y, good)
    assert "good \u2265" in text_of(page, "#sentence")
    page.locator("#models input").first.focus()
    page.keyboard.press("ArrowRight")
    best = cp.find(y, worse, minimize="cost(fp=1, fn=3)")
    assert best.threshold == check_numbers(page, y, worse, "cost(fp=1, fn=3)")
    assert "worse \u2265" in text_of(page, "#sentence")
    assert 2 == page.locator("#models-table tbody tr").count()
    assert "good is better than worse by" in text_of(page, "#verdict")
    enter(page, cost_fp="2")
    assert page.locator("#verdict").is_hidden()  # it was tested for other costs
    page.locator("#reset").click()
    assert page.locator("#verdict").is_visible()
    page.locator("#month").fill("500")
    assert page.locator("#verdict").is_hidden()  # its money is for 1,000 cases
    assert "" == page.locator("#loss").inner_text()


def test_policies_are_downloaded(visit, scored, tmp_path):
    """Each row of the table, and any position of the slider, gives a file that the library accepts."""
    y, good, _ = scored
    page = visit("two.html")

    def download(button):
        with page.expect_download() as waiting:
            button.click()
        assert "policy.json" == waiting.value.suggested_filename
        place = tmp_path / "policy.json"
        waiting.value.save_as(place)
        return cp.Policy.load(place)

    rows = page.locator("#table tbody tr").all()
    assert len(rows) >= 6
    for row in rows:
        policy = download(row.get_by_text("Download"))
        row.locator("th button").click()
        assert policy.threshold == check_numbers(page, y, good)
        assert (good >= policy.threshold).astype(int).tolist() == policy.decide(good).tolist()
        assert counted(y, good, policy.threshold) == policy.found_on.confusion.to_dict()
    page.locator("#threshold").focus()
    for key in ("Home", "ArrowRight", "PageUp", "End"):
        page.keyboard.press(key)
        settle(page)
        policy = download(page.locator("#download-now"))
        assert raw(page, "#now") == policy.threshold
        assert counted(y, good, policy.threshold) == policy.found_on.confusion.to_dict()
        # The same seven numbers give the same fingerprint as in the library.
        fixed = cp.find(y, good, maximize=exactly(policy.found_on.confusion)).policy()
        assert fixed.found_on.fingerprint == policy.found_on.fingerprint
    page.locator("#to-best").click()
    made = cp.find(y, good, minimize="cost(fp=1, fn=3)").policy(name="good").to_dict()
    found = download(page.locator("#download-now")).to_dict()
    for untold in ("created", "checksum"):
        assert found.pop(untold)
        made.pop(untold)
    made["found_on"].pop("certificate")
    found["found_on"].pop("certificate")
    assert made == found


def exactly(confusion):
    """Return an objective that is best at this confusion and nowhere else."""

    def nearness(tp, fp, fn, tn):
        return -abs(tp - confusion.tp) - abs(fp - confusion.fp) + 0 * fn * tn

    return nearness


def test_a_policy_is_copied(visit, scored):
    """ "Copy" puts the same file on the clipboard, and says so on the button."""
    y, good, _ = scored
    page = visit("f1.html", permissions=["clipboard-read", "clipboard-write"])
    button = page.locator("#table tbody tr").first.locator(".actions button").first
    assert "Copy" == button.inner_text()
    button.click()
    expect(button).to_have_text("Copied")
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert cp.find(y, good, maximize="f1").threshold == copied["rule"]["threshold"]
    assert copied["checksum"].startswith("sha256:")


def test_hostile_names_are_text(visit):
    """Names with markup, formulas, quotes and line separators are shown as they are and do nothing."""
    page = visit("hostile.html")
    for i, name in enumerate(HOSTILE):
        assert name == page.locator("#models label span").nth(i).evaluate("node => node.textContent")
        assert name == page.locator("#roc-legend li span, #pr-legend li span").filter(
            has_text=name[:20]
        ).first.evaluate("node => node.textContent")
        page.locator("#models input").nth(i).check(force=True)
        settle(page)
        assert name in page.locator("#sentence").evaluate("node => node.textContent")
    assert HOSTILE[0] == page.locator("h1").inner_text() == page.title()
    assert page.evaluate("window.hacked === undefined")
    assert 0 == page.locator("img").count()
    assert 2 == page.locator("script").count()


def test_without_scripts_the_decision_is_there(browser, pages, scored):
    """A viewer that runs no script shows the decision and its values, and no controls that do nothing."""
    context = browser.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    page.goto((pages / "named.html").as_uri())
    assert page.locator("#sentence").is_visible()
    assert page.locator("#value").inner_text()
    assert "need JavaScript" in page.locator(".hero").inner_text()
    dead = [one for one in page.locator("button, input, .plot").all() if one.is_visible()]
    context.close()
    assert [] == dead


@pytest.mark.parametrize("name", ["f1.html", "amounts.html", "hostile.html"])
def test_nothing_is_cut_off(visit, name):
    """At phone, tablet and desktop width nothing sticks out; wide tables scroll in their own box."""
    page = visit(name, width=375)
    check_layout(page)
    for width in (768, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        settle(page)
        check_layout(page)


def check_layout(page):
    """Look for anything outside of the window, and for charts that are wider than their place."""
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.locator("#brief").bounding_box()["width"] > 150
    out = page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter(node => {
            if (node.closest('.scroll, .sr, .skip, svg, [hidden]')) return false;
            const box = node.getBoundingClientRect();
            return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
        }).map(node => node.outerHTML.slice(0, 80))"""
    )
    assert [] == out
    wide = """() => [...document.querySelectorAll('.plot > svg')].filter(
        svg => Math.abs(svg.viewBox.baseVal.width - svg.closest('.plot').clientWidth) > 1).length"""
    assert 0 == page.evaluate(wide)
    broken = """() => [...document.querySelectorAll('.big, .tile dd:not(.hint), .matrix b')].filter(
        node => node.checkVisibility() && node.getBoundingClientRect().height >
            2 * parseFloat(getComputedStyle(node).fontSize)).length"""
    assert 0 == page.evaluate(broken)
    if page.viewport_size["width"] >= 1440:
        assert page.evaluate(
            "[...document.querySelectorAll('.scroll')].every(n => n.scrollWidth <= n.clientWidth)"
        )


def test_the_dark_scheme_reaches_the_charts(visit):
    """When the system turns dark, page and charts turn dark, without a reload."""
    page = visit("f1.html", color_scheme="light")
    page.evaluate("document.querySelector('#more').open = true")
    settle(page)

    def colours():
        settle(page)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return ground, page.locator("#roc .xtitle").evaluate("node => getComputedStyle(node).fill")

    light = colours()
    page.emulate_media(color_scheme="dark")
    expect(page.locator("#roc .xtitle")).not_to_have_css("fill", light[1])
    dark = colours()
    assert luminance(light[0]) > 0.8
    assert luminance(dark[0]) < 0.2
    assert contrast(*light) >= 4.5
    assert contrast(*dark) >= 4.5


def test_text_has_contrast(visit):
    """Every text has at least the contrast that WCAG AA asks for, 4.5 to 1, light and dark."""
    page = visit("two.html", color_scheme="light")
    check_contrast(page)
    page.emulate_media(color_scheme="dark")
    settle(page)
    check_contrast(page)


def check_contrast(page):
    """Compare the colour of every text with what is behind it."""
    found = page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter(node =>
              node.checkVisibility() && !node.closest('svg, script, .sr, .skip, button:disabled')
              && [...node.childNodes].some(child => child.nodeType === 3 && child.textContent.trim()))
            .map(node => { let under = node, ground;
              do { ground = getComputedStyle(under).backgroundColor; under = under.parentElement; }
              while (under && /, 0\\)$/.test(ground));
              return [getComputedStyle(node).color, ground, node.textContent.slice(0, 30)]; })"""
    )
    assert len(found) > 60
    assert [] == [one for one in found if contrast(one[0], one[1]) < 4.5]


def luminance(colour):
    """Return the relative luminance of an ``rgb()`` text."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(first, second):
    """Return the contrast ratio of two colours."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def test_a_notebook_shows_the_page_in_a_sandbox(browser, pages, scored):
    """In a notebook the page works in a frame of its own, which cannot reach what is around it."""
    y, good, _ = scored
    made = cp.report(y, good, maximize="f1", title=HOSTILE[0])
    place = pages / "notebook.html"
    place.write_text(f"<!doctype html><h1>Mine</h1>{made._repr_html_()}", encoding="utf-8")
    page = browser.new_page(offline=True)
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(place.as_uri())
    inside = page.frame_locator("iframe")
    expect(inside.locator("#sentence")).to_contain_text("Flag a case when score")
    inside.locator("#now").fill("0.3")
    inside.locator("#now").press("Enter")
    confusion = counted(y, good, 0.3)
    assert f"{confusion['tp']}" == inside.locator("#matrix [data-cell=tp]").inner_text()
    reach = "() => { try { return parent.document.title } catch { return 'refused' } }"
    assert "refused" == page.frames[1].evaluate(reach)
    assert [] == errors
    with page.expect_download() as waiting:
        inside.locator("#download-now").click()
    assert 0.3 <= cp.Policy.load(waiting.value.path()).threshold < 0.32
    page.close()


def test_it_prints(visit):
    """Printed, there is no slider, the charts fit their columns, and colours are those of paper."""
    page = visit("two.html", color_scheme="dark")
    pdf = page.pdf(format="A4", print_background=True)
    assert pdf.startswith(b"%PDF")
    assert 3 <= len(re.findall(rb"/Type\s*/Page[^s]", pdf)) <= 4
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    settle(page)
    assert page.locator("#threshold").is_hidden()
    assert page.locator("#sentence").is_visible()
    assert luminance(page.locator("#roc .xtitle").evaluate("node => getComputedStyle(node).fill")) < 0.2
    plot, card = (
        page.locator("#roc > svg").bounding_box(),
        page.locator("#figure-roc").bounding_box(),
    )
    assert plot["x"] + plot["width"] <= card["x"] + card["width"]
    page.set_viewport_size({"width": 690, "height": 1000})  # the inside of A4
    settle(page)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    settle(page)
    assert page.locator("#threshold").is_visible()


def test_it_is_named_for_screen_readers(visit):
    """Headings descend without gaps, every control has a name, the sentence of the slider is live."""
    page = visit("two.html")
    levels = page.evaluate(
        "[...document.querySelectorAll('h1, h2, h3')].map(node => Number(node.tagName[1]))"
    )
    assert 1 == levels[0] == min(levels)
    assert all(b - a <= 1 for a, b in itertools.pairwise(levels))
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, input')].filter(node =>
            !(node.textContent.trim() || node.labels?.length || node.ariaLabel)).length"""
    )
    assert 0 == nameless
    assert "polite" == page.locator("#sentence").get_attribute("aria-live")
    assert page.locator("#roc").get_attribute("aria-label").startswith("ROC curve. ")


def test_large_data_are_exact_at_the_optimum_and_bounded_elsewhere(visit, pages, monkeypatch):
    """Drawn from buckets, the optimum is exact still, and no threshold beats the bound at other costs."""
    from cutpoints._report import cuts
    from cutpoints._search import run

    monkeypatch.setattr(cuts, "ALL_CUTS_ROWS", 1000)
    monkeypatch.setattr(run, "FETCHED_ROWS", 1000)
    rng = np.random.default_rng(3)
    y = (rng.random(60_000) < 0.2).astype(int)
    p = 1 / (1 + np.exp(-(rng.normal(size=60_000) + 1.5 * y)))
    cp.report(y, p, pages / "large.html", maximize="f1")
    page = visit("large.html")
    best = cp.find(y, p, maximize="f1")
    assert (best.threshold, best.value) == (raw(page, "#now"), raw(page, "#value"))
    assert best.threshold == check_numbers(page, y, p)
    page.locator("#cost-fp").fill("3")
    settle(page)
    touch = cp.curve(y, p).hull().at_cost(fp=3, fn=1)
    bound = page.evaluate("scene(state.model).bound") / len(y)
    assert bound <= touch.cost <= raw(page, "#value") / len(y) <= 1.02 * bound
    assert "no threshold costs less than" in page.locator("#value-note").inner_text()
    check_numbers(page, y, p)


def test_the_file_is_one_file():
    """Nothing in the page's own sources points to an address."""
    folder = Path(cp.report.__code__.co_filename).parent
    own = [place for ending in ("j2", "css", "js") for place in folder.glob(f"*.{ending}")]
    assert len(own) == 9
    for place in own:
        text = place.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", text), place.name
