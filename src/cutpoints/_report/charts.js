/* plotly draws the curves, once for each model and theme. What moves with the slider and the costs is
   drawn on top of them by `paint`, so that it follows the hand. */

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const LINES = ["blue", "orange", "green", "purple", "sky"];
const DASHES = ["solid", "dash", "dashdot", "dot", "longdash"];
const STYLES = ["solid", "dashed", "dashed", "dotted", "dashed"]; // the nearest that CSS has
const MARGIN = { l: 58, r: 14, t: 10, b: 46 };
const UNIT = [-0.015, 1.015];

const lineOf = (i) => ({ color: css(LINES[i % 5]), dash: DASHES[i % 5] });
const curve = (x, y, line, text) => ({
  x, y, mode: "lines", type: "scatter", line: { width: 2.2, ...line }, hoverinfo: "skip",
  ...(text ? { text, hoverinfo: "all", hovertemplate: "threshold %{text}<br>%{x:.4f}, %{y:.4f}<extra></extra>" } : {}),
});
const guide = (x, y, color = "soft", dash = "dot") => curve(x, y, { color: css(color), dash, width: 1.3 });
const axis = (title, range) => ({
  title: { text: title, standoff: 6, font: { size: 12.5 } }, range, fixedrange: true, zeroline: false, nticks: 6,
  gridcolor: css("grid"), linecolor: css("line"), tickfont: { size: 11.5 },
});
const scoreAxis = (m, title) => {
  const room = 0.02 * (m.high - m.low) || 0.5;
  return axis(title, [m.low - room, m.high + room]);
};

/* Other models under the chosen one, each in its own colour. */
const overlays = (draw) => [
  ...models.flatMap((m, i) => (m === state.model ? [] : [{ ...draw(m, lineOf(i)), opacity: 0.6 }])),
  draw(state.model, { ...lineOf(models.indexOf(state.model)), dash: "solid", width: 2.6 }),
];
const dot = (x, y, kind) => ({ kind, at: [x, y] });
const line = (x0, y0, x1, y1, color, dash = "") => ({ kind: "line", from: [x0, y0], to: [x1, y1], color, dash });
const upright = (x, color, dash) => line(x, -Infinity, x, Infinity, color, dash);
const dots = (m, x, y, cheap) => [
  dot(x(m.best), y(m.best), "best"), ...(cheap >= 0 ? [dot(x(cheap), y(cheap), "cheapest")] : []), dot(x(state.cut), y(state.cut), "now"),
];
const thresholds = (m) => [upright(m.place(m.best), "ink", "5 4"), upright(m.place(state.cut), "now")];
const noClass = () => (data.data.positives > 0 && data.data.negatives > 0 ? null : "Needs rows of both classes.");
const noProbability = (m) => (m.scores.probabilities ? null : "Needs scores that are probabilities, between 0 and 1.");
const costs = () => `${state.fp} ${state.fn} ${state.prevalence}`;

