/* The numbers: one state (model, costs, share of positives, threshold) and what follows from it. All text
   is set with textContent: names of models are never read as markup. */
"use strict";

const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const number = (x) => (x === "inf" ? Infinity : x === "-inf" ? -Infinity : x === null ? NaN : x);
const CELLS = ["tp", "fp", "fn", "tn"];
const POSITIVE = ["tp", "fn"];
const TOTAL = data.data.positives + data.data.negatives;

// ---------------------------------------------------------------- metrics, as the library defines them

/* 0/0 is undefined (NaN), never 0. */
const ratio = (a, b) => (b !== 0 ? a / b : a === 0 ? NaN : Infinity * a);
const recall = (c) => ratio(c.tp, c.tp + c.fn);
const specificity = (c) => ratio(c.tn, c.fp + c.tn);
const METRICS = {
  precision: ["Precision", "of flagged cases are right", (c) => ratio(c.tp, c.tp + c.fp), "share"],
  recall: ["Recall", `of ${data.names.positive} found`, recall, "share"],
  f1: ["F1", "precision and recall in one", (c) => ratio(2 * c.tp, 2 * c.tp + c.fp + c.fn)],
  mcc: [
    "MCC", "correlation of decision and truth",
    (c) => {
      const roots = Math.sqrt(c.tp + c.fp) * Math.sqrt(c.tp + c.fn) * Math.sqrt(c.fp + c.tn) * Math.sqrt(c.fn + c.tn);
      return ratio(c.tp * c.tn - c.fp * c.fn, roots);
    },
  ],
  predicted_positive_rate: ["Flagged", "of all cases", (c) => ratio(c.tp + c.fp, c.tp + c.fp + c.fn + c.tn), "share"],
  specificity: ["Specificity", "of negatives left alone", specificity, "share"],
  npv: ["NPV", "of cases not flagged are negative", (c) => ratio(c.tn, c.fn + c.tn), "share"],
  accuracy: ["Accuracy", "of all decisions are right", (c) => ratio(c.tp + c.tn, c.tp + c.fp + c.fn + c.tn), "share"],
  balanced_accuracy: ["Balanced accuracy", "mean of recall and specificity", (c) => (recall(c) + specificity(c)) / 2, "share"],
  youden_j: ["Youden's J", "recall + specificity \u2212 1", (c) => recall(c) + specificity(c) - 1],
};
const TILES = ["precision", "recall", "f1", "mcc", "predicted_positive_rate", "specificity", "npv", "accuracy"];

/* The value of a goal or a constraint, from the coefficients that the library has sent. */
function evaluate(formula, c) {
  const side = (k) => k[0] + k[1] * c.tp + k[2] * c.fp + k[3] * c.fn + k[4] * c.tn;
  return formula.terms.reduce(
    (sum, t) => sum + t.weight * (t.numerator ? ratio(side(t.numerator), side(t.denominator)) : METRICS[t.name][2](c)),
    formula.constant,
  );
}
const holds = (value, { relation, bound }) =>
  ({ ">=": value >= bound, ">": value > bound, "<=": value <= bound, "<": value < bound })[relation];
/* Whether the page can check every constraint, and whether counts meet them all. */
const checkable = data.goal.bounds.every((one) => one.formula);
const meets = (c) => data.goal.bounds.every((one) => holds(evaluate(one.formula, c), one));

// ---------------------------------------------------------------- numbers as people read them

const separated = (text) => text.replace(/^(-?\d+)/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));

/* A fixed number of decimals; ties go to the even digit, as in Python. */
function fixed(x, decimals) {
  const text = x.toFixed(decimals);
  const all = x.toFixed(Math.min(100, decimals + 40));
  const tail = all.slice(all.indexOf(".") + 1 + decimals);
  const odd = Number(text.at(-1)) % 2 === 1;
  if (!/^50*$/.test(tail) || !odd) return text;
  return (x - Math.sign(Number(text)) * 10 ** -decimals / 4).toFixed(decimals); // the other neighbor
}

/* A fixed number of significant digits, without an exponent. */
function digits(x, n) {
  const size = Math.abs(x);
  if (size === 0) return "0";
  if (size < 1e-9 || size >= 1e15) return String(Number(x.toPrecision(n)));
  const decimals = n - 1 - Math.floor(Math.log10(Math.abs(Number(x.toPrecision(n)))));
  const text = decimals > 0 ? fixed(x, Math.min(decimals, 100)) : Number(x.toPrecision(n)).toFixed(0);
  return separated(text.includes(".") ? text.replace(/\.?0+$/, "") : text);
}

