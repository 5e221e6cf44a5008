/* The charts: lines and bars in SVG, drawn once for each model, costs and width. What moves with the threshold
   is painted on top. Colors are classes of the style sheet, so that a dark system needs no redrawing.

   A chart says what it shows: axes, series, marks, the cut that belongs to a place (`pick`) and what to
   tell about it (`tell`). One color has one meaning: blue is the model, orange the threshold, purple the
   positives; precision, recall and F1 have their own. */

const MARGIN = { r: 14, t: 10, b: 44 }; // the left one has room for the numbers
const UNIT = [-0.015, 1.015];
const DASHES = { solid: "", dash: "7 4", dot: "2 4", dashdot: "8 3 2 3", long: "14 4" };
const OTHERS = ["dash", "dot", "dashdot", "long"];

const line = (name, x, y, color, style = "solid", more = {}) => ({ name, x, y, color, style, ...more });
const guide = (name, x, y, style = "dot") => line(name, x, y, "soft", style, { thin: true });
/* Numbers on an axis: millions and more in short. */
const brief = (x) => {
  const [size, name] = [[1e12, " T"], [1e9, " B"], [1e6, " M"]].find(([least]) => Math.abs(x) >= least && Math.abs(x) < 1e15) ?? [1, ""];
  return `${digits(x / size, 6)}${name}`;
};
const axis = (title, range, form = brief) => ({ title, range, form });
const shareAxis = (title, range = UNIT) => axis(title, range, (x) => `${digits(100 * x, 6)} %`);
/* Thresholds and scores: linear, or in log-odds where most scores lie close to 0 or 1. */
const ODDS = [1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 1 - 1e-4, 1 - 1e-5];
function warp(m, x) {
  const { scale, edges } = m.histogram;
  if (scale === "linear") return Math.min(Math.max(x, m.low), m.high);
  const inside = Math.min(Math.max(x, edges[0]), edges[edges.length - 1]);
  return Math.log(inside / (1 - inside));
}
const scoreAxis = (m, title) => {
  const [low, high] = [m.low, m.high].map((x) => warp(m, x));
  const room = 0.02 * (high - low) || 0.5;
  const odds = m.histogram.scale === "log-odds";
  const at = odds && ODDS.filter((x) => x >= m.histogram.edges[0] && x <= m.histogram.edges.at(-1));
  return { ...axis(odds ? `${title} (log-odds scale)` : title, [low - room, high + room]), ...(odds ? { ticks: at.map((x) => [warp(m, x), digits(x, 6)]) } : {}) };
};
const dot = (x, y, kind) => ({ kind, at: [x, y] });
const stroke = (x0, y0, x1, y1, color, style = "solid") => ({ kind: "line", from: [x0, y0], to: [x1, y1], color, style });
const upright = (x, color, style) => stroke(x, -Infinity, x, Infinity, color, style);
const dots = (m, x, y) => [...(scene(m).best >= 0 ? [dot(x(scene(m).best), y(scene(m).best), "best")] : []), dot(x(state.cut), y(state.cut), "now")];
const thresholds = (m) => [...(scene(m).best >= 0 ? [upright(m.at(scene(m).best), "ink", "dash")] : []), upright(m.at(state.cut), "now")];
const others = (draw) => {
  const rest = models.filter((m) => m !== state.model);
  const named = rest.length <= OTHERS.length;
  return rest.map((m, i) => ({ ...draw(m), name: named ? m.name : i ? "" : `${rest.length} other models`, color: "other", style: OTHERS[named ? i : 1] }));
};
const noClass = () => (data.data.positives > 0 && data.data.negatives > 0 ? null : "Needs rows of both classes.");
const noProbability = (m) => (m.scores.probabilities ? null : "Needs probabilities: scores between 0 and 1.");