const CHARTS = {
  roc: {
    without: noClass,
    draw: (m) => ({
      traces: [
        guide([0, 1], [0, 1]),
        guide(m.cuts.hull.map((i) => m.fpr[i]), m.cuts.hull.map((i) => m.tpr[i]), "soft", "dash"),
        ...overlays((one, style) => curve(one.fpr, one.tpr, style, one.label)),
      ],
      x: axis("False positive rate", UNIT),
      y: axis("Recall", UNIT),
      legend: [["line", "soft", "convex hull", "dashed"], ["line", "green", "equal cost", "solid"], ["line", "soft", "chance", "dotted"]],
    }),
    marks: (m, cheap) => [...isoCost(m, cheap), ...dots(m, (i) => m.fpr[i], (i) => m.tpr[i], cheap)],
  },
  pr: {
    without: () => (data.data.positives > 0 ? null : "Needs positives."),
    draw: (m) => ({
      traces: [
        guide([0, 1], [data.data.prevalence, data.data.prevalence]),
        ...overlays((one, style) => curve(one.tpr, one.column("precision"), style, one.label)),
      ],
      x: axis("Recall", UNIT), y: axis("Precision", UNIT),
      legend: [["line", "soft", "chance", "dotted"]],
    }),
    marks: (m, cheap) => dots(m, (i) => m.tpr[i], (i) => m.column("precision")[i], cheap),
  },
  metrics: {
    draw(m) {
      const names = ["precision", "recall", "f1"];
      const own = !names.includes(data.goal.objective) && m.value.every((v) => !Number.isFinite(v) || Math.abs(v) <= 1);
      const lines = names.map((name, i) => curve(m.t, m.column(name), lineOf(i), m.label));
      if (own) lines.push(curve(m.t, m.value, { color: css("ink"), width: 2.6 }, m.label));
      const low = own ? Math.min(0, ...m.value.filter(Number.isFinite)) : 0;
      return {
        traces: lines, x: scoreAxis(m, "Threshold"), y: axis("Value", [low - 0.015, 1.015]),
        legend: [
          ...names.map((name, i) => ["line", LINES[i], METRICS[name][0], STYLES[i]]),
          ...(own ? [["line", "ink", data.goal.name, "solid"]] : []),
        ],
      };
    },
    marks: thresholds,
  },
  histogram: {
    draw(m) {
      const { edges } = m.histogram;
      const bars = (counts, total, color) => ({
        x: edges.slice(1).map((edge, i) => edges[i] / 2 + edge / 2), width: edges.slice(1).map((edge, i) => edge - edges[i]),
        y: counts.map((count) => (total > 0 ? (100 * count) / total : 0)),
        type: "bar", marker: { color: css(color), opacity: 0.55, line: { width: 0 } }, customdata: counts.map(grouped),
        hovertemplate: "score %{x:.4g}<br>%{customdata} rows, %{y:.2f} % of the class<extra></extra>",
      });
      const sides = [
        bars(m.histogram.negatives, data.data.negatives, "blue"), bars(m.histogram.positives, data.data.positives, "orange"),
      ];
      return {
        traces: sides, x: scoreAxis(m, "Score"),
        y: axis("Share of the class, in %", [0, 1.08 * Math.max(1e-9, ...sides.flatMap((side) => side.y))]),
        legend: [["box", "blue", "negatives"], ["box", "orange", "positives"]],
      };
    },
    marks: thresholds,
  },
  cost: {
    without: noClass,
    depends: costs,
    draw(m) {
      const y = m.t.map((_, i) => 1000 * costAt(m.tpr[i], m.fpr[i]));
      const top = Math.max(...y) || 1;
      return {
        traces: [curve(m.t.map((_, i) => m.place(i)), y, { color: css("blue"), width: 2.6 }, m.label)],
        x: scoreAxis(m, "Threshold"), y: axis("Cost per 1,000 cases", [-0.03 * top, 1.05 * top]), legend: [],
      };
    },
    marks: (m, cheap) => dots(m, m.place, (i) => 1000 * costAt(m.tpr[i], m.fpr[i]), cheap),
  },
  envelope: {
    without: noClass,
    draw(m) {
      const x = Array.from({ length: 201 }, (_, i) => i / 200);
      const least = (one) => x.map((pc) => Math.min(...one.cuts.hull.map((i) => pc * (1 - one.tpr[i]) + (1 - pc) * one.fpr[i])));
      return {
        traces: [guide([0, 0.5, 1], [0, 0.5, 0]), ...overlays((one, style) => curve(x, (one.envelope ??= least(one)), style))],
        x: axis("Weight of misses, PC(+)", UNIT), y: axis("Normalised expected cost", [-0.012, 0.56]),
        legend: [["line", "now", "threshold of the slider", "solid"], ["line", "green", "these costs", "dashed"], ["line", "soft", "nobody or everybody", "dotted"]],
      };
    },
    marks(m) {
      const [low, high, at] = [m.fpr[state.cut], 1 - m.tpr[state.cut], probabilityCost()];
      const here = Number.isNaN(at) ? [] : [upright(at, "green", "5 4"), dot(at, at * high + (1 - at) * low, "now")];
      return [line(0, low, 1, high, "now"), ...here];
    },
  },
  decision: {
    without: (m) => noClass() || noProbability(m),
    depends: costs,
    draw(m) {
      const index = m.t.map((_, i) => i).filter((i) => m.t[i] >= 0 && m.t[i] < 0.995).reverse();
      const y = index.map((i) => netBenefit(m.tpr[i], m.fpr[i], m.t[i]));
      const top = Math.max(1e-6, state.prevalence, ...y);
      const grid = Array.from({ length: 100 }, (_, i) => i / 100);
      return {
        traces: [
          guide([0, 1], [0, 0]), guide(grid, grid.map((t) => netBenefit(1, 1, t)), "orange", "dashdot"),
          curve(index.map((i) => m.t[i]), y, { color: css("blue"), width: 2.6 }, index.map((i) => m.label[i])),
        ],
        x: axis("Probability at which one acts", UNIT), y: axis("Net benefit per case", [-0.25 * top, 1.1 * top]),
        legend: [["line", "blue", "act at the score", "solid"], ["line", "orange", "act on everybody", "dashed"], ["line", "soft", "act on nobody", "dotted"], ["line", "green", "what these costs call for", "dashed"]],
      };
    },
    marks(m) {
      const at = m.t[state.cut];
      const called = state.fp + state.fn > 0 ? [upright(state.fp / (state.fp + state.fn), "green", "5 4")] : [];
      return at >= 0 && at < 0.995 ? [...called, dot(at, netBenefit(m.tpr[state.cut], m.fpr[state.cut], at), "now")] : called;
    },
  },
  reliability: {
    without: noProbability,
    draw(m) {
      const bins = m.reliability;
      const spread = bins.every((b) => b.low !== null)
        ? { type: "data", symmetric: false, array: bins.map((b) => b.high - b.observed), arrayminus: bins.map((b) => b.observed - b.low), color: css("soft"), thickness: 1.2, width: 4 }
        : undefined;
      return {
        traces: [
          guide([0, 1], [0, 1]),
          {
            ...curve(bins.map((b) => b.predicted), bins.map((b) => b.observed), { color: css("blue") }),
            mode: "lines+markers", marker: { size: 8, color: css("blue") }, error_y: spread, hoverinfo: "all",
            customdata: bins.map((b) => grouped(b.count)),
            hovertemplate: "predicted %{x:.3f}<br>observed %{y:.3f}<br>%{customdata} rows<extra></extra>",
          },
        ],
        x: axis("Mean predicted probability", UNIT), y: axis("Observed share of positives", UNIT),
        legend: [["line", "blue", spread ? "ten bins, with 95 % intervals" : "ten bins", "solid"], ["line", "soft", "calibrated", "dotted"]],
      };
    },
    marks: thresholds,
  },
};

