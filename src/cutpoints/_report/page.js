/* What is shown, and what people do. */

// ---------------------------------------------------------------- showing the state

function put(id, value, text) {
  $(id).textContent = text;
  $(id).dataset.value = value;
}

/* Everything on the page is a function of the state: this is the only place that shows it. */
function show() {
  const m = state.model;
  const s = scene(m);
  if (state.follow && s.best >= 0) state.cut = s.best;
  $("threshold-problem").textContent = "";
  showHeadline(m, s, state.cut);
  showCounts(s.confusion(state.cut), s);
  showControls(m, s, state.cut);
  table(m, s);
  if (models.length > 1) modelsTable();
  showSegments(m);
  showBand();
  cancelAnimationFrame(show.frame);
  show.frame = requestAnimationFrame(drawCharts);
}

const valueOfCost = (x) => money(paid(data.costs.profit ? -x : x));
const valueText = (x) => (state.by === "cost" ? valueOfCost(x) : goalText(x));
const valueName = () => (state.by === "cost" ? `${moneyName()} ${moneyVolume()[1]}` : data.goal.name);

/* A value of the report's own goal on new data. */
const expectedText = (x) => valueText(state.by === "cost" ? asCost(x, TOTAL) : number(x));

function showHeadline(m, s, i) {
  const atBest = i === s.best;
  const pristine = ownGoal() && !shifted();
  // Written for the month of the report, where they speak of money.
  const asWritten = pristine && (!data.costs.goal || state.month === data.names.per_month);
  $("sentence").textContent = glued(sentence(m, i));
  $("impact").textContent = glued(impact(m, i));
  $("verdict").hidden = !data.verdict || !asWritten;
  $("verdict").textContent = glued(data.verdict ?? "");
  $("loss").textContent = m.loss && asWritten ? glued(m.loss.sentence) : "";
  $("warnings").replaceChildren(...[...(pristine && atBest ? m.warnings : []), ...cautions(m, s, i)].map((text) => element("li", text)));
  $("value-name").textContent = valueName();
  put("value", s.value[i], valueText(s.value[i]));
  const away = distance(m, i);
  $("value-note").textContent = !atBest ? away : s.proven && !shifted() ? `${data.goal.constraints.length ? "meets the constraints; " : ""}proven: no threshold is better`
    : s.exact ? "no threshold is better" : Number.isNaN(s.bound) ? `the best of ${count(m.n)} thresholds` : `no threshold ${data.costs.profit ? "earns more" : "costs less"} than ${valueOfCost(s.bound)}`;
  const known = pristine && atBest && m.new_data.value !== null;
  put("expected", known ? number(m.new_data.value) : NaN, known ? expectedText(m.new_data.value) : "not known");
  const side = goalSign > 0 ? "at least" : "at most";
  $("expected-note").textContent = !known ? (m.new_data.value === null ? m.new_data.how : "estimated only for the goal of the report, at its best threshold")
    : m.new_data.bound === null ? "" : `${side} ${expectedText(m.new_data.bound)} with ${percent(m.new_data.confidence)} confidence`;
  if (m.usual >= 0) {
    put("usual", s.value[m.usual], Number.isNaN(s.value[m.usual]) ? "undefined" : valueText(s.value[m.usual]));
    $("usual-note").textContent = i === m.usual ? "this threshold" : s.best === m.usual ? "the best threshold" : distance(m, m.usual);
  }
  $("usual-fact").hidden = m.usual < 0;
}

/* What a reader must know of a threshold that the report did not choose. */
function cautions(m, s, i) {
  const said = s.problem ? [s.problem] : [];
  if (s.best < 0) said.push("No threshold meets the constraints at these numbers.");
  else if (!s.feasible[i]) said.push(`This threshold does not meet ${unmet(m, i)}.`);
  return said;
}

