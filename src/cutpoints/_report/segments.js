/* What the threshold of the page does in each segment, and which one is best for the segment by itself. */

const ROUGH_POSITIVES = 50; // as in headline.py

/* The confusion of a segment at a cut, at the share of positives of the page: its own share moves likewise. */
const segmentAt = (one, i) => confusionAt(one, i, one, weights());

function segmentValue(c) {
  if (state.by === "cost") return costOf(c);
  return data.goal.formula ? evaluate(data.goal.formula, c) : NaN;
}

/* Money in a segment is for its own share of the cases. */
const segmentText = (x) => (Number.isNaN(x) ? "\u2013" : valueText(x));

function showSegments(m) {
  if (!m.segments) return;
  const { segments, total } = m.segments;
  const pristine = ownGoal() && !shifted();
  const rough = (one) => Math.min(one.positives, one.negatives) < ROUGH_POSITIVES;
  const metrics = ["precision", "recall"].filter((name) => state.by === "cost" || name !== data.goal.objective);
  const heads = ["Segment", "Rows", `Share of ${data.names.positive}`, "Flagged", ...metrics.map((name) => METRICS[name][0]), valueName(), "Best here", `${valueName()} there`];
  rowsInto($("segments-table"), heads, segments.map((one) => {
    const c = segmentAt(one, state.cut);
    const own = pristine ? [one.threshold ?? "\u2013", ownValue(one)] : bestHere(m, one);
    const name = element("th", one.name, { scope: "row", title: one.name, className: "name" });
    if (rough(one)) name.append(element("span", " few rows of a class", { className: "small" }));
    return [
      name, count(one.rows), percent(ratio(c.tp + c.fn, c.tp + c.fp + c.fn + c.tn)), percent(METRICS.predicted_positive_rate[2](c)),
      ...metrics.map((metric) => percent(METRICS[metric][2](c))), segmentText(segmentValue(c)), own[0].replace("inf", "none"), segmentText(own[1]),
    ];
  }));
  const rest = total > segments.length ? `The ${count(segments.length)} largest of ${count(total)} segments. ` : "";
  $("segments-note").textContent = `${rest}One threshold for all, and beside it the best one for each segment by itself, chosen on its rows alone: expect less of it on new data, especially in small segments.`;
}

/* The library's value of a segment in the units of the page: costs are totals there. */
const ownValue = ({ value, positives, negatives }) => (state.by === "cost" ? asCost(value, positives + negatives) : number(value));

/* The best drawn threshold for a segment by itself, within the constraints. */
function bestHere(m, one) {
  const all = m.t.map((_, i) => segmentAt(one, i));
  const value = all.map(segmentValue);
  const i = checkable ? bestOf({ value, feasible: all.map(meets), sign: scene(m).sign }) : -1;
  return i < 0 ? ["\u2013", NaN] : [m.label[i], value[i]];
}
