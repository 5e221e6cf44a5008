/* What the page does: one state, one function that shows it. All text is set with textContent, and
   plotly is given numbers and fixed words only: names of models are never read as markup. */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const number = (x) => (x === "inf" ? Infinity : x === "-inf" ? -Infinity : x === null ? NaN : x);
const sign = data.goal.direction === "maximize" ? 1 : -1;

// ---------------------------------------------------------------- metrics, as the library defines them

/* 0/0 is undefined (NaN), never 0. */
const ratio = (a, b) => (b !== 0 ? a / b : a === 0 ? NaN : Infinity * a);
const METRICS = {
  precision: ["Precision", "of those called positive", (c) => ratio(c.tp, c.tp + c.fp)],
  recall: ["Recall", "of the positives, found", (c) => ratio(c.tp, c.tp + c.fn)],
  specificity: ["Specificity", "of the negatives, left alone", (c) => ratio(c.tn, c.fp + c.tn)],
  f1: ["F1", "precision and recall in one", (c) => ratio(2 * c.tp, 2 * c.tp + c.fp + c.fn)],
  accuracy: ["Accuracy", "of all decisions, right", (c) => ratio(c.tp + c.tn, c.tp + c.fp + c.fn + c.tn)],
  balanced_accuracy: [
    "Balanced accuracy",
    "mean of both classes' accuracy",
    (c) => (ratio(c.tp, c.tp + c.fn) + ratio(c.tn, c.fp + c.tn)) / 2,
  ],
  mcc: [
    "MCC",
    "correlation with the truth",
    (c) => {
      const roots = Math.sqrt(c.tp + c.fp) * Math.sqrt(c.tp + c.fn) * Math.sqrt(c.fp + c.tn) * Math.sqrt(c.fn + c.tn);
      return ratio(c.tp * c.tn - c.fp * c.fn, roots);
    },
  ],
  predicted_positive_rate: [
    "Called positive",
    "of all rows",
    (c) => ratio(c.tp + c.fp, c.tp + c.fp + c.fn + c.tn),
  ],
};

// ---------------------------------------------------------------- numbers as people read them

const grouped = (x) => x.toLocaleString("en-US", { maximumFractionDigits: 2 });

/* A value: four decimals, large or whole numbers with separators, "undefined" where it is. */
function shown(x) {
  if (Number.isNaN(x)) return "undefined";
  if (!Number.isFinite(x)) return x > 0 ? "\u221e" : "\u2212\u221e";
  if (x !== 0 && Math.abs(x) < 0.00005) return Math.abs(x) < 1e-12 ? "0.0000" : x.toExponential(1);
  if (Math.abs(x) >= 1000 || (Math.abs(x) > 1 && Number.isInteger(x))) return grouped(x);
  return x.toFixed(4);
}

/* Money: as shown, with two decimals at most where it is more than one. */
const money = (x) => (Number.isFinite(x) && Math.abs(x) >= 1 ? grouped(x) : x === 0 ? "0" : shown(x));

/* A threshold: six digits; the exact one is shown beside it where it matters. */
function threshold(x) {
  if (x === Infinity) return "none (inf)";
  if (!Number.isFinite(x)) return String(x);
  const short = Number(x.toPrecision(6));
  return Math.abs(short) >= 1e7 || (short !== 0 && Math.abs(short) < 1e-5) ? short.toExponential() : String(short);
}
const percent = (x) => (Number.isNaN(x) ? "undefined" : `${Number((100 * x).toPrecision(3))} %`);

// ---------------------------------------------------------------- models

/* Columns of numbers for one model; index 0 is the highest threshold, the last calls everybody. */
function prepare(model) {
  const { cuts } = model;
  const n = cuts.tp.length;
  const totals = { positives: data.data.positives, negatives: data.data.negatives };
  const t = cuts.threshold.map(number);
  const tpr = cuts.tp.map((x) => ratio(x, totals.positives));
  const fpr = cuts.fp.map((x) => ratio(x, totals.negatives));
  const made = { ...model, n, t, tpr, fpr, value: cuts.value.map(number), label: t.map(threshold) };
  made.confusion = (i) => ({
    tp: cuts.tp[i],
    fp: cuts.fp[i],
    fn: totals.positives - cuts.tp[i],
    tn: totals.negatives - cuts.fp[i],
  });
  const all = Array.from({ length: n }, (_, i) => made.confusion(i));
  const columns = {};
  made.column = (name) => (columns[name] ??= all.map(METRICS[name][2]));
  made.points = Object.fromEntries(model.operating_points.map((p) => [p.key, p]));
  made.best = made.points.optimum.cut;
  made.usual = made.points.usual.cut;
  // Exact where the library has computed it; the others are its floats.
  for (const point of model.operating_points) made.value[point.cut] = number(point.value);
  const finite = t.filter(Number.isFinite);
  made.low = finite.length ? Math.min(finite[finite.length - 1], finite[0]) : 0;
  made.high = finite.length ? Math.max(finite[0], finite[finite.length - 1]) : 1;
  made.place = (i) => Math.min(Math.max(t[i], made.low), made.high);
  return made;
}

const models = data.models.map(prepare);
const state = { model: null, cut: 0, fp: data.costs.fp, fn: data.costs.fn, prevalence: data.data.prevalence };

// ---------------------------------------------------------------- costs

/* The cost of a case at these rates, on average. */
function costAt(tpr, fpr) {
  const missed = state.prevalence === 0 || state.fn === 0 ? 0 : state.prevalence * state.fn * (1 - tpr);
  const raised = state.prevalence === 1 || state.fp === 0 ? 0 : (1 - state.prevalence) * state.fp * fpr;
  return missed + raised;
}

/* The cheapest drawn cut (of equals the one that calls fewest), and what no cut can undercut: a cut
   between two drawn ones finds at most what the lower finds and raises at least what the higher raises. */
function cheapest(model) {
  let best = -1;
  let least = Infinity;
  let bound = Infinity;
  for (let i = 0; i < model.n; i += 1) {
    const cost = costAt(model.tpr[i], model.fpr[i]);
    if (best < 0 ? !Number.isNaN(cost) : cost < least * (1 - 1e-12)) [best, least] = [i, cost];
    if (i > 0) bound = Math.min(bound, costAt(model.tpr[i], model.fpr[i - 1]));
  }
  return { cut: best, cost: best < 0 ? NaN : least, bound: model.cuts.hull_exact ? least : Math.min(bound, least) };
}

const probabilityCost = () => {
  const [miss, alarm] = [state.prevalence * state.fn, (1 - state.prevalence) * state.fp];
  return miss + alarm > 0 ? miss / (miss + alarm) : NaN;
};