/* Net benefit of acting from the probability t on: found, less false alarms at the odds of t. */
function netBenefit(tpr, fpr, t) {
  return state.prevalence * tpr - ((1 - state.prevalence) * fpr * t) / (1 - t);
}

/* The line of equal cost through the cheapest point, a little beyond the square. */
function isoCost(m, cheap) {
  if (cheap < 0) return [];
  const [x0, y0] = [m.fpr[cheap], m.tpr[cheap]];
  const [rise, run] = [(1 - state.prevalence) * state.fp, state.prevalence * state.fn]; // its slope is rise / run
  const ends = (rise > run ? [-0.1 - y0, 1.1 - y0] : [-0.1 - x0, 1.1 - x0]);
  const [[ax, ay], [bx, by]] = ends.map((d) => (rise > run ? [(d * run) / rise, d] : [d, (d * rise) / run]));
  return rise + run > 0 ? [line(x0 + ax, y0 + ay, x0 + bx, y0 + by, "green")] : [];
}

function legend(list, entries) {
  list.replaceChildren(
    ...entries.map(([kind, color, text, style]) => {
      const [item, swatch, words] = ["li", "i", "span"].map((tag) => document.createElement(tag));
      swatch.className = kind;
      if (kind === "line") swatch.style.borderTop = `3px ${style} ${css(color)}`;
      else swatch.style.background = css(color);
      words.textContent = text;
      words.title = text;
      item.append(swatch, words);
      return item;
    }),
  );
}

