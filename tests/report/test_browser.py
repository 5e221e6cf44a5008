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
    names = dict(zip(HOSTILE, (good, worse, good - worse), strict=True))
    cp.report(y, names, folder / "hostile.html", maximize="f1", title=HOSTILE[0])
    return folder


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
        page.locator(".plot .main-svg").first.wait_for(state="attached")
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


def raw(page, place):
    """Return the number behind a text on the page, in full precision."""
    return float(page.locator(place).get_attribute("data-value").replace("Infinity", "inf"))


READ = """() => {
    const value = (node) => [node.textContent, Number(node.dataset.value)];
    const pick = (nodes, name) => Object.fromEntries([...nodes].map((node) => [name(node), value(node)]));
    const [box, mark] = [document.querySelector('#roc'), document.querySelector('#roc-marks .mark-now')];
    return {
        threshold: document.querySelector('#now').dataset.value,
        cells: pick(document.querySelectorAll('#matrix [data-cell]'), (node) => node.dataset.cell),
        tiles: pick(document.querySelectorAll('#tiles dd[id]'), (node) => node.id.slice(5)),
        fpr: mark.getAttribute('cx') / (box.clientWidth - MARGIN.l - MARGIN.r) * 1.03 - 0.015,
        recall: 1.015 - mark.getAttribute('cy') / (box.clientHeight - MARGIN.t - MARGIN.b) * 1.03,
    };
}"""


def check_numbers(page, y, p):
    """Compare matrix, tiles and marks with a plain count at the threshold that the page shows."""
    settle(page)
    shown = page.evaluate(READ)
    threshold = float(shown["threshold"].replace("Infinity", "inf"))
    counts = counted(y, p, threshold)
    assert {name: [f"{count:,}", count] for name, count in counts.items()} == shown["cells"]
    confusion = cp.Confusion(**counts)
    for name, (text, value) in shown["tiles"].items():
        wanted = confusion.metric(name if name != "objective" else "cost(fp=1, fn=3)")
        assert wanted == pytest.approx(value, rel=1e-12, abs=1e-15, nan_ok=True), name
        assert ("undefined" == text) == np.isnan(wanted)
    for name in ("fpr", "recall"):  # the mark on the ROC curve is where the rates are
        assert confusion.metric(name) == pytest.approx(shown[name], abs=1e-9)
    return threshold


def test_the_top_is_what_the_library_says(visit, scored):
    """Threshold, value, confusion, the value at 0.5 and the honest value are those of the library."""
    y, good, _ = scored
    page = visit("f1.html")
    best = cp.find(y, good, maximize="f1")
    judged = cp.assess(y, good, maximize="f1", n_bootstrap=0)

    assert best.threshold == raw(page, "#best-threshold")
    assert repr(best.threshold) == page.locator("#best-exact").inner_text()
    assert best.value == raw(page, "#best-value")
    for name, count in best.confusion.to_dict().items():
        assert count == raw(page, f"#best-matrix [data-cell={name}]")
    assert judged.cross_validated == raw(page, "#honest-value")
    assert (
        f"at least {judged.lower_bound:.4f} with 95 % confidence"
        == page.locator("#honest-bound").inner_text()
    )
    assert cp.curve(y, good).at(0.5).confusion.metric("f1") == raw(page, "#usual-value")
    assert "One model" == page.title() == page.locator("h1").inner_text()


def test_the_slider_by_keyboard(visit, scored):
    """Arrow keys move by one cut, Home and End to everybody and nobody; every number follows."""
    y, good, _ = scored
    page = visit("f1.html")
    slider = page.locator("#threshold")
    best = cp.find(y, good, maximize="f1").threshold
    assert best == check_numbers(page, y, good)

    slider.focus()
    page.keyboard.press("ArrowLeft")
    below = check_numbers(page, y, good)
    assert below == max(good[good < best])
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert check_numbers(page, y, good) == min(good[good > best])
    page.keyboard.press("PageDown")
    check_numbers(page, y, good)
    page.keyboard.press("End")
    assert np.inf == check_numbers(page, y, good)
    assert "undefined" == page.locator("#tile-precision").inner_text()
    assert "nobody" in page.locator(".ends").inner_text()
    page.keyboard.press("Home")
    assert min(good) == check_numbers(page, y, good)
    assert "0" == page.locator("#matrix [data-cell=fn]").inner_text()
    assert page.locator("#now").inner_text() == slider.get_attribute("aria-valuetext")