/* The cut whose threshold is nearest to a place on the axis. */
function nearestThreshold(m, x) { // x: as on the axis
  let [low, high] = [0, m.n - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (m.at(middle) > x) low = middle;
    else high = middle;
  }
  return Math.abs(m.at(low) - x) < Math.abs(m.at(high) - x) ? low : high;
}
/* The cut whose point is nearest, with both axes of the same length. */
function nearestPoint(m, xs, ys, x, y) {
  let [best, least] = [-1, Infinity];
  for (let i = 0; i < m.n; i += 1) {
    const d = (xs[i] - x) ** 2 + (ys[i] - y) ** 2;
    if (d < least) [best, least] = [i, d];
  }
  return best;
}

const threshold = (m, i) => ["Threshold", i === 0 && m.t[0] === Infinity ? "none" : m.label[i]];
const tellRates = (m, i) => {
  const c = scene(m).confusion(i);
  return [threshold(m, i), ["Recall", percent(recall(c))], ["False positive rate", percent(1 - specificity(c))], ["Precision", percent(METRICS.precision[2](c))]];
};

const CHARTS = {
  cost: {
    without: noClass,
    draw(m) {
      const y = scene(m).value.map((_, i) => costHere(m, i));
      const top = Math.max(...y);
      const low = Math.min(0, ...y);
      return {
        series: [line(moneyName().toLowerCase(), m.t.map((_, i) => m.at(i)), y, "model")],
        x: scoreAxis(m, "Threshold"), y: axis(`${moneyName()} ${moneyVolume()[1]}${data.names.unit ? `, ${data.names.unit}` : ""}`, [low - 0.03 * (top - low || 1), top + 0.05 * (top - low || 1)]),
      };
    },
    marks: (m) => dots(m, m.at, (i) => costHere(m, i)),
    pick: nearestThreshold,
    tell: (m, i) => [threshold(m, i), [`${moneyName()} ${moneyVolume()[1]}`, money(costHere(m, i))]],
  },
  metrics: {
    draw(m) {
      const s = scene(m);
      const names = ["precision", "recall", "f1"];
      const own = ownMetric(m);
      const series = names.map((name, i) => line(METRICS[name][0], m.t.map((_, k) => m.at(k)), s.column(name), name, ["dash", "dashdot", "dot"][i]));
      if (own) series.push(line(data.goal.name, m.t.map((_, k) => m.at(k)), s.value, "model"));
      const low = own ? Math.min(0, ...s.value.filter(Number.isFinite)) : 0;
      return { series, x: scoreAxis(m, "Threshold"), y: axis("Value", [low - 0.015, 1.015]) };
    },
    marks: thresholds,
    pick: nearestThreshold,
    tell: (m, i) => {
      const rows = ["precision", "recall", "f1"].map((name) => [METRICS[name][0], shown(scene(m).column(name)[i], name)]);
      return [threshold(m, i), ...rows, ...(ownMetric(m) ? [[data.goal.name, goalText(scene(m).value[i])]] : [])];
    },
  },
  pr: {
    without: () => (data.data.positives > 0 ? null : "Needs positives."),
    draw: (m) => ({
      series: [
        guide("chance", [0, 1], [state.prevalence, state.prevalence]),
        ...others((one) => line("", one.tpr, scene(one).column("precision"))),
        line(m.name, m.tpr, scene(m).column("precision"), "model"),
      ],
      x: shareAxis("Recall"), y: shareAxis("Precision"),
    }),
    marks: (m) => dots(m, (i) => m.tpr[i], (i) => scene(m).column("precision")[i]),
    pick: (m, x, y) => nearestPoint(m, m.tpr, scene(m).column("precision"), x, y),
    tell: tellRates,
  },
  histogram: {
    draw(m) {
      const { edges, positives, negatives } = m.histogram;
      const shares = (counts, total) => counts.map((one) => (total > 0 ? one / total : 0));
      const bars = [
        { name: "negatives", edges: edges.map((x) => warp(m, x)), y: shares(negatives, data.data.negatives), color: "negative" },
        { name: data.names.positive, edges: edges.map((x) => warp(m, x)), y: shares(positives, data.data.positives), color: "positive" },
      ];
      return {
        bars, series: [], x: scoreAxis(m, "Score"),
        y: shareAxis("Share of the class", [0, 1.06 * Math.max(1e-9, ...bars.flatMap((side) => side.y))]),
      };
    },
    marks: thresholds,
    pick: nearestThreshold,
    tell: (m, i, x) => {
      const { edges, positives, negatives } = m.histogram;
      const bin = Math.max(0, Math.min(positives.length - 1, edges.findIndex((edge) => warp(m, edge) > x) - 1));
      return [
        ["Scores", `${digits(edges[bin], 4)} to ${digits(edges[bin + 1], 4)}`],
        [data.names.positive, `${count(positives[bin])} rows, ${percent(ratio(positives[bin], data.data.positives))}`],
        ["negatives", `${count(negatives[bin])} rows, ${percent(ratio(negatives[bin], data.data.negatives))}`],
      ];
    },
  },
  roc: {
    without: noClass,
    draw: (m) => ({
      series: [
        guide("chance", [0, 1], [0, 1]),
        guide("convex hull", m.cuts.hull.map((i) => m.fpr[i]), m.cuts.hull.map((i) => m.tpr[i]), "dash"),
        ...others((one) => line("", one.fpr, one.tpr)),
        line(m.name, m.fpr, m.tpr, "model"),
      ],
      x: shareAxis("False positive rate"), y: shareAxis("Recall"),
    }),
    marks: (m) => dots(m, (i) => m.fpr[i], (i) => m.tpr[i]),
    pick: (m, x, y) => nearestPoint(m, m.fpr, m.tpr, x, y),
    tell: tellRates,
  },
  envelope: {
    without: noClass,
    draw(m) {
      const x = Array.from({ length: 201 }, (_, i) => i / 200);
      const least = (one) => (one.envelope ??= x.map((pc) => Math.min(...one.cuts.hull.map((i) => pc * (1 - one.tpr[i]) + (1 - pc) * one.fpr[i]))));
      return {
        series: [guide("flag none or all", [0, 0.5, 1], [0, 0.5, 0]), ...others((one) => line("", x, least(one))), line(m.name, x, least(m), "model")],
        x: shareAxis("Weight of misses, PC(+)"), y: axis("Normalized expected cost", [-0.012, 0.56]),
      };
    },
    marks(m) {
      const [low, high, at] = [m.fpr[state.cut], 1 - m.tpr[state.cut], missWeight()];
      const here = Number.isNaN(at) ? [] : [upright(at, "soft", "dot"), dot(at, at * high + (1 - at) * low, "now")];
      return [stroke(0, low, 1, high, "now"), ...here];
    },
  },
  decision: {
    without: (m) => noClass() || noProbability(m),
    draw(m) {
      const index = m.t.map((_, i) => i).filter((i) => m.t[i] >= 0 && m.t[i] < 0.995).reverse();
      const y = index.map((i) => netBenefit(m.tpr[i], m.fpr[i], m.t[i]));
      const top = Math.max(1e-6, state.prevalence, ...y);
      const grid = Array.from({ length: 100 }, (_, i) => i / 100);
      return {
        series: [
          guide("flag none", [0, 1], [0, 0]), guide("flag all", grid, grid.map((t) => netBenefit(1, 1, t)), "dashdot"),
          line("flag from this probability on", index.map((i) => m.t[i]), y, "model"),
        ],
        x: shareAxis("Probability from which one acts"), y: axis("Net benefit per case", [-0.25 * top, 1.1 * top]),
      };
    },
    marks(m) {
      const at = m.t[state.cut];
      return at >= 0 && at < 0.995 ? [dot(at, netBenefit(m.tpr[state.cut], m.fpr[state.cut], at), "now")] : [];
    },
    pick: (m, x) => nearestThreshold(m, warp(m, x)),
    tell: (m, i) => [threshold(m, i), ["Net benefit per case", short(netBenefit(m.tpr[i], m.fpr[i], m.t[i]))]],
  },
  reliability: {
    without: noProbability,
    draw(m) {
      const bins = m.reliability;
      const spread = bins.every((b) => b.low !== null) ? bins.map((b) => [b.low, b.high]) : null;
      const name = spread ? "observed, with 95 % intervals" : "observed";
      return {
        series: [guide("calibrated", [0, 1], [0, 1]), line(name, bins.map((b) => b.predicted), bins.map((b) => b.observed), "model", "solid", { points: true, spread })],
        x: shareAxis("Mean predicted probability"), y: shareAxis(`Observed share of ${data.names.positive}`),
      };
    },
    marks: () => [],
    pick: (m, x) => m.reliability.reduce((best, b, i) => (Math.abs(b.predicted - x) < Math.abs(m.reliability[best].predicted - x) ? i : best), 0),
    tell: (m, i) => {
      const bin = m.reliability[i];
      return [["Predicted", percent(bin.predicted)], ["Observed", percent(bin.observed)], ["Rows", count(bin.count)]];
    },
    still: true, // a click moves nothing: the data's own share is drawn
  },
};

