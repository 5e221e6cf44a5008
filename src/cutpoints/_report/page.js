/* What is shown, and what people do. */

// ---------------------------------------------------------------- showing the state

function fill(table, confusion) {
  for (const cell of table.querySelectorAll("[data-cell]")) {
    cell.textContent = grouped(confusion[cell.dataset.cell]);
    cell.dataset.value = confusion[cell.dataset.cell];
  }
}

function put(id, value, text = shown(value)) {
  $(id).textContent = text;
  $(id).dataset.value = value;
}

function showModel() {
  const m = state.model;
  const { solution, honest } = m;
  const value = number(solution.value);
  put("best-threshold", number(solution.threshold), threshold(number(solution.threshold)));
  $("best-rule").textContent = solution.threshold === "inf" ? "nobody is called positive" : "positive when score\u00a0\u2265";
  $("best-exact").textContent = solution.threshold === "inf" ? "" : String(solution.threshold);
  put("best-value", value);
  const ties = solution.ties_total;
  $("best-proof").textContent = `no threshold is ${sign > 0 ? "better" : "lower"}: proven${ties ? `; ${grouped(ties)} equal` : ""}`;
  put("honest-value", number(honest.value), honest.value === null ? "not known" : shown(number(honest.value)));
  const side = sign > 0 ? "at least" : "at most";
  $("honest-bound").textContent =
    honest.bound === null ? "" : `${side} ${shown(number(honest.bound))} with ${percent(honest.confidence)} confidence`;
  const usual = number(m.points.usual.value);
  put("usual-value", usual);
  const gap = sign * (value - usual);
  $("usual-gap").textContent = Number.isNaN(usual)
    ? "no one is called positive there"
    : !m.points.usual.meets_constraints ? "does not meet the constraints" : gap === 0 ? "just as good" : `${shown(gap)} worse`;
  fill($("best-matrix"), solution.confusion);
  $("sentence").textContent = m.name === data.best_model ? data.sentence : otherSentence(m);
  $("threshold").max = m.n - 1;
  how(m);
  table(m);
}

function otherSentence(m) {
  const best = models.find((one) => one.name === data.best_model);
  const gap = sign * (number(best.solution.value) - number(m.solution.value));
  const rule = m.solution.threshold === "inf" ? "call nobody positive" : `call a case positive when its score is at least ${threshold(number(m.solution.threshold))}`;
  const than = gap === 0 ? `as good as ${best.name}` : `${shown(gap)} worse than ${best.name}`;
  return `With ${m.name}, ${rule}: ${data.goal.name} is then ${shown(number(m.solution.value))}, ${than}.`;
}

const TILES = Object.keys(METRICS);

function tiles() {
  const own = !TILES.includes(data.goal.objective);
  const shape = [...(own ? [["objective", data.goal.name, data.goal.direction === "maximize" ? "the goal: higher is better" : "the goal: lower is better"]] : []),
    ...TILES.map((name) => [name, METRICS[name][0], METRICS[name][1]])];
  $("tiles").replaceChildren(
    ...shape.map(([name, title, hint]) => {
      const tile = document.createElement("div");
      tile.className = name === "objective" || name === data.goal.objective ? "tile goal" : "tile";
      const [dt, dd, note] = ["dt", "dd", "dd"].map((tag) => document.createElement(tag));
      dt.textContent = title;
      dd.id = `tile-${name}`;
      note.className = "hint";
      note.textContent = hint;
      tile.append(dt, dd, note);
      return tile;
    }),
  );
}