/* A metric: four digits. */
const short = (x) => (Number.isInteger(x) || Math.abs(x) >= 1e4 ? separated(fixed(x, 0)) : digits(x, 4));
/* A share: three digits; only 0 is "0 %", and only 1 is "100 %". */
function percent(x) {
  if (Number.isNaN(x)) return "undefined";
  let text = digits(100 * x, 3);
  for (let n = 4; n < 17 && text === "100" && x !== 1; n += 1) text = digits(100 * x, n);
  return `${text} %`;
}
/* Cases: whole ones where there are many. */
const count = (x) => (Number.isInteger(x) ? separated(String(x)) : Math.abs(x) >= 100 ? separated(x.toFixed(0)) : digits(x, 3));
/* Money: no cents from 1,000 on, and none if there are none. */
function money(x) {
  if (!Number.isFinite(x)) return "undefined";
  const text = separated(Math.abs(x) >= 1000 || Number.isInteger(x) ? fixed(x, 0) : fixed(x, 2));
  return `${text.replace(/^-/, "\u2212")} ${data.names.unit}`.trimEnd();
}
const shown = (x, name) => {
  if (Number.isNaN(x)) return "undefined";
  if (!Number.isFinite(x)) return x > 0 ? "\u221e" : "\u2212\u221e";
  return METRICS[name]?.[3] === "share" ? percent(x) : short(x).replace(/^-/, "\u2212");
};

/* A value of the report's goal that is no money, and the difference between two of them. */
const ROUNDING = 1e-12; // as in headline.py
function goalText(x) {
  const value = Math.abs(x) < ROUNDING ? 0 : x;
  return data.goal.share && Number.isFinite(x) ? percent(value) : shown(value);
}
const gapText = (x) => (data.goal.share ? percent(x).replace("%", "percentage points") : short(x));

/* The counts of this many cases as people read them: found and false alarms add up to what is flagged,
   and with the others to all cases. What is there never reads 0. */
function parts(c, cases) {
  const [tp, fp, fn, tn] = CELLS.map((cell) => (c[cell] * cases) / TOTAL);
  const decimals = tp + fp >= 10 ? 0 : tp + fp >= 1 ? 1 : 2;
  const rounded = (x) => Number(x.toFixed(decimals));
  const [flagged, found, missed] = [rounded(tp + fp), rounded(tp), rounded(fn)];
  const shown = { flagged, tp: found, fp: rounded(flagged - found), fn: missed, tn: rounded(cases - flagged - missed) };
  for (const [cell, x] of Object.entries({ tp, fp, fn, tn })) if (x > 0 && shown[cell] <= 0) shown[cell] = Number(digits(x, 1));
  return Object.fromEntries(Object.entries(shown).map(([cell, x]) => [cell, count(x)]));
}

// ---------------------------------------------------------------- models

/* What a cut does, with positives counted a times and negatives b times. `money` is what the rows of a
   cell cost in all where that differs from row to row: a number for each row is not on the page. */
function confusionAt({ tp, fp, money }, i, { positives, negatives }, [a, b] = [1, 1]) {
  const sums = Object.entries(money).map(([cell, x]) => [cell, (POSITIVE.includes(cell) ? a : b) * x[i]]);
  return { tp: a * tp[i], fp: b * fp[i], fn: a * (positives - tp[i]), tn: b * (negatives - fp[i]), money: Object.fromEntries(sums) };
}

/* Columns of numbers for one model; index 0 is the highest threshold, the last flags every case. */
function prepare(model) {
  const { cuts } = model;
  const n = cuts.tp.length;
  const t = cuts.threshold.map(number);
  const made = { ...model, n, t, value: cuts.value.map(number), label: cuts.shown };
  made.tpr = cuts.tp.map((x) => ratio(x, data.data.positives));
  made.fpr = cuts.fp.map((x) => ratio(x, data.data.negatives));
  made.points = Object.fromEntries(model.operating_points.map((p) => [p.key, p]));
  made.best = made.points.optimum.cut;
  made.usual = made.points.usual?.cut ?? -1;
  made.label = made.label.map((text, i) => (i === made.usual ? "0.5" : text));
  // Exact where the library has computed it; the others are its floats.
  for (const point of model.operating_points) made.value[point.cut] = number(point.value);
  const finite = t.filter(Number.isFinite);
  made.low = finite.length ? finite[finite.length - 1] : 0;
  made.high = finite.length ? finite[0] : 1;
  made.at = (i) => warp(made, t[i]);
  made.raw = (i) => confusionAt(cuts, i, data.data);
  return made;
}

const models = data.models.map(prepare);
const state = {
  model: null,
  cut: 0,
  follow: true, // the threshold is the best one, whatever the costs
  by: data.costs.goal ? "cost" : "goal",
  costs: { tp: data.costs.tp, fp: data.costs.fp, fn: data.costs.fn, tn: data.costs.tn },
  prevalence: data.data.prevalence,
  month: data.names.per_month,
  volume: data.names.per_month === null ? "rows" : "month",
};