const moneyName = () => (data.costs.profit ? "Profit" : "Cost");
const costHere = (m, i) => paid((data.costs.profit ? -1 : 1) * costOf(scene(m).confusion(i)));
const ownMetric = (m) =>
  state.by === "goal" && !["precision", "recall", "f1"].includes(data.goal.objective) && scene(m).value.every((v) => !Number.isFinite(v) || Math.abs(v) <= 1);
/* Net benefit of acting from the probability t on: found, minus false alarms at the odds of t. */
const netBenefit = (tpr, fpr, t) => state.prevalence * tpr - ((1 - state.prevalence) * fpr * t) / (1 - t);
function missWeight() {
  if (CELLS.some(byRow)) return NaN;
  const [miss, alarm] = [state.prevalence * (state.costs.fn - state.costs.tp), (1 - state.prevalence) * (state.costs.fp - state.costs.tn)];
  return miss + alarm > 0 ? miss / (miss + alarm) : NaN;
}

// ---------------------------------------------------------------- drawing

const svg = (tag, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
};

/* About `wanted` round numbers inside a range. */
function ticks([low, high], wanted) {
  const step = 10 ** Math.floor(Math.log10((high - low) / wanted));
  const round = [1, 2, 5, 10].map((k) => k * step).find((size) => (high - low) / size <= wanted) ?? 10 * step;
  const found = [];
  for (let k = Math.ceil(low / round); k * round <= high; k += 1) found.push(Number((k * round).toPrecision(12)));
  return found.length > 20 ? [] : found;
}

