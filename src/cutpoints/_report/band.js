/* Yes, review or no: two thresholds, for the costs of the page and that of a review. */

const band = { cost: data.costs.review ?? 1, most: null, high: 0, low: 0, follow: true };

/* What a pair of cuts does: cases from `high` on are flagged, from `low` on reviewed, and reviewers are right. */
function bandAt(m, high, low) {
  const [top, bottom] = [scene(m).confusion(high), scene(m).confusion(low)];
  const reviewed = bottom.tp + bottom.fp - (top.tp + top.fp);
  const cost = cellCost(bottom, "tp") + cellCost(bottom, "fn") + cellCost(top, "fp") + cellCost(top, "tn") + band.cost * reviewed;
  return { flagged: top.tp + top.fp, reviewed, missed: bottom.fn, alarms: top.fp, found: bottom.tp, cost };
}

/* The cheapest pair of drawn cuts within the capacity: a window over the cuts, since the cost is a sum of
   what the upper cut does and what the lower one does. Of equals the one with the fewest reviews. */
function bestBand(m) {
  const s = scene(m);
  const flagged = m.t.map((_, i) => s.confusion(i).tp + s.confusion(i).fp);
  const upper = m.t.map((_, i) => cellCost(s.confusion(i), "fp") + cellCost(s.confusion(i), "tn") - band.cost * flagged[i]);
  const lower = m.t.map((_, i) => cellCost(s.confusion(i), "fn") + cellCost(s.confusion(i), "tp") + band.cost * flagged[i]);
  const most = band.most === null ? Infinity : (band.most * TOTAL) / moneyVolume()[0];
  let best = null;
  let [first, queue] = [0, []];
  for (let low = 0; low < m.n; low += 1) {
    while (queue.length > first && upper[queue.at(-1)] >= upper[low]) queue.pop();
    queue.push(low);
    while (flagged[low] - flagged[queue[first]] > most * (1 + 1e-12)) first += 1;
    const high = queue[first];
    const cost = upper[high] + lower[low];
    const gap = best === null ? -1 : cost - best.cost;
    const fewer = best !== null && flagged[low] - flagged[high] < flagged[best.low] - flagged[best.high];
    if (gap < -1e-9 * Math.abs(cost) || (Math.abs(gap) <= 1e-9 * Math.abs(cost) && fewer)) best = { high, low, cost };
  }
  return best;
}

function showBand() {
  const m = state.model;
  if (!$("band").open) return;
  const best = bestBand(m);
  if (band.follow) Object.assign(band, { high: best.high, low: best.low });
  const now = bandAt(m, band.high, band.low);
  const atBest = band.high === best.high && band.low === best.low;
  for (const end of ["high", "low"]) {
    $(`band-${end}`).max = m.n - 1;
    $(`band-${end}`).value = m.n - 1 - band[end];
    $(`band-${end}`).setAttribute("aria-valuetext", m.label[band[end]]);
    put(`band-${end}-now`, m.t[band[end]], m.t[band[end]] === Infinity ? "none" : m.label[band[end]]);
  }
  const [cases, said] = moneyVolume();
  const part = (x) => count(Math.round((x * cases) / TOTAL));
  const saved = Math.min(...m.t.map((_, i) => costOf(scene(m).confusion(i)))) - now.cost;
  const rule = now.reviewed === 0 ? "Review nothing: with these costs one threshold is as good" : `Flag ${article(data.names.case)} when ${m.score} \u2265 ${m.label[band.high].replace("inf", "\u221e")}, review it from ${m.label[band.low]} on, and leave the others alone`;
  $("band-sentence").textContent = glued(`${rule}.`);
  const beside = Math.abs(saved) > 1e-9 * Math.abs(now.cost) ? `, ${money(paid(Math.abs(saved)))} ${saved > 0 === !data.costs.profit ? "less" : "more"} than with one threshold` : "";
  $("band-impact").textContent = glued(`Of ${count(cases)} cases${state.month ? " a month" : ""}, ${part(now.flagged)} are flagged, ${part(now.reviewed)} reviewed, and ${part(now.missed)} ${data.names.positive} missed. ${moneyName()} ${said}: ${valueOfCost(now.cost)}${beside}.`);
  put("band-cost", now.cost, valueOfCost(now.cost));
  put("band-reviewed", now.reviewed, percent(now.reviewed / TOTAL));
  $("band-note").textContent = atBest ? `The best of all pairs of ${m.cuts.complete ? "thresholds" : `the ${count(m.n)} thresholds drawn`}, if reviewers are always right${data.goal.constraints.length ? "; the constraints of the goal are not applied" : ""}.${m.cuts.complete ? "" : " The command cutpoints band finds it among all thresholds."}` : `${money(paid(now.cost - best.cost))} ${said} ${data.costs.profit ? "less" : "more"} than the best pair.`;
  $("band-best").setAttribute("aria-pressed", String(atBest));
}

function readBand() {
  const [cost, most] = ["review-cost", "review-most"].map((id) => ($(id).value.trim() === "" ? null : Number($(id).value)));
  const wrong = cost === null || !(cost >= 0) || !(most === null || most >= 0);
  $("band-problem").textContent = wrong ? "The cost of a review and the most reviews must be numbers of at least 0." : "";
  if (!wrong) Object.assign(band, { cost, most, follow: true });
  showBand();
}

function startBand() {
  $("review-cost").value = band.cost;
  for (const id of ["review-cost", "review-most"]) $(id).addEventListener("input", readBand);
  for (const end of ["high", "low"]) {
    $(`band-${end}`).addEventListener("input", (event) => {
      const cut = state.model.n - 1 - Number(event.target.value);
      band[end] = cut;
      // The two ends push each other.
      if (end === "high") band.low = Math.max(band.low, cut);
      else band.high = Math.min(band.high, cut);
      band.follow = false;
      showBand();
    });
  }
  $("band-best").addEventListener("click", () => { band.follow = true; showBand(); });
  $("band").addEventListener("toggle", showBand);
}