let frame = 0;
function show({ charts = true } = {}) {
  const m = state.model;
  const i = state.cut;
  const c = m.confusion(i);
  const slider = $("threshold");
  slider.value = m.n - 1 - i;
  slider.setAttribute("aria-valuetext", m.label[i]);
  put("now", m.t[i], m.label[i]);
  $("now").title = String(m.t[i]);
  fill($("matrix"), c);
  for (const name of TILES) put(`tile-${name}`, METRICS[name][2](c));
  if ($("tile-objective")) put("tile-objective", m.value[i]);
  const feasible = m.cuts.feasible === null || m.cuts.feasible[i];
  const gap = sign * (number(m.solution.value) - m.value[i]);
  const words = [`At ${m.t[i] === Infinity ? "no threshold" : `threshold ${m.label[i]}`}, ${grouped(c.tp)} of ${grouped(c.tp + c.fn)} positives are found, with ${grouped(c.fp)} false alarms.`];
  if (i === m.best) words.push(`This is the best threshold for the goal: ${data.goal.text}.`);
  else if (!feasible) words.push(`The constraints are not met: ${data.goal.constraints.join(" and ")}.`);
  else if (Number.isNaN(m.value[i])) words.push(`${data.goal.name} is undefined here.`);
  else words.push(gap === 0 ? `${data.goal.name} is ${shown(m.value[i])}, as good as the best.` : `${data.goal.name} is ${shown(m.value[i])}, ${shown(gap)} worse than the best.`);
  $("live").textContent = words.join(" ");
  $("brief").textContent = `${grouped(c.tp)} found \u00b7 ${grouped(c.fp)} false alarms \u00b7 ${grouped(c.fn)} missed \u00b7 ${data.goal.name} ${shown(m.value[i])}`;
  const cheap = showCosts();
  for (const [id, cut] of [["to-best", m.best], ["to-usual", m.usual], ["to-cheapest", cheap]]) $(id).setAttribute("aria-pressed", String(cut === i));
  for (const row of document.querySelectorAll("#models-table tbody tr")) row.classList.toggle("current", models[row.dataset.model] === m);
  for (const row of document.querySelectorAll("#table tbody tr")) row.classList.toggle("current", Number(row.dataset.cut) === i);
  if (!charts) return;
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => drawCharts(cheap));
}

function showCosts() {
  const m = state.model;
  const found = cheapest(m);
  $("to-cheapest").disabled = found.cut < 0;
  put("cheapest", found.cut < 0 ? NaN : m.t[found.cut], found.cut < 0 ? "undefined" : m.label[found.cut]);
  put("cheapest-cost", 1000 * found.cost, money(1000 * found.cost));
  const c = found.cut < 0 ? null : m.confusion(found.cut);
  $("cheapest-note").textContent = !c ? "needs rows of both classes" : found.cut === m.best ? "the same as for the goal" : `finds ${percent(m.tpr[found.cut])} of positives`;
  const slack = found.cost - found.bound;
  $("cheapest-bound").textContent = !c ? "" : slack <= 1e-12 * found.cost ? "the least of all thresholds" : `no threshold costs less than ${money(1000 * found.bound)}`;
  const now = costAt(m.tpr[state.cut], m.fpr[state.cut]);
  put("now-cost", 1000 * now, money(1000 * now));
  const more = now - found.cost;
  $("now-cost-note").textContent = Number.isNaN(more) ? "" : more <= 1e-12 * now ? "none is cheaper" : `${money(1000 * more)} more`;
  return found.cut;
}

// ---------------------------------------------------------------- operating points and policies

const element = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text }, more);

/* Fill a table: the first cell of a row is its heading. */
function rowsInto(place, heads, rows) {
  const [thead, tbody, head] = ["thead", "tbody", "tr"].map((tag) => document.createElement(tag));
  head.append(...heads.map((text, i) => element(text || i ? "th" : "td", text, text ? { scope: "col" } : {})));
  thead.append(head);
  tbody.append(...rows.map((cells) => {
    const row = document.createElement("tr");
    row.append(...cells.map((cell) => (cell instanceof Node ? cell : element("td", cell))));
    return row;
  }));
  place.replaceChildren(thead, tbody);
  return [...tbody.rows];
}