function showCounts(c, s) {
  const counts = parts(c, volume()[0]);
  for (const cell of $("matrix").querySelectorAll("[data-cell]")) {
    cell.textContent = counts[cell.dataset.cell];
    cell.dataset.value = scaled(c[cell.dataset.cell]);
    const cost = cellCost(c, cell.dataset.cell);
    $(`money-${cell.dataset.cell}`).textContent = state.by === "cost" && cost !== 0 ? glued(`${cost < 0 ? "earn" : "cost"} ${money(scaled(Math.abs(cost)))}`) : "";
  }
  for (const name of TILES) put(`tile-${name}`, METRICS[name][2](c), shown(METRICS[name][2](c), name));
  $("volume-rows").textContent = shifted() ? `${count(TOTAL)} cases` : data.data.weighted ? "these rows, weighted" : `these ${count(data.data.rows)} rows`;
  $("volume-month").hidden = !state.month;
  for (const radio of document.querySelectorAll("[name=volume]")) radio.checked = radio.value === state.volume;
  for (const radio of document.querySelectorAll("[name=by]")) radio.checked = radio.value === state.by;
  for (const tile of document.querySelectorAll(".tile")) tile.classList.toggle("goal", state.by === "goal" && tile.dataset.name === data.goal.objective);
  const told = [`${percent(METRICS.predicted_positive_rate[2](c))} flagged`, `${percent(recall(c))} of ${data.names.positive} found`];
  if (state.by === "cost" || data.goal.objective !== "recall") told.push(`${valueName()} ${valueText(s.value[state.cut])}`);
  $("brief").textContent = glued(told.join(" \u00b7 "));
}

function showControls(m, s, i) {
  $("threshold").max = m.n - 1;
  $("threshold").value = m.n - 1 - i;
  const text = m.t[i] === Infinity ? "none" : m.label[i];
  $("threshold").setAttribute("aria-valuetext", text);
  $("now").value = text;
  $("now").dataset.value = m.t[i];
  $("now").title = `exactly ${m.t[i]}`;
  $("to-usual").hidden = m.usual < 0;
  $("to-best").disabled = s.best < 0;
  $("to-best").textContent = s.best < 0 || i === s.best ? "Best" : `Best: ${m.t[s.best] === Infinity ? "none" : m.label[s.best]}`;
  for (const [id, cut] of [["to-best", s.best], ["to-usual", m.usual]]) $(id).setAttribute("aria-pressed", String(cut === i));
}

function tiles() {
  $("tiles").replaceChildren(...TILES.map((name) => {
    const tile = element("div", "", { className: "tile" });
    tile.dataset.name = name;
    const title = element("dt", METRICS[name][0]);
    if (["precision", "recall", "f1"].includes(name)) title.prepend(element("i", "", { className: `dot ${name}` }));
    tile.append(title, element("dd", "", { id: `tile-${name}` }), element("dd", METRICS[name][1], { className: "hint" }));
    return tile;
  }));
}

// ---------------------------------------------------------------- tables and policies

/* Fill a table: the first cell of a row is its heading. The button with the focus keeps it. */
function rowsInto(place, heads, rows) {
  const focused = [...place.querySelectorAll("button")].indexOf(document.activeElement);
  const [thead, tbody, head] = ["thead", "tbody", "tr"].map((tag) => document.createElement(tag));
  head.append(...heads.map((text, i) => element(text || i ? "th" : "td", text, text ? { scope: "col" } : {})));
  thead.append(head);
  tbody.append(...rows.map((cells) => {
    const row = document.createElement("tr");
    row.append(...cells.map((cell) => (cell instanceof Node ? cell : element("td", cell))));
    return row;
  }));
  place.replaceChildren(thead, tbody);
  if (focused >= 0) place.querySelectorAll("button")[focused]?.focus({ preventScroll: true });
  return [...tbody.rows];
}