const ownCosts = () => Object.entries(state.costs).every(([name, x]) => x === data.costs[name]);
/* Whether what is optimized is what the report was made for. */
const ownGoal = () => (state.by === "goal" ? true : data.costs.goal && ownCosts());
const shifted = () => state.prevalence !== data.data.prevalence;
/* Whether a cell costs an amount that differs from row to row: it is then fixed. */
const byRow = (cell) => cell in data.costs.columns;
const cellCost = (c, cell) => c.money[cell] ?? state.costs[cell] * c[cell];
const costOf = (c) => CELLS.reduce((sum, cell) => sum + cellCost(c, cell), 0);
/* The library's value of a goal that is money, as a cost of this many cases. */
const perRow = data.goal.objective.startsWith("cost_per_row");
const asCost = (x, cases) => (data.costs.profit ? -1 : 1) * number(x) * (perRow ? cases : 1);
const goalSign = data.goal.direction === "maximize" ? 1 : -1;

/* What a positive and a negative row count for at the share of positives of the page. */
const weights = () =>
  shifted() ? [(state.prevalence * TOTAL) / data.data.positives, ((1 - state.prevalence) * TOTAL) / data.data.negatives] : [1, 1];

/* Everything that depends on costs and the share of positives, for all drawn cuts of a model. */
function scene(m) {
  const key = JSON.stringify([state.by, state.costs, state.prevalence]);
  if (m.scene?.key === key) return m.scene;
  const moved = shifted();
  const made = { key, problem: "", sign: state.by === "cost" ? -1 : goalSign };
  const all = m.t.map((_, i) => confusionAt(m.cuts, i, data.data, weights()));
  made.confusion = (i) => all[i];
  const columns = {};
  made.column = (name) => (columns[name] ??= all.map(METRICS[name][2]));
  if (state.by === "cost") made.value = all.map(costOf);
  else if (!moved) made.value = m.value;
  else if (data.goal.formula) made.value = all.map((c) => evaluate(data.goal.formula, c));
  else {
    made.value = m.value;
    made.problem = `${data.goal.name} cannot be computed here for another share of ${data.names.positive}: value and best threshold are those of the data.`;
  }
  if (!moved || !data.goal.bounds.length) made.feasible = m.cuts.feasible ?? all.map(() => true);
  else if (checkable) made.feasible = all.map(meets);
  else {
    made.feasible = m.cuts.feasible ?? all.map(() => true);
    made.problem ||= "The constraints cannot be computed here for another share: they are those of the data.";
  }
  made.proven = ownGoal() && (!moved || made.problem !== "");
  made.best = made.proven ? m.best : bestOf(made);
  const ofCounts = state.by === "cost" && !data.goal.bounds.length && !CELLS.some(byRow);
  made.exact = made.proven || m.cuts.complete || (ofCounts && m.cuts.hull_exact);
  made.bound = ofCounts ? costBound(all, made) : NaN;
  m.scene = made;
  return made;
}

/* The best cut that meets the constraints; of equals the one that flags fewest. -1 if there is none. */
function bestOf({ value, feasible, sign }) {
  let best = -1;
  for (let i = 0; i < value.length; i += 1) {
    if (!feasible[i] || Number.isNaN(value[i])) continue;
    if (best < 0 || sign * (value[i] - value[best]) > 1e-12 * Math.abs(value[best])) best = i;
  }
  return best;
}

/* What no cut can undercut: one between two drawn ones finds at most what the lower one finds, and
   raises at least the false alarms of the higher one. */
function costBound(all, made) {
  if (made.exact) return made.best < 0 ? NaN : made.value[made.best];
  let bound = Math.min(...made.value);
  for (let i = 1; i < all.length; i += 1) {
    bound = Math.min(bound, costOf({ tp: all[i].tp, fn: all[i].fn, fp: all[i - 1].fp, tn: all[i - 1].tn, money: {} }));
  }
  return bound;
}

/* What counts and money are shown for: [cases, in words]. */
function volume() {
  if (state.volume === "month" && state.month) return [state.month, "a month"];
  return state.volume === "rows" ? [TOTAL, shifted() ? `per ${count(TOTAL)} cases` : `on ${data.data.weighted ? "these" : `these ${count(data.data.rows)}`} rows`] : [1000, "per 1,000 cases"];
}
/* Money is never shown for the rows: nobody pays for them. */
const moneyVolume = () => (state.month ? [state.month, "a month"] : [1000, "per 1,000 cases"]);
const scaled = (x) => (volume()[0] === TOTAL ? x : (x * volume()[0]) / TOTAL);
const paid = (x) => (x * moneyVolume()[0]) / TOTAL;