function modelsTable() {
  const auc = (m) => (m.auc.value === null ? "undefined" : shown(m.auc.value));
  const rows = rowsInto(
    $("models-table"), ["Model", "Threshold", data.goal.name, "Expected on new rows", "At 0.5", "Area under ROC"],
    models.map((m) => [
      element("th", m.name, { scope: "row", title: m.name, className: "name" }), threshold(number(m.solution.threshold)), shown(number(m.solution.value)),
      m.honest.value === null ? "not known" : shown(number(m.honest.value)), shown(number(m.points.usual.value)), auc(m),
    ]),
  );
  rows.forEach((row, i) => { row.dataset.model = i; });
}

function table(m) {
  const metrics = ["precision", "recall", "f1"].filter((name) => name !== data.goal.objective);
  const heads = ["", "Threshold", data.goal.name, "Found", "False alarms", "Missed", ...metrics.map((name) => METRICS[name][0]), "Policy"];
  const button = (point, text, label, run) => {
    const made = element("button", text, { type: "button", className: "quiet" });
    made.setAttribute("aria-label", `${label}: ${point.name}`);
    made.addEventListener("click", run);
    return made;
  };
  const rows = rowsInto($("table"), heads, m.operating_points.map((point) => {
    const c = point.confusion;
    const name = element("th", point.name, { scope: "row" });
    if (!point.meets_constraints) name.append(element("div", "does not meet the constraints", { className: "small" }));
    const actions = element("td", "", { className: "actions" });
    actions.append(
      button(point, "Show", "Show", () => go(point.cut)),
      button(point, "Copy policy", "Copy policy", () => copy(point.cut, point.policy)),
      button(point, "Download policy.json", "Download policy.json", () => download(point.cut, point.policy)),
    );
    return [
      name, element("td", threshold(number(point.threshold)), { title: String(number(point.threshold)) }), shown(number(point.value)),
      grouped(c.tp), grouped(c.fp), grouped(c.fn), ...metrics.map((one) => shown(number(point.metrics[one]))), actions,
    ];
  }));
  rows.forEach((row, i) => Object.assign(row.dataset, { cut: m.operating_points[i].cut, key: m.operating_points[i].key }));
}

function say(text) {
  $("status").textContent = "";
  $("status").textContent = text;
}

async function copy(cut, made) {
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
  say(`The policy for threshold ${state.model.label[cut]} is copied.`);
}

function download(cut, made) {
  const address = URL.createObjectURL(new Blob([policy(state.model, cut, made)], { type: "application/json" }));
  const link = Object.assign(document.createElement("a"), { href: address, download: "policy.json" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
  say(`policy.json for threshold ${state.model.label[cut]} is saved where your browser saves files.`);
}

// ---------------------------------------------------------------- how to read this

function how(m) {
  const { certificate } = m.solution;
  const drawn = m.cuts.complete
    ? `All ${grouped(m.n)} cuts are drawn: every threshold that makes a difference.`
    : `${grouped(m.n)} of the cuts are drawn, each with its exact counts. The best threshold is exact whatever is drawn${m.cuts.hull_exact ? ", and so is the best at any costs" : "; the best at other costs is the best of those drawn, with a bound on what any other could save"}.`;
  const auc = m.auc.value === null ? "undefined with one class" : `${shown(m.auc.value)}${m.auc.error > 0.00005 ? ` \u00b1 ${shown(m.auc.error)}` : ""}`;
  const pairs = [
    ["Rule", "A case is called positive when its score is at least the threshold."],
    ["Goal", data.goal.text],
    ["Proof", certificate.rows_examined >= data.data.rows ? "Every threshold was looked at; none is better." : `${grouped(certificate.rows_examined)} rows were looked at one by one, all others were excluded by a bound; no threshold is better.`],
    ["Expected on new rows", `${m.honest.how}.`],
    ...m.honest.constraints.map((one) => [`${one.constraint}`, `${shown(number(one.value))} on these rows, about ${shown(number(one.expected))} to be expected on new ones. For a constraint that holds on new data, ask find for a confidence.`]),
    ["Area under ROC", auc],
    ["Drawn", drawn],
    ["Data", `${grouped(data.data.rows)} rows${data.data.weighted ? " with weights" : ""}, ${grouped(data.data.positives)} positive, ${grouped(data.data.negatives)} negative${data.data.label ? `, labels in ${data.data.label}` : ""}; scores from ${threshold(number(m.scores.low))} to ${threshold(number(m.scores.high))}.`],
  ];
  $("how").replaceChildren(
    ...pairs.flatMap(([name, text]) => [
      Object.assign(document.createElement("dt"), { textContent: name }),
      Object.assign(document.createElement("dd"), { textContent: text }),
    ]),
  );
}

// ---------------------------------------------------------------- what people do

function go(cut) {
  if (cut < 0) return;
  state.cut = cut;
  show();
}

function choose(index) {
  state.model = models[index];
  state.cut = state.model.best;
  showModel();
  show();
}

function readCosts() {
  const fields = { fp: $("cost-fp"), fn: $("cost-fn"), prevalence: $("prevalence") };
  const read = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value.trim() === "" ? NaN : Number(field.value)]));
  read.prevalence /= 100;
  let wrong = "";
  for (const [name, field] of Object.entries(fields)) {
    const fine = read[name] >= 0 && Number.isFinite(read[name]) && (name !== "prevalence" || read[name] <= 1);
    field.setAttribute("aria-invalid", String(!fine));
    if (!fine) wrong = name === "prevalence" ? "Positives must be between 0 and 100 %." : "Costs must be numbers of at least 0.";
  }
  $("cost-problem").textContent = wrong;
  if (wrong) return;
  // The prevalence of the data exactly, where the field shows it rounded.
  if (fields.prevalence.value === fields.prevalence.dataset.rounded) read.prevalence = data.data.prevalence;
  Object.assign(state, read);
  show();
}