/* A path through points; undefined ones leave a gap. */
function path(xs, ys, place) {
  let [text, pen] = ["", "M"];
  xs.forEach((x, i) => {
    const [px, py] = place([x, ys[i]]);
    if (Number.isNaN(px) || Number.isNaN(py)) pen = "M";
    else [text, pen] = [`${text}${pen}${px.toFixed(1)} ${py.toFixed(1)}`, "L"];
  });
  return text;
}

function frame(chart) {
  const limit = (v) => Math.max(-1e4, Math.min(1e4, v));
  const [[x0, x1], [y0, y1]] = [chart.shape.x.range, chart.shape.y.range];
  const place = ([x, y]) => [limit(((x - x0) / (x1 - x0)) * chart.width), limit((1 - (y - y0) / (y1 - y0)) * chart.height)];
  const back = (px, py) => [x0 + (px / chart.width) * (x1 - x0), y0 + (1 - py / chart.height) * (y1 - y0)];
  return { place, back };
}

/* Draw axes and curves of a chart, unless they are there already. */
function draw(id) {
  const [chart, place] = [CHARTS[id], $(id)];
  if (!place.clientWidth) return; // folded away
  const key = [models.indexOf(state.model), place.clientWidth, scene(state.model).key, state.month].join();
  if (chart.key === key) return;
  chart.key = key;
  const why = chart.without?.(state.model);
  place.classList.toggle("empty", Boolean(why));
  chart.shape = null;
  legend($(`${id}-legend`), []);
  if (why) {
    place.replaceChildren(why);
    return;
  }
  const shape = chart.draw(state.model);
  const [w, h] = [place.clientWidth, place.clientHeight];
  const rungs = ticks(shape.y.range, 6).map((y) => [y, shape.y.form(y)]);
  const left = 34 + 6.6 * Math.max(1, ...rungs.map(([, text]) => text.length));
  Object.assign(chart, { shape, left, width: w - left - MARGIN.r, height: h - MARGIN.t - MARGIN.b });
  const { place: at } = frame(chart);
  const root = svg("svg", { viewBox: `${-left} ${-MARGIN.t} ${w} ${h}`, "aria-hidden": "true" });
  const wanted = Math.max(2, Math.min(7, chart.width / 75));
  let end = -Infinity;
  for (const [tick, text] of shape.x.ticks ?? ticks(shape.x.range, wanted).map((x) => [x, shape.x.form(x)])) {
    const [x] = at([tick, 0]);
    if (x - 3.2 * text.length < end + 6) continue; // it would touch the number before it
    end = x + 3.2 * text.length;
    root.append(svg("line", { x1: x, x2: x, y1: 0, y2: chart.height, class: "rule" }), svg("text", { x, y: chart.height + 17, class: "tick middle" }, text));
  }
  for (const [tick, text] of rungs) {
    const [, y] = at([0, tick]);
    root.append(svg("line", { x1: 0, x2: chart.width, y1: y, y2: y, class: "rule" }), svg("text", { x: -7, y: y + 4, class: "tick end" }, text));
  }
  root.append(
    svg("text", { x: chart.width / 2, y: chart.height + 37, class: "title middle xtitle" }, shape.x.title),
    svg("text", { transform: `translate(${13 - left} ${chart.height / 2}) rotate(-90)`, class: "title middle" }, shape.y.title),
  );
  const inside = svg("svg", { x: 0, y: 0, width: chart.width, height: chart.height, overflow: "hidden", class: "curves" });
  for (const side of shape.bars ?? []) {
    side.y.forEach((y, i) => {
      const [[ax, ay], [bx, by]] = [at([side.edges[i], y]), at([side.edges[i + 1], 0])];
      if (y > 0) inside.append(svg("rect", { x: ax, y: ay, width: Math.max(1, bx - ax - 0.5), height: by - ay, class: `bar-${side.color}` }));
    });
  }
  for (const one of shape.series) {
    inside.append(svg("path", { d: path(one.x, one.y, at), class: `curve stroke-${one.color}${one.thin ? " thin" : ""}`, "stroke-dasharray": DASHES[one.style] }));
    one.spread?.forEach(([low, high], i) => {
      const [[x, y0], [, y1]] = [at([one.x[i], low]), at([one.x[i], high])];
      inside.append(svg("line", { x1: x, x2: x, y1: y0, y2: y1, class: "stroke-soft" }));
    });
    if (one.points) one.x.forEach((x, i) => { const [cx, cy] = at([x, one.y[i]]); inside.append(svg("circle", { cx, cy, r: 4, class: `fill-${one.color}` })); });
  }
  const [marks, hover] = [svg("g", { class: "marks" }), svg("g", { class: "hover" })];
  root.append(inside, marks, hover);
  place.replaceChildren(root);
  Object.assign(chart, { marksAt: marks, hoverAt: hover });
  legend($(`${id}-legend`), [...(shape.bars ?? []).map((one) => ["box", one.color, one.name]), ...shape.series.filter((one) => one.name).map((one) => ["line", one.color, one.name, one.style])]);
}

