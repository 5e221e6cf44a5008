/* Policy files: made in the page for any position of the slider, and accepted by cutpoints.Policy.load. */

/* SHA-256 (FIPS 180-4) of ASCII text; crypto.subtle is not there on every page that is opened. */
function sha256(text) {
  const primes = [];
  for (let n = 2; primes.length < 64; n += 1) if (primes.every((p) => n % p)) primes.push(n);
  const bits = (x) => ((x % 1) * 4294967296) >>> 0;
  const k = primes.map((p) => bits(Math.cbrt(p)));
  const h = primes.slice(0, 8).map((p) => bits(Math.sqrt(p)));
  const length = text.length;
  const words = new Uint32Array((((length + 8) >> 6) + 1) * 16);
  for (let i = 0; i < length; i += 1) words[i >> 2] |= text.charCodeAt(i) << (24 - 8 * (i % 4));
  words[length >> 2] |= 0x80 << (24 - 8 * (length % 4));
  words[words.length - 1] = 8 * length;
  const turn = (x, n) => (x >>> n) | (x << (32 - n));
  const w = new Uint32Array(64);
  for (let block = 0; block < words.length; block += 16) {
    w.set(words.subarray(block, block + 16));
    for (let i = 16; i < 64; i += 1) {
      const [a, b] = [w[i - 15], w[i - 2]];
      w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
    }
    const v = [...h];
    for (let i = 0; i < 64; i += 1) {
      const [a, b, c, , e, f, g] = v;
      const one = (v[7] + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i]) >>> 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) >>> 0;
      v.unshift((one + two) >>> 0);
      v.pop();
      v[4] = (v[4] + one) >>> 0;
    }
    v.forEach((x, i) => { h[i] = (h[i] + x) >>> 0; });
  }
  return `sha256:${h.map((x) => x.toString(16).padStart(8, "0")).join("")}`;
}

/* A float as Python's float.hex writes it: every bit of it. */
function hex(x) {
  if (!Number.isFinite(x)) return x > 0 ? "inf" : "-inf";
  if (x === 0) return "0x0.0p+0";
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  const top = view.getUint32(0);
  const exponent = (top >>> 20) & 0x7ff;
  const digits = (top & 0xfffff).toString(16).padStart(5, "0") + view.getUint32(4).toString(16).padStart(8, "0");
  const power = exponent ? exponent - 1023 : -1022;
  return `${x < 0 ? "-" : ""}0x${exponent ? 1 : 0}.${digits}p${power < 0 ? "" : "+"}${power}`;
}

/* The one spelling of a JSON value over which a policy's checksum is taken. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.keys(value).sort().map((key) => `${canonical(key)}:${canonical(value[key])}`).join(",")}}`;
  }
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value).toString() : hex(value);
  const escaped = (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, escaped);
}

const json = (x) => (x === Infinity ? "inf" : x === -Infinity ? "-inf" : x);

/* The next float below: thresholds between it and x there are none. */
function below(x) {
  if (x === -Infinity) return x;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x === 0 ? -Number.MIN_VALUE : x);
  if (x !== 0) view.setBigInt64(0, view.getBigInt64(0) + (x > 0 ? -1n : 1n));
  return view.getFloat64(0);
}

/* How the scores are spread, with the threshold as one of the edges. */
function spread(base, at, c) {
  const points = new Map();
  let [p, n] = [c.tp + c.fn, c.fp + c.tn];
  const totals = [p, n];
  base.edges.forEach((edge, i) => {
    [p, n] = [p - base.positives[i], n - base.negatives[i]];
    if (p !== c.tp || n !== c.fp) points.set(number(edge), [p, n]);
  });
  if (c.tp + c.fp > 0 && c.fn + c.tn > 0) points.set(at, [c.tp, c.fp]);
  const edges = [...points.keys()].sort((a, b) => a - b);
  const above = [totals, ...edges.map((edge) => points.get(edge)), [0, 0]];
  const steps = (side) => above.slice(1).map((one, i) => Math.max(0, above[i][side] - one[side]));
  return { edges: edges.map(json), positives: steps(0), negatives: steps(1) };
}

/* The costs of the page as a goal, as the library writes it. */
function costText() {
  const given = CELLS.filter((name) => state.costs[name] !== 0);
  return `cost(${(given.length ? given : ["fp"]).map((name) => `${name}=${data.costs.columns[name]?.cost ?? state.costs[name]}`).join(", ")})`;
}

/* The file for a cut: that of the library where it has made one, otherwise that of the optimum with
   the goal of the page, and what this cut does on the data, in its place. */
function policy(m, cut, made = null) {
  const from = made ?? (ownGoal() && cut === m.best ? m.points.optimum.policy : null);
  if (from) return `${JSON.stringify(from, null, 2)}\n`;
  const base = m.points.optimum.policy;
  const at = m.t[cut];
  const { money: _, ...c } = m.raw(cut);
  const { checksum, ...rest } = base;
  const content = { ...rest, rule: { ...rest.rule, threshold: json(at) } };
  const value = ownGoal() ? m.value[cut] : costOf(m.raw(cut));
  if (!ownGoal()) Object.assign(content, { objective: costText(), direction: "minimize" });
  if (shifted()) content.description = `Chosen for ${percent(state.prevalence)} ${data.names.positive}; the data have ${percent(data.data.prevalence)}.`;
  const low = at === Infinity ? number(m.scores.high) : m.cuts.complete && cut + 1 < m.n ? m.t[cut + 1] : below(at);
  const counts = [base.found_on.rows, c.tp + c.fn, c.fp + c.tn, c.tp, c.fp];
  const [rows, p, n, tp, fp] = counts;
  const ends = [m.scores.low, m.scores.high].map((x) => hex(number(x)));
  const bounds = ownGoal() ? { lower: json(value) } : { lower: json(value), upper: json(value) };
  content.found_on = Number.isNaN(value) ? null : {
    ...base.found_on,
    status: "chosen by hand",
    value: json(value),
    interval: { low: json(low), high: json(at) },
    confusion: c,
    certificate: { ...base.found_on.certificate, ...bounds },
    cross_validated: null, // that of the optimum, for another goal or threshold
    fingerprint: counts.every(Number.isInteger) ? sha256([rows, p, n, ...ends, tp, fp].join(" ")) : null,
    distribution: base.found_on.distribution && spread(base.found_on.distribution, at, c),
  };
  return `${JSON.stringify({ ...content, checksum: sha256(canonical(content)) }, null, 2)}\n`;
}