def test_the_slider_by_mouse(visit, scored):
    """A click on the track and a drag move the threshold, and all eight charts with it."""
    y, good, _ = scored
    page = visit("f1.html")
    before = {i: page.locator(f"#{i}-marks").inner_html() for i in CHARTS}
    slider = page.locator("#threshold")
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + box["height"] / 2)
    first = check_numbers(page, y, good)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    assert check_numbers(page, y, good) > first
    for i, marks in before.items():
        assert marks != page.locator(f"#{i}-marks").inner_html(), i
    page.locator("#to-usual").click()
    assert 0.5 == check_numbers(page, y, good)
    page.locator("#to-best").click()
    assert cp.find(y, good, maximize="f1").threshold == check_numbers(page, y, good)


CHARTS = ("roc", "pr", "metrics", "histogram", "cost", "envelope", "decision", "reliability")


def test_costs_and_prevalence_move_the_optimum(visit, scored):
    """The best threshold at new costs and prevalence, and its cost, are those of the exact hull."""
    y, good, _ = scored
    page = visit("two.html")
    hull = cp.curve(y, good).hull()
    for fp, fn, percent in (("3", "2", None), ("1", "40", "5"), ("7.5", "1", "60"), ("0", "1", "30")):
        before = page.locator("#cost .main-svg").first.inner_html()
        page.locator("#cost-fp").fill(fp)
        page.locator("#cost-fn").fill(fn)
        if percent:
            page.locator("#prevalence").fill(percent)
        settle(page)
        share = float(percent) / 100 if percent else None
        touch = hull.at_cost(fp=float(fp), fn=float(fn), prevalence=share)

        assert touch.cuts[0].threshold == raw(page, "#cheapest")
        assert 1000 * touch.cost == pytest.approx(raw(page, "#cheapest-cost"), abs=1e-9)
        assert "the least of all thresholds" == page.locator("#cheapest-bound").inner_text()
        assert before != page.locator("#cost .main-svg").first.inner_html()
        page.locator("#to-cheapest").click()
        assert touch.cuts[0].threshold == check_numbers(page, y, good)
        assert "none is cheaper" == page.locator("#now-cost-note").inner_text()
        assert page.locator("#cost-problem").is_hidden()


def test_a_cost_that_is_no_number_is_refused(visit):
    """An empty or negative field says what it must be and changes nothing; Reset brings the goal back."""
    page = visit("two.html")
    before = raw(page, "#cheapest")
    assert before == raw(page, "#best-threshold")
    page.locator("#cost-fn").fill("-3")
    assert "Costs must be numbers of at least 0." == page.locator("#cost-problem").inner_text()
    page.locator("#cost-fn").fill("3")
    page.locator("#prevalence").fill("120")
    assert "between 0 and 100" in page.locator("#cost-problem").inner_text()
    assert before == raw(page, "#cheapest")
    page.locator("#reset-costs").click()
    assert page.locator("#cost-problem").is_hidden()


def test_models_are_switched_by_keyboard(visit, scored):
    """Another model brings its own threshold, sentence, table and policies."""
    y, good, worse = scored
    page = visit("two.html")
    check_numbers(page, y, good)
    assert "good" in page.locator("#sentence").inner_text()
    page.locator("#models input").first.focus()
    page.keyboard.press("ArrowRight")
    best = cp.find(y, worse, minimize="cost(fp=1, fn=3)")
    assert best.threshold == check_numbers(page, y, worse) == raw(page, "#best-threshold")
    assert best.value == raw(page, "#best-value")
    assert "With worse" in page.locator("#sentence").inner_text()
    assert 2 == page.locator("#models-table tbody tr").count()


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
        policy = download(row.get_by_text("Download policy.json"))
        row.get_by_text("Show").click()
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
    """ "Copy policy" puts the same file on the clipboard, and says so."""
    y, good, _ = scored
    page = visit("f1.html", permissions=["clipboard-read", "clipboard-write"])
    page.locator("#table tbody tr").first.get_by_text("Copy policy").click()
    expect(page.locator("#status")).to_contain_text("is copied")
    copied = json.loads(page.evaluate("navigator.clipboard.readText()"))
    assert cp.find(y, good, maximize="f1").threshold == copied["threshold"]
    assert copied["checksum"].startswith("sha256:")