/* Paint what moves with the threshold. */
function paint(id) {
  const chart = CHARTS[id];
  if (!chart.shape) return;
  const { place } = frame(chart);
  const { width, height } = chart;
  const inside = svg("svg", { x: 0, y: 0, width, height, overflow: "hidden" });
  const over = [];
  for (const mark of chart.marks(state.model)) {
    if (mark.kind === "line") {
      const [[x1, y1], [x2, y2]] = [place(mark.from), place(mark.to)];
      inside.append(svg("line", { x1, y1, x2, y2, class: `mark stroke-${mark.color}`, "stroke-dasharray": DASHES[mark.style] }));
      continue;
    }
    const [cx, cy] = place(mark.at);
    if (cy >= -6 && cy <= height + 6 && cx >= -6 && cx <= width + 6) over.push(svg("circle", { cx, cy, r: mark.kind === "now" ? 5.5 : 8.5, class: `mark-${mark.kind}` }));
  }
  chart.marksAt.replaceChildren(inside, ...over);
}

function drawCharts() {
  for (const id of Object.keys(CHARTS)) {
    draw(id);
    paint(id);
  }
}

function legend(list, entries) {
  list.replaceChildren(...entries.map(([kind, color, text, style]) => {
    const [item, words] = ["li", "span"].map((tag) => document.createElement(tag));
    const swatch = svg("svg", { class: "swatch", width: 24, height: 12, "aria-hidden": "true" });
    swatch.append(kind === "box" ? svg("rect", { x: 5, y: 0, width: 12, height: 12, rx: 2, class: `bar-${color}` }) : svg("line", { x1: 0, x2: 24, y1: 6, y2: 6, class: `curve stroke-${color}`, "stroke-dasharray": DASHES[style] }));
    words.textContent = text;
    words.title = text;
    item.append(swatch, words);
    return item;
  }));
}