/* Draw the curves of a chart, unless they are there already. */
function draw(id) {
  const [chart, place] = [CHARTS[id], $(id)];
  const key = [models.indexOf(state.model), css("ground"), place.clientWidth, chart.depends?.()].join();
  if (chart.key === key) return;
  chart.key = key;
  const why = chart.without?.(state.model);
  place.classList.toggle("empty", Boolean(why));
  chart.axes = null;
  if (why) {
    Plotly.purge(place);
    place.textContent = why;
    legend($(`${id}-legend`), []);
    return;
  }
  if (!place.querySelector(".plot-container")) place.textContent = "";
  const { traces, x, y, legend: entries } = chart.draw(state.model);
  const layout = {
    xaxis: x, yaxis: y, showlegend: false, barmode: "overlay", bargap: 0, hovermode: "closest", dragmode: false,
    margin: { ...MARGIN, autoexpand: false }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: css("font"), size: 12, color: css("soft") },
    hoverlabel: { bgcolor: css("card"), bordercolor: css("line"), font: { color: css("ink"), family: css("font") } },
    width: place.clientWidth, height: place.clientHeight,
  };
  Plotly.react(place, traces, layout, { displayModeBar: false });
  chart.axes = [x.range, y.range];
  legend($(`${id}-legend`), entries);
}

const svg = (tag, attributes) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
};

/* Draw the marks of a chart on top of its curves. */
function paint(id, cheap) {
  const [chart, place, layer] = [CHARTS[id], $(id), $(`${id}-marks`)];
  if (!chart.axes || place.clientWidth < 2 * MARGIN.l) return layer.replaceChildren();
  const [width, height] = [place.clientWidth - MARGIN.l - MARGIN.r, place.clientHeight - MARGIN.t - MARGIN.b];
  layer.setAttribute("viewBox", `${-MARGIN.l} ${-MARGIN.t} ${place.clientWidth} ${place.clientHeight}`);
  const [[x0, x1], [y0, y1]] = chart.axes;
  const limit = (v) => Math.max(-1e4, Math.min(1e4, v));
  const point = ([x, y]) => [limit(((x - x0) / (x1 - x0)) * width), limit((1 - (y - y0) / (y1 - y0)) * height)];
  const inside = svg("svg", { x: 0, y: 0, width, height, overflow: "hidden" });
  const over = [];
  for (const mark of chart.marks(state.model, cheap)) {
    if (mark.kind === "line") {
      const [[ax, ay], [bx, by]] = [point(mark.from), point(mark.to)];
      inside.append(svg("line", { x1: ax, y1: ay, x2: bx, y2: by, class: `stroke-${mark.color}`, "stroke-dasharray": mark.dash }));
      continue;
    }
    const [x, y] = point(mark.at);
    if (!(y >= -6 && y <= height + 6 && x >= -6 && x <= width + 6)) continue; // undefined, or outside
    const shape = mark.kind === "cheapest"
      ? svg("rect", { x: -5.5, y: -5.5, width: 11, height: 11, transform: `translate(${x} ${y}) rotate(45)` })
      : svg("circle", { cx: x, cy: y, r: mark.kind === "now" ? 6 : 8 });
    shape.setAttribute("class", `mark-${mark.kind}`);
    over.push(shape);
  }
  return layer.replaceChildren(inside, ...over);
}

function drawCharts(cheap) {
  for (const id of Object.keys(CHARTS)) {
    draw(id);
    paint(id, cheap);
  }
}