def test_hostile_names_are_text(visit):
    """Names with markup, formulas, quotes and line separators are shown as they are and do nothing."""
    page = visit("hostile.html")
    for i, name in enumerate(HOSTILE):
        assert name == page.locator("#models label span").nth(i).evaluate("node => node.textContent")
        assert name == page.locator("#overlays li span").nth(i).evaluate("node => node.textContent")
        page.locator("#models input").nth(i).check(force=True)
        settle(page)
        assert name in page.locator("#sentence").evaluate("node => node.textContent")
    assert HOSTILE[0] == page.locator("h1").inner_text() == page.title()
    assert page.evaluate("window.hacked === undefined")
    assert 0 == page.locator("img").count()
    assert 3 == page.locator("script").count()


@pytest.mark.parametrize("name", ["f1.html", "hostile.html"])
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
    out = page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter(node => {
            if (node.closest('.scroll, .sr, .skip, svg, [hidden], .js-plotly-plot')) return false;
            const box = node.getBoundingClientRect();
            return box.width > 0 && (box.right > innerWidth + 1 || box.left < -1);
        }).map(node => node.outerHTML.slice(0, 80))"""
    )
    assert [] == out
    wide = """() => [...document.querySelectorAll('.plot .main-svg')].filter(
        svg => Math.abs(svg.clientWidth - svg.closest('.plot').clientWidth) > 1).length"""
    assert 0 == page.evaluate(wide)


def test_the_dark_scheme_reaches_the_charts(visit):
    """When the system turns dark, page and charts turn dark, without a reload."""
    page = visit("f1.html", color_scheme="light")

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


def test_it_prints(visit):
    """Printed, there is no slider, the charts fit their columns, and colours are those of paper."""
    page = visit("two.html", color_scheme="dark")
    pdf = page.pdf(format="A4", print_background=True)
    assert pdf.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page[^s]", pdf)) <= 8
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    settle(page)
    assert page.locator("#threshold").is_hidden()
    assert page.locator("#sentence").is_visible()
    assert luminance(page.locator("#roc .xtitle").evaluate("node => getComputedStyle(node).fill")) < 0.2
    plot, card = (
        page.locator("#roc .main-svg").first.bounding_box(),
        page.locator("#figure-roc").bounding_box(),
    )
    assert plot["x"] + plot["width"] <= card["x"] + card["width"]
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
    assert "polite" == page.locator("#live").get_attribute("aria-live")
    assert page.locator("#roc").get_attribute("aria-label").startswith("ROC curve. ")


def test_large_data_are_exact_at_the_optimum_and_bounded_elsewhere(visit, pages, monkeypatch):
    """Drawn from buckets, the optimum is exact still, and no threshold beats the bound at other costs."""
    from cutpoints._report import cuts
    from cutpoints._search import run

    monkeypatch.setattr(cuts, "ALL_CUTS_ROWS", 1000)
    monkeypatch.setattr(run, "DIRECT_ROWS", 1000)
    rng = np.random.default_rng(3)
    y = (rng.random(60_000) < 0.2).astype(int)
    p = 1 / (1 + np.exp(-(rng.normal(size=60_000) + 1.5 * y)))
    cp.report(y, p, pages / "large.html", maximize="f1")
    page = visit("large.html")
    best = cp.find(y, p, maximize="f1")
    assert (best.threshold, best.value) == (raw(page, "#best-threshold"), raw(page, "#best-value"))
    assert best.threshold == check_numbers(page, y, p)
    page.locator("#cost-fp").fill("3")
    settle(page)
    touch = cp.curve(y, p).hull().at_cost(fp=3, fn=1)
    bound = page.evaluate("1000 * cheapest(state.model).bound")
    assert bound <= 1000 * touch.cost <= raw(page, "#cheapest-cost") <= 1.02 * bound
    assert "no threshold costs less than" in page.locator("#cheapest-bound").inner_text()
    page.locator("#to-cheapest").click()
    check_numbers(page, y, p)


def test_the_file_is_one_file():
    """Nothing in the page's own sources points to an address."""
    folder = Path(cp.report.__code__.co_filename).parent
    own = [place for ending in ("j2", "css", "js") for place in folder.glob(f"*.{ending}")]
    assert len(own) == 6
    for place in own:
        text = place.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", text), place.name