// ---------------------------------------------------------------- pointing and clicking

/* The place of a pointer in a chart's own units; null outside of its axes. */
function pointed(chart, node, event) {
  if (!chart.shape) return null;
  const box = node.getBoundingClientRect();
  const [px, py] = [event.clientX - box.left - chart.left, event.clientY - box.top - MARGIN.t];
  return px < -4 || px > chart.width + 4 || py < -4 || py > chart.height + 4 ? null : frame(chart).back(px, py);
}

function listen(id) {
  const [chart, node, tip] = [CHARTS[id], $(id), $("tip")];
  if (!chart.pick) return;
  const leave = () => { tip.hidden = true; chart.hoverAt?.replaceChildren(); };
  node.addEventListener("pointerleave", leave);
  node.addEventListener("pointermove", (event) => {
    const at = pointed(chart, node, event);
    if (!at) return leave();
    const cut = chart.pick(state.model, ...at);
    tip.replaceChildren(...chart.tell(state.model, cut, at[0]).flatMap(([name, text]) => [element("dt", name), element("dd", text)]));
    tip.hidden = false;
    const left = Math.min(event.clientX + 14, document.documentElement.clientWidth - tip.offsetWidth - 8);
    Object.assign(tip.style, { left: `${Math.max(4, left)}px`, top: `${event.clientY + 18 + tip.offsetHeight > innerHeight ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18}px` });
    const [x] = frame(chart).place(at);
    return chart.hoverAt.replaceChildren(svg("line", { x1: x, x2: x, y1: 0, y2: chart.height, class: "pointer" }));
  });
  if (chart.still) return;
  node.classList.add("clickable");
  node.addEventListener("click", (event) => {
    const at = pointed(chart, node, event);
    if (at) go(chart.pick(state.model, ...at));
  });
}

const element = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text }, more);