/* Each model at its own best threshold, at these costs and this share of positives. */
function modelsTable() {
  const pristine = ownGoal() && !shifted();
  const value = (m, i) => (i < 0 ? "\u2013" : valueText(scene(m).value[i]));
  const rows = rowsInto(
    $("models-table"), ["Model", "Best threshold", valueName(), "Expected on new data", "At 0.5", "Area under ROC"],
    models.map((m) => [
      element("th", m.name, { scope: "row", title: m.name, className: "name" }), scene(m).best < 0 ? "\u2013" : m.label[scene(m).best], value(m, scene(m).best),
      pristine && m.new_data.value !== null ? expectedText(m.new_data.value) : "\u2013", value(m, m.usual), m.auc.value === null ? "undefined" : short(m.auc.value),
    ]),
  );
  rows.forEach((row, i) => { row.classList.toggle("current", models[i] === state.model); });
}

/* The thresholds worth knowing, at these costs and this share of positives. */
function pointsOf(m, s) {
  if (!shifted() && ownGoal()) return m.operating_points;
  const own = { key: "best", name: state.by === "cost" ? "Lowest cost" : "Best for the goal", cut: s.best, policy: null };
  const rest = m.operating_points.filter((one) => one.key === "usual" || one.key.startsWith("best-") || (one.key === "optimum" && !ownGoal()));
  const again = rest.map((one) => {
    const metric = one.key.replace("best-", "");
    if (!shifted() || !METRICS[metric]) return one;
    return { ...one, policy: null, cut: bestOf({ value: s.column(metric), feasible: s.column(metric).map(() => true), sign: 1 }) };
  });
  return [own, ...again].filter((one) => one.cut >= 0);
}

function table(m, s) {
  const points = pointsOf(m, s);
  const metrics = ["precision", "recall", "f1"].filter((name) => state.by === "cost" || name !== data.goal.objective);
  const heads = ["", "Threshold", valueName(), "Flagged", ...metrics.map((name) => METRICS[name][0]), "Found", "False alarms", "Missed", "Policy"];
  const button = (point, text, run) => {
    const made = element("button", text, { type: "button", className: "quiet" });
    if (text !== point.name) made.setAttribute("aria-label", `${text}: ${point.name}`);
    made.addEventListener("click", () => run(made));
    return made;
  };
  const rows = rowsInto($("table"), heads, points.map((point) => {
    const c = s.confusion(point.cut);
    const name = element("th", "", { scope: "row" });
    name.append(button(point, point.name, () => go(point.cut)));
    if (!s.feasible[point.cut]) name.append(element("div", "does not meet the constraints", { className: "small" }));
    const actions = element("td", "", { className: "actions" });
    actions.append(button(point, "Copy", (made) => copy(made, point.cut, point.policy)), button(point, "Download", (made) => download(made, point.cut, point.policy)));
    const told = parts(c, volume()[0]);
    return [
      name, element("td", m.t[point.cut] === Infinity ? "none" : m.label[point.cut], { title: `exactly ${m.t[point.cut]}` }), valueText(s.value[point.cut]),
      percent(METRICS.predicted_positive_rate[2](c)), ...metrics.map((one) => shown(METRICS[one][2](c), one)), told.tp, told.fp, told.fn, actions,
    ];
  }));
  rows.forEach((row, i) => { row.classList.toggle("current", points[i].cut === state.cut); });
}

/* Say what happened on the button itself. */
function done(button, text) {
  const before = button.dataset.before ?? button.textContent;
  button.dataset.before = before;
  button.textContent = text;
  button.setAttribute("aria-live", "polite");
  clearTimeout(button.timer);
  button.timer = setTimeout(() => { button.textContent = before; }, 2000);
}

async function copy(button, cut, made) {
  const text = policy(state.model, cut, made);
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without the clipboard of a secure page, the old way.
    const area = document.body.appendChild(Object.assign(document.createElement("textarea"), { value: text }));
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  done(button, "Copied");
}