function resetCosts() {
  $("cost-fp").value = data.costs.fp;
  $("cost-fn").value = data.costs.fn;
  const rounded = String(Number((100 * data.data.prevalence).toPrecision(4)));
  $("prevalence").value = $("prevalence").dataset.rounded = rounded;
  readCosts();
}

function start() {
  const best = Math.max(0, models.findIndex((m) => m.name === data.best_model));
  models.forEach((m, i) => {
    const label = document.createElement("label");
    const radio = Object.assign(document.createElement("input"), { type: "radio", name: "model", value: String(i), checked: i === best });
    radio.addEventListener("change", () => choose(i));
    label.append(radio, Object.assign(document.createElement("span"), { textContent: m.name, title: m.name }));
    $("models").append(label);
  });
  state.model = models[best];
  tiles();
  modelsTable();
  if (models.length > 1) $("overlays").hidden = false;
  const names = () => legend($("overlays"), models.map((m, i) => ["line", LINES[i % 5], m.name, STYLES[i % 5]]));
  names();
  $("threshold").addEventListener("input", (event) => go(state.model.n - 1 - Number(event.target.value)));
  $("to-best").addEventListener("click", () => go(state.model.best));
  $("to-usual").addEventListener("click", () => go(state.model.usual));
  $("to-cheapest").addEventListener("click", () => go(cheapest(state.model).cut));
  $("copy-now").addEventListener("click", () => copy(state.cut));
  $("download-now").addEventListener("click", () => download(state.cut));
  for (const id of ["cost-fp", "cost-fn", "prevalence"]) $(id).addEventListener("input", readCosts);
  $("reset-costs").addEventListener("click", resetCosts);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { names(); show(); });
  const print = (on) => {
    document.documentElement.classList.toggle("printing", on);
    for (const chart of Object.values(CHARTS)) chart.key = null;
    names();
    drawCharts(cheapest(state.model).cut);
  };
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return; // a phone's address bar
    width = innerWidth;
    for (const chart of Object.values(CHARTS)) chart.key = null;
    show();
  });
  addEventListener("beforeprint", () => print(true));
  addEventListener("afterprint", () => print(false));
  choose(best);
  resetCosts();
}

start();
