/* The decision in words, as headline.py says it, for any threshold. */

/* A number and its unit stay on one line, and so do a constraint and a threshold. */
const glued = (text) => text.replace(/(\d) (?=%)/g, "$1\u00a0").replace(/ ([<>]=?) /g, "\u00a0$1\u00a0").replace(/\u2265 /g, "\u2265\u00a0").replaceAll("at 0.5", "at\u00a00.5").replaceAll(` ${data.names.unit || "%"}`, `\u00a0${data.names.unit || "%"}`);
const article = (word) => `${/^[aeiou]/i.test(word) ? "an" : "a"} ${word}`;

function ruleOf(m, i) {
  const c = m.raw(i);
  if (c.tp + c.fp === 0) return `Flag no ${data.names.case}`;
  if (c.fn + c.tn === 0) return `Flag every ${data.names.case}`;
  return `Flag ${article(data.names.case)} when ${m.score} \u2265 ${m.label[i]}`;
}

/* The goal's value in words, beside that at 0.5. */
function valueOf(m, i) {
  const s = scene(m);
  const [here, usual] = [s.value[i], m.usual < 0 ? NaN : s.value[m.usual]];
  if (state.by === "goal") {
    if (data.goal.objective === "recall") return "";
    const beside = Number.isNaN(usual) ? "" : ` (${goalText(usual)} at 0.5)`;
    return `has ${data.goal.name} ${goalText(here)}${beside}`;
  }
  if (usual > 0 && !data.costs.profit && here !== usual) {
    return `costs ${percent(Math.abs(1 - here / usual))} ${here < usual ? "less" : "more"} than at 0.5`;
  }
  const [, said] = moneyVolume();
  return `${data.costs.profit ? "earns" : "costs"} ${valueOfCost(here)} ${said}`;
}

function sentence(m, i) {
  const s = scene(m);
  const c = s.confusion(i);
  const parts = [`flags ${percent(METRICS.predicted_positive_rate[2](c))} of cases`];
  if (!Number.isNaN(recall(c))) parts.push(`finds ${percent(recall(c))} of ${data.names.positive}`);
  if (valueOf(m, i)) parts.push(valueOf(m, i));
  const last = parts.pop();
  const listed = parts.length ? `${parts.join(", ")}${parts.length > 1 ? ", and " : " and "}${last}` : last;
  const held = data.goal.constraints.length && s.feasible[i] ? `, with ${data.goal.constraints.join(" and ")}` : "";
  return `${ruleOf(m, i)}: this ${listed}${held}.`;
}

/* Alerts and money, for a month or per 1,000 cases. */
function impact(m, i) {
  const s = scene(m);
  const c = s.confusion(i);
  const [cases, said] = moneyVolume();
  const { flagged, tp, fp, fn } = parts(c, cases);
  const words = [`${state.month ? `Of ${count(state.month)} cases a month` : "Of 1,000 cases"}, ${flagged} are flagged: ${tp} ${data.names.positive} and ${fp} false alarms; ${fn} are missed.`];
  if (state.by === "cost") {
    const gap = m.usual < 0 ? NaN : paid(s.value[m.usual] - s.value[i]);
    const beside = !(Math.abs(gap) > 0) ? "" : `, ${money(Math.abs(gap))} ${gap > 0 === !data.costs.profit ? "less" : "more"} than at 0.5`;
    words.push(`${moneyName()} ${said}: ${valueOfCost(s.value[i])}${beside}.`);
  }
  return words.join(" ");
}

/* The constraints that a threshold does not meet: all of them, if the page cannot tell which. */
function unmet(m, i) {
  const { bounds, constraints } = data.goal;
  const told = checkable ? constraints.filter((_, k) => !holds(evaluate(bounds[k].formula, scene(m).confusion(i)), bounds[k])) : [];
  return (told.length ? told : constraints).join(" and ");
}

/* How far from the best, in words; empty at the best. */
function distance(m, i) {
  const s = scene(m);
  if (i === s.best || s.best < 0) return "";
  if (!s.feasible[i]) return `does not meet ${unmet(m, i)}`;
  if (Number.isNaN(s.value[i])) return `${data.goal.name} is undefined here`;
  const gap = s.sign * (s.value[s.best] - s.value[i]);
  if (!(gap > 1e-12 * Math.abs(s.value[s.best]))) return "as good as the best";
  return state.by === "cost"
    ? `${money(paid(gap))} ${moneyVolume()[1]} ${data.costs.profit ? "less" : "more"} than the best`
    : `${gapText(gap)} ${goalSign > 0 ? "below" : "above"} the best`;
}