function download(button, cut, made) {
  const address = URL.createObjectURL(new Blob([policy(state.model, cut, made)], { type: "application/json" }));
  const link = Object.assign(document.createElement("a"), { href: address, download: "policy.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  done(button, "Saved");
}

// ---------------------------------------------------------------- how to read this

function how(m) {
  const { certificate } = m.solution;
  const { rows, positives, negatives, weighted, label } = data.data;
  const compared = certificate.rows_examined;
  const pairs = [
    ["Rule", `A ${data.names.case} is flagged when its score is at least the threshold. A threshold is shown with as few digits as make the same decisions on these rows; the policy has the exact one.`],
    ["Goal", data.costs.goal ? `${data.goal.text}: ${money(number(m.solution.value))} ${perRow ? "per row" : "on these rows"} at the best threshold` : data.goal.text],
    ["Proof", compared >= rows ? "Every threshold was compared; none is better." : `All ${count(rows)} rows were counted and ${count(compared)} compared one by one; a bound excludes the others. No threshold is better.`],
    ["Expected on new data", m.new_data.value === null ? `Not known: ${m.new_data.how}.` : `${m.new_data.how[0].toUpperCase()}${m.new_data.how.slice(1)}.`],
    ...m.new_data.constraints.map((one) => [one.constraint, `${short(number(one.value))} on these rows; expect about ${one.expected === null ? "an unknown value" : short(number(one.expected))} on new data.`]),
    [`Share of ${data.names.positive}`, "Changing it re-weights the two classes: recall and false positive rate stay the same, everything else follows. Scores by class and Reliability show the data as they are."],
    ["Area under ROC", m.auc.value === null ? "undefined with one class" : `${short(m.auc.value)}${m.auc.error > 0.00005 ? ` \u00b1 ${short(m.auc.error)}` : ""}`],
    ["Drawn", m.cuts.complete ? `All ${count(m.n)} thresholds that make a difference.` : `${count(m.n)} thresholds, each with its exact counts. The best threshold of the report is exact whatever is drawn${CELLS.some(byRow) ? "" : m.cuts.hull_exact ? ", and so is the lowest cost at any costs" : "; the lowest cost at other costs has a bound"}.`],
    ["Data", `${count(rows)} rows${weighted ? " with weights" : ""}, ${count(positives)} positive, ${count(negatives)} negative${label ? `, labels in ${label}` : ""}; scores from ${digits(number(m.scores.low), 6)} to ${digits(number(m.scores.high), 6)}.`],
  ];
  $("how").replaceChildren(...pairs.flatMap(([name, text]) => [element("dt", name), element("dd", text)]));
}

// ---------------------------------------------------------------- what people do

function go(cut) {
  if (cut < 0) return;
  Object.assign(state, { cut, follow: cut === scene(state.model).best });
  show();
}

/* The cut that decides as a typed threshold does; among drawn cuts only, the nearest. */
function typed(text) {
  const m = state.model;
  const at = /^(none|inf)$/i.test(text.trim()) ? Infinity : Number(text.trim().replace(",", "."));
  if (text.trim() === "" || Number.isNaN(at)) {
    $("threshold-problem").textContent = "The threshold must be a number, for example 0.3.";
    return;
  }
  let cut = m.n - 1;
  while (cut > 0 && m.t[cut] < at) cut -= 1;
  if (!m.cuts.complete && at <= number(m.scores.high) && cut + 1 < m.n && m.t[cut] !== at && at - m.t[cut + 1] < m.t[cut] - at) cut += 1;
  go(cut);
  const same = m.t[cut] === at || Number(m.label[cut]) === at;
  if (!same && !m.cuts.complete) $("threshold-problem").textContent = `The nearest of the ${count(m.n)} thresholds drawn.`;
}

function choose(index) {
  Object.assign(state, { model: models[index], follow: true });
  band.follow = true;
  how(state.model);
  show();
}

const FIELDS = { fp: "cost-fp", fn: "cost-fn", tp: "cost-tp", tn: "cost-tn", prevalence: "prevalence", month: "month" };

/* What differs from row to row cannot be changed here. */
const fixedCosts = () => Object.fromEntries(Object.keys(data.costs.columns).map((cell) => [cell, null]));

/* Costs and shares from the fields; the threshold follows them. */
function readFields(event) {
  const read = {};
  let wrong = "";
  for (const [name, id] of Object.entries(FIELDS)) {
    if (byRow(name)) continue;
    const text = $(id).value.trim();
    read[name] = text === "" ? (name === "month" ? null : NaN) : Number(text);
    const most = name === "prevalence" ? 100 : Infinity;
    const least = name === "tp" || name === "tn" ? -Infinity : 0;
    const fine = read[name] === null || (read[name] >= least && read[name] <= most && Number.isFinite(read[name]));
    $(id).setAttribute("aria-invalid", String(!fine));
    if (!fine) wrong = name === "prevalence" ? "A share must be between 0 and 100 %." : name === "month" ? "Cases a month must be a number above 0." : "Costs must be numbers of at least 0.";
  }
  $("cost-problem").textContent = wrong;
  if (wrong) return;
  const sign = data.costs.profit ? -1 : 1;
  const costs = { tp: sign * read.tp || 0, fp: read.fp, fn: read.fn, tn: sign * read.tn || 0, ...fixedCosts() };
  // The share in the data exactly, where the field shows it rounded.
  const rounded = $("prevalence").value === $("prevalence").dataset.rounded;
  if (event && event.target.id.startsWith("cost-")) state.by = "cost";
  if (event?.target.id === "month") state.volume = read.month ? "month" : "rows";
  Object.assign(state, { costs, prevalence: rounded ? data.data.prevalence : read.prevalence / 100, month: read.month || null, follow: true });
  if (state.volume === "month" && !state.month) state.volume = "rows";
  band.follow = true;
  $("review-per").textContent = moneyVolume()[1];
  show();
}

function reset() {
  const sign = data.costs.profit ? -1 : 1;
  for (const name of CELLS.filter((cell) => !byRow(cell))) $(`cost-${name}`).value = (["tp", "tn"].includes(name) ? sign : 1) * data.costs[name] || 0;
  $("prevalence").value = $("prevalence").dataset.rounded = String(Number((100 * data.data.prevalence).toPrecision(4)));
  $("prevalence").disabled = Boolean(noClass());
  $("month").value = data.names.per_month ?? "";
  state.by = data.costs.goal ? "cost" : "goal";
  state.volume = data.names.per_month === null ? "rows" : "month";
  readFields();
}

function start() {
  const best = Math.max(0, models.findIndex((m) => m.name === data.best_model));
  models.forEach((m, i) => {
    const label = element("label", "", { className: "pill" });
    const radio = Object.assign(document.createElement("input"), { type: "radio", name: "model", value: String(i), checked: i === best });
    radio.addEventListener("change", () => choose(i));
    label.append(radio, element("span", m.name, { title: m.name }));
    $("models").append(label);
  });
  state.model = models[best];
  tiles();
  Object.keys(CHARTS).forEach(listen);
  $("threshold").addEventListener("input", (event) => go(state.model.n - 1 - Number(event.target.value)));
  $("now").addEventListener("change", (event) => typed(event.target.value));
  $("to-best").addEventListener("click", () => go(scene(state.model).best));
  $("to-usual").addEventListener("click", () => go(state.model.usual));
  $("copy-now").addEventListener("click", (event) => copy(event.currentTarget, state.cut));
  $("download-now").addEventListener("click", (event) => download(event.currentTarget, state.cut));
  for (const id of Object.values(FIELDS)) $(id).addEventListener("input", readFields);
  for (const radio of document.querySelectorAll("[name=by]")) radio.addEventListener("change", () => { Object.assign(state, { by: radio.value, follow: true }); show(); });
  for (const radio of document.querySelectorAll("[name=volume]")) radio.addEventListener("change", () => { state.volume = radio.value; show(); });
  $("reset").addEventListener("click", reset);
  startBand();
  $("more")?.addEventListener("toggle", drawCharts);
  addEventListener("resize", () => { cancelAnimationFrame(show.frame); show.frame = requestAnimationFrame(drawCharts); });
  addEventListener("beforeprint", () => { $("more").open = true; drawCharts(); });
  choose(best);
  reset();
}

start();
