"use strict";
const $ = id => document.getElementById(id);
const POINTS = 161, SIDES = ["a", "b"];
const PANELS = [["term", 1, 1], ["term", -1, 1], ["gradient", 1, 2], ["gradient", -1, 2]];
const SLIDERS = ["log-ratio", "reference", "sampler", "reach", "advantage", "reward", "responses", "length", "rate", "updates"], SELECTS = ["others", "from", "scale"];
const BATCHES = 100, MEASURES = ["mean reward", "clip fraction", "tokens per response", "entropy of a token, nats"];
const usual = [[], []];                                  // the fields of each side's row, before they are changed
let lib, rows, fields;

// ---- the library ------------------------------------------------------------------------------------------------------------------------

const bytes = base64 => Uint8Array.from(atob(base64), c => c.charCodeAt(0));
const numbers = n => Array.from(new Float64Array(lib.memory.buffer, lib.number_at(), n));
const records = () => told().split("\x1e").slice(0, -1).map(r => r.split("\x1f"));

function told() {
  const all = new Uint8Array(lib.memory.buffer), from = lib.text_at();
  return new TextDecoder().decode(all.subarray(from, all.indexOf(0, from)));
}

// The last argument of a table's line is its text: string literals one behind the other.
const detail = line => (line.match(/"(?:[^"\\]|\\.)*"/g) || []).map(s => JSON.parse(s)).join("");

function fieldOf([path, ...rest]) {
  const choices = [];
  for (let k = 0; k + 2 < rest.length; k += 3) choices.push({ id: rest[k], name: rest[k + 1], text: detail(rest[k + 2]) });
  return { path, choices };
}

async function open() {
  const stub = new Proxy({}, { get: () => () => 0 });      // the C library's calls to the system, none of which is made
  const { instance } = await WebAssembly.instantiate(bytes(WASM), { wasi_snapshot_preview1: stub });
  lib = instance.exports;
  if (lib._initialize) lib._initialize();
  lib.list_rows();
  rows = records().map(([name, paper, equations, summary]) => ({ name, paper, equations, summary }));
  lib.list_fields();
  fields = records().map(fieldOf);
}

const curve = (side, advantage, s, low, high, n) => {
  const found = lib.curve(side, advantage, s.responses, s.length, low, high, n), x = numbers(4 * found);
  return Array.from({ length: found }, (_, k) => x.slice(4 * k, 4 * k + 4));
};

// ---- what the controls say --------------------------------------------------------------------------------------------------------------

function setting() {
  const s = { logRatio: +$("log-ratio").value, reference: +$("reference").value, sampler: +$("sampler").value, advantage: +$("advantage").value, reward: +$("reward").value,
    fromRewards: +$("from").value, responses: +$("responses").value, length: +$("length").value, reach: 2 ** +$("reach").value,
    rate: 2 ** +$("rate").value, updates: +$("updates").value };
  s.size = s.fromRewards ? 1 : Math.abs(s.advantage) || 1;  // |A| of the curves
  s.hasReference = [0, 1].some(side => lib.reads_reference(side, s.fromRewards));
  s.hasSampler = [0, 1].some(side => lib.reads_sampler(side, s.fromRewards));
  return s;
}

const short = x => Number.isFinite(x) ? String(+x.toPrecision(4)) : String(x);

// Their values in words; those that would change nothing are off.
function showSetting(s) {
  for (const id of SLIDERS) {
    const x = short(id in s ? s[id] : +$(id).value);
    $(id + "-is").value = x;
    $(id).setAttribute("aria-valuetext", id === "reach" ? "\u00b1" + x : x);
  }
  $("advantage").disabled = !!s.fromRewards;
  $("reward").disabled = !s.fromRewards;
  $("reference").disabled = !s.hasReference;
  $("sampler").disabled = !s.hasSampler;
}

function element(name, content, properties) {
  const e = Object.assign(document.createElement(name), properties);
  e.append(...[content].flat());
  return e;
}

const option = (value, label) => element("option", label, { value });

// The rows under the headings of OBJECTIVES.md.
function rowOptions() {
  const titled = new Set(FAMILIES.flatMap(([, names]) => names)), index = name => rows.findIndex(r => r.name === name);
  const others = rows.map(r => r.name).filter(name => !titled.has(name));
  return [...FAMILIES, ["Not in OBJECTIVES.md", others]].filter(([, names]) => names.some(name => index(name) >= 0))
    .map(([label, names]) => element("optgroup", names.filter(name => index(name) >= 0).map(name => option(index(name), name)), { label }));
}

function showField() {
  const side = +$("side").value, f = fields[+$("field").value], x = lib.get_field(side, +$("field").value);
  $("choice-label").hidden = !f.choices.length;
  $("value-label").hidden = !!f.choices.length;
  $("choice").replaceChildren(...f.choices.map((c, k) => option(k, c.name)));
  $("choice").value = x;
  $("value").value = x;
}

function setField(typed) {
  const side = +$("side").value, k = +$("field").value;
  const refused = typed === "" ? "an empty number; the field stays as it is" : lib.set_field(side, k, +typed) ? "" : told();
  showField();
  writeAddress();
  draw(refused);
}

// ---- drawing ----------------------------------------------------------------------------------------------------------------------------

const NS = "http://www.w3.org/2000/svg";

function svg(name, attributes, ...inside) {
  const e = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...inside);
  return e;
}

const finite = x => Math.max(-1e6, Math.min(1e6, x));

function stripes(points, side, x, step, y) {
  return points.filter(p => p[3] === 0).map(p => svg("rect", { class: "stripe-" + SIDES[side], x: x(p[0]) - step / 2, y: y + 8 * side, width: step + 0.4,
    height: side ? 3 : 6 }));
}

// at: of each side the one point where the token is
function panel([what, sign, column], curves, at, s) {
  const W = 380, H = 214, left = 62, top = 12, w = W - left - 8, h = 146;
  const all = curves.flat().map(p => finite(p[column])).filter(x => !Number.isNaN(x)), low = Math.min(0, ...all), high = Math.max(0, ...all);
  const x = v => left + w * (v + s.reach) / (2 * s.reach), y = v => top + h * (high - finite(v)) / (high - low || 1);
  const line = (x1, x2, y1, y2, dashes) => svg("line", { class: "axis", x1, x2, y1, y2, ...dashes && { "stroke-dasharray": dashes } });
  const label = (px, py, t, anchor) => svg("text", { x: px, y: py, "text-anchor": anchor }, t);
  const draws = [line(left, left + w, y(0), y(0)), line(x(0), x(0), top, top + h)];
  if (s.hasReference && s.reference !== 0 && Math.abs(s.reference) <= s.reach)
    draws.push(line(x(s.reference), x(s.reference), top, top + h, "8 3"), label(x(s.reference), top - 2, "ref", "middle"));
  curves.forEach((points, side) => {
    draws.push(svg("polyline", { class: SIDES[side], points: points.map(p => `${x(p[0]).toFixed(1)},${y(p[column]).toFixed(1)}`).join(" ") }));
    draws.push(...stripes(points, side, x, w / (points.length - 1 || 1), top + h + 4));
  });
  if (Math.abs(s.logRatio) <= s.reach) draws.push(line(x(s.logRatio), x(s.logRatio), top, top + h, "2 3"));
  // an end of the axis that is near 0, but is not 0, is written outside the panel, and 0 where it is
  const above = high > 0 && y(0) < top + 24, below = low < 0 && y(0) > top + h - 16;
  draws.push(label(left - 4, above ? top - 2 : top + 8, short(high), "end"), label(left - 4, below ? top + h + 14 : top + h, short(low), "end"), label(left - 6, H - 22, "log-ratio", "end"),
    label(left - 6, H - 7, "ratio", "end"));
  const halves = String(+(s.reach / 2).toPrecision(3));                // left out where they would meet the ends'
  for (const [part, anchor] of [[-1, "start"], [-0.5, "middle"], [0, "middle"], [0.5, "middle"], [1, "end"]]) {
    const v = part * s.reach, tick = String(+v.toPrecision(3));
    if (part % 1 === 0 || halves.length < 7) draws.push(label(x(v), H - 22, tick, anchor), label(x(v), H - 7, short(Math.exp(v)), anchor));
  }
  if (low < 0 && high > 0) draws.push(label(left - 4, Math.max(top + 12, Math.min(y(0) + 4, top + h)), "0", "end"));
  const title = `Advantage ${sign > 0 ? "+" : "\u2212"}${short(s.size)}: ${what}`;
  const values = SIDES.map((id, side) => `${id.toUpperCase()} ${at[side].length ? short(at[side][0][column]) : "refused"}`).join(", ");
  return element("figure", [svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${title}, curves of A and B against the log-ratio` }, ...draws),
    element("figcaption", `${title}. At log-ratio ${short(s.logRatio)}: ${values}`)]);
}

function batchOf(side, s) {
  const n = lib.evaluate_batch(side, s.logRatio, s.advantage, s.reward, s.fromRewards, s.responses, s.length);
  if (n < 0) return { refused: told(), tokens: [] };
  const x = numbers(4 + 4 * n), tokens = Array.from({ length: n }, (_, k) => x.slice(4 + 4 * k, 8 + 4 * k));
  return { loss: x[0], clipped: x[1], kl: x[2], divisor: 1 / x[3], tokens };
}

const largest = batch => Math.max(1e-300, ...batch.tokens.map(t => Math.abs(finite(t[3]))));

// A bar's height is the gradient over `unit`, the largest of its side or of both.
function bars(batches) {
  const own = $("scale").value === "own", both = Math.max(...batches.map(largest)), unit = batches.map(b => own ? largest(b) : both);
  const all = batches.flatMap((b, side) => b.tokens.map(t => finite(t[3]) / unit[side])), high = Math.max(1e-9, ...all), low = Math.min(-1e-9, ...all);
  const ends = unit.map(u => [high, low].map(v => Math.abs(v) < 1e-6 || u < 1e-299 ? "0" : short(v * u)));
  const n = Math.max(...batches.map(b => b.tokens.length)), left = 12 + 7.5 * Math.max(...ends.flat().map(t => t.length)), least = left + 4 * n;
  const W = Math.max(360, Math.min(800, document.documentElement.clientWidth - 32), least), H = 190, top = 8, h = 150, step = (W - left - 3) / (n || 1);
  const y = v => top + h * (high - v) / (high - low), draws = [];
  batches.forEach((b, side) => b.tokens.forEach((t, k) => {
    const v = finite(t[3]) / unit[side], width = Math.max(1, step / 2 - 1), thin = width < 5 ? "thin " : "";
    draws.push(svg("rect", { class: thin + "bar-" + SIDES[side], x: left + 1 + k * step + side * step / 2, y: Math.min(y(0), y(v)), width,
      height: Math.abs(y(v) - y(0)) },
    svg("title", {}, `${SIDES[side].toUpperCase()}, response ${t[0]}: advantage ${short(t[1])}, log-ratio ${short(t[2])}, gradient ${short(t[3])}`)));
  }));
  const first = (batches.find(b => b.tokens.length) || batches[0]).tokens;
  first.forEach((t, k) => { if (!k || first[k - 1][0] !== t[0]) {
    const name = step * first.filter(u => u[0] === t[0]).length > 80 ? `response ${t[0]}` : String(t[0]);
    draws.push(svg("line", { class: "axis", x1: left + k * step, x2: left + k * step, y1: top, y2: top + h }),
      svg("text", { x: left + 3 + k * step, y: top + h + 16 }, name));
  } });
  draws.push(svg("line", { class: "axis", x1: left, x2: W, y1: y(0), y2: y(0) }));
  for (const side of own ? [0, 1] : [0]) for (const end of [0, 1])
    draws.push(svg("text", { class: own ? "text-" + SIDES[side] : "", x: left - 4, y: end ? top + h - 14 * (own && !side) : top + 10 + 14 * side,
      "text-anchor": "end" }, ends[side][end]));
  return svg("svg", { viewBox: `0 0 ${W} ${H}`, style: `min-width: ${Math.min(W, least)}px`, role: "img",
    "aria-label": "d loss / d log-probability of every token, A and B" }, ...draws);
}

// What the two batches come to, and how long the responses are.
function reportOf(batches) {
  const each = batches.map((b, side) => `${SIDES[side].toUpperCase()}: ` + (b.refused ? `refused, ${b.refused}`
    : `loss ${short(b.loss)}, clipped ${short(100 * b.clipped)} %, approx. KL(old\u2016policy), k3: ${short(b.kl)}, largest bar ${short(largest(b))}, `
      + `divisor of the first token's term ${short(b.divisor)}`));
  const tokens = (batches.find(b => b.tokens.length) || batches[0]).tokens, lengths = [];
  for (const t of tokens) lengths[t[0]] = (lengths[t[0]] || 0) + 1;
  return [...each, `Tokens of the responses: ${lengths.join(", ")}`].map(t => t + ".").join("\n");
}

// ---- what an objective is ---------------------------------------------------------------------------------------------------------------

const settings = side => fields.map((f, k) => ({ ...f, value: lib.get_field(side, k) })).filter(f => f.value !== 0);
const literal = x => Number.isFinite(x) ? String(x) : (x < 0 ? "-" : "") + "HUGE_VAL";
const asC = side => "grpo_objective o;\nmemset(&o, 0, sizeof o);\n"
  + settings(side).map(f => `o.${f.path} = ${f.choices.length ? f.choices[f.value].id : literal(f.value)};`).join("\n");

function asJSON(side) {
  const o = {};
  for (const f of settings(side)) {
    const [axis, name] = f.path.split(".");
    (o[axis] = o[axis] || {})[name] = f.choices.length ? f.choices[f.value].name : Number.isFinite(f.value) ? f.value : f.value < 0 ? "-Infinity" : "Infinity";
  }
  return o;
}

const said = (k, x) => fields[k].choices.length ? fields[k].choices[x].name : short(x);
const changed = side => fields.map((f, k) => [k, lib.get_field(side, k)]).filter(([k, x]) => x !== usual[side][k]);

// Whether an objective in the test vectors' format, in which what is not named is the first choice or 0, is that of the side.
const describes = (objective, side) => fields.every((f, k) => {
  const [axis, name] = f.path.split("."), said = (objective[axis] || {})[name] ?? 0, value = lib.get_field(side, k);
  return f.choices.length ? (said === 0 ? value === 0 : f.choices[value].name === said) : Number(said) === value;
});

function block(parent, name, content, open) {
  const d = document.createElement("details"), s = document.createElement("summary"), pre = document.createElement("pre");
  s.textContent = name;
  pre.textContent = content;
  d.open = open;
  d.append(s, pre);
  parent.append(d);
}

// "paper; chosen here: surrogate.weight_max": what a row is, and the fields that rest on less
function restsOn(row) {
  const [is, ...rest] = (EVIDENCE[row.name] || "").split("; "), of = {};
  for (const [kind, paths] of rest.map(part => part.split(": ")).filter(part => part[1])) for (const path of paths.split(", ")) of[path] = kind;
  return { is, of };
}

function about(side) {
  const to = $("about-" + SIDES[side]), row = rows[+$("row-" + SIDES[side]).value], open = [...to.querySelectorAll("details")].map(d => d.open);
  const name = element("span", `${SIDES[side].toUpperCase()}: ${row.name}`, { className: "name-" + SIDES[side] }), table = element("table", []);
  const paper = element(/^\d{4}\.\d{5}$/.test(row.paper) ? "a" : "span", row.paper);
  if (paper.tagName === "A") paper.setAttribute("href", "https://arxiv.org/abs/" + row.paper);
  const rests = restsOn(row), title = element("p", [name, ` ${row.summary}. `, paper, `: ${row.equations}. What it is: ${rests.is}.`]);
  const changes = changed(side), other = new Set(changes.map(([k]) => fields[k].path));
  const words = changes.map(([k, x]) => `${fields[k].path} ${said(k, usual[side][k])} \u2192 ${said(k, x)}`);
  if (words.length) title.append(element("strong", ` Changed: ${words.join(", ")}.`));
  for (const f of settings(side)) {
    const line = table.insertRow();
    line.insertCell().textContent = `${f.path} = ${f.choices.length ? f.choices[f.value].name : short(f.value)}`;
    const kind = other.has(f.path) ? "" : rests.of[f.path] || "", text = f.choices.length ? f.choices[f.value].text : "";
    line.insertCell().textContent = kind && text ? `${text} (${kind})` : text || kind;
  }
  to.replaceChildren(title, table);
  const json = asJSON(side), known = CONFIGURATIONS.filter(c => describes(c.objective, side));
  block(to, "in C", asC(side), open[0]);
  block(to, "as JSON, the test vectors' format", JSON.stringify(json, null, 1), open[1]);
  block(to, "as options of a framework", known.length ? known.map(c => `${c.framework}: ${c.options}`).join("\n")
    : "No configuration of TRL or verl that is written down here says exactly this.", open[2]);
}

// ---- a small policy that trains ---------------------------------------------------------------------------------------------------------

let training = {};                                       // settings, batches done, of each side its curves, or why it was refused

// Some batches of each side: as many as a frame has time for.
function trainSome(until) {
  const t = training;
  for (; t.done < BATCHES && (t.done % 2 || performance.now() < until); t.done++)
    t.curves.forEach((curve, side) => {
      if (t.refused[side]) return;
      if (lib.train_batch(side, t.responses, t.updates, t.rate)) curve.push(numbers(MEASURES.length));
      else t.refused[side] = told();
    });
  showTraining(t);
}

function trainInFrames() {
  const t = training, step = () => {
    if (t !== training) return;                            // begun anew since
    trainSome(performance.now() + (matchMedia("(prefers-reduced-motion: reduce)").matches ? 1e9 : 25));
    if (t.done < BATCHES) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

// From the start, where something has changed that training depends on.
function retrain(s) {
  const key = JSON.stringify([asJSON(0), asJSON(1), s.responses, s.updates, s.rate]);
  if (key === training.key) return;
  training = { key, responses: s.responses, updates: s.updates, rate: s.rate, done: 0, curves: [[], []], refused: ["", ""] };
  for (const side of [0, 1]) lib.train_begin(side);
  trainInFrames();
}

function trainingPanel(name, k, curves) {
  const W = 380, H = 170, left = 62, top = 10, w = W - left - 8, h = 124;
  const high = k === 0 ? 1 : Math.max(1e-3, ...curves.flat().map(x => x[k]));
  const x = n => left + w * n / (BATCHES - 1), y = v => top + h * (1 - v / high);
  const label = (px, py, t, anchor) => svg("text", { x: px, y: py, "text-anchor": anchor }, t);
  const draws = [svg("line", { class: "axis", x1: left, x2: left + w, y1: top + h, y2: top + h }),
    svg("line", { class: "axis", x1: left, x2: left, y1: top, y2: top + h }), label(left - 4, top + 8, short(high), "end"),
    label(left - 4, top + h, "0", "end"), label(left, H - 14, "batch 1", "start"), label(left + w, H - 14, String(BATCHES), "end")];
  curves.forEach((curve, side) => draws.push(svg("polyline", { class: SIDES[side],
    points: curve.map((p, n) => `${x(n).toFixed(1)},${y(p[k]).toFixed(1)}`).join(" ") })));
  const last = curves.map(curve => curve.length ? short(+curve.at(-1)[k].toFixed(3)) : "none");
  const picture = { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${name} of A and B over the batches` };
  return element("figure", [svg("svg", picture, ...draws),
    element("figcaption", `${name[0].toUpperCase()}${name.slice(1)}, last batch: A ${last[0]}, B ${last[1]}`)]);
}

function showTraining(t) {
  $("training").replaceChildren(...MEASURES.map((name, k) => trainingPanel(name, k, t.curves)));
  const refused = SIDES.map((id, side) => t.refused[side] && `${id.toUpperCase()} does not train here: ${t.refused[side]}.`).filter(x => x);
  $("training-says").textContent = refused.length ? `${refused.join(" ")} There are rewards, log-probabilities, a reference and entropies.` : "";
  SIDES.forEach((id, side) => {
    const to = $("responses-" + id);
    to.replaceChildren();
    if (t.done < BATCHES || t.refused[side]) return;
    lib.train_responses(side);
    const lines = records().map((r, prompt) => [0, 2, 4].map(k => r[k] + (r[k + 1] === "right" ? "" : " (wrong)")).join("  "));
    const title = element("span", `${id.toUpperCase()}, what it writes after training`, { className: "name-" + id });
    to.append(element("p", [title, ": three responses to each prompt"]),
      element("pre", lines.join("\n")));
  });
}

// ---- the page ---------------------------------------------------------------------------------------------------------------------------

function draw(refused) {
  lib.set_others(+$("others").value);
  lib.set_reference(+$("reference").value);
  lib.set_sampler(+$("sampler").value);
  const s = setting(), of = (sign, low, high, n) => [0, 1].map(side => curve(side, sign * s.size, s, low, high, n));
  showSetting(s);
  const curves = { 1: of(1, -s.reach, s.reach, POINTS), "-1": of(-1, -s.reach, s.reach, POINTS) };
  const at = { 1: of(1, s.logRatio, s.logRatio, 1), "-1": of(-1, s.logRatio, s.logRatio, 1) }, batches = [0, 1].map(side => batchOf(side, s));
  $("curves").replaceChildren(...PANELS.map(p => panel(p, curves[p[1]], at[p[1]], s)));
  $("bars").replaceChildren(bars(batches));
  $("reports").textContent = reportOf(batches);
  $("refused").textContent = [refused, ...batches.map((b, side) => b.refused && `${SIDES[side].toUpperCase()}, ${b.refused}`)].filter(t => t).join("; ");
  about(0);
  about(1);
  retrain(s);
}

function takeRow(side, k) {
  $("row-" + SIDES[side]).value = k;
  lib.choose_row(side, k);
  usual[side] = fields.map((f, n) => lib.get_field(side, n));
}

function chooseRow(side) {
  takeRow(side, +$("row-" + SIDES[side]).value);
  $("unknown").textContent = "";
  showField();
  writeAddress();
  draw();
}

const usualOf = id => SELECTS.includes(id) ? $(id).options[0].value : $(id).defaultValue;

// The address names the two, the fields that were changed, the sliders and choices: #a=dapo&b=cispo&b.surrogate.weight_max=3&updates=16.
function writeAddress() {
  const pairs = SIDES.map((id, side) => [id, rows[+$("row-" + id).value].name]);
  const written = (k, x) => fields[k].choices.length ? fields[k].choices[x].name : x;
  SIDES.forEach((id, side) => pairs.push(...changed(side).map(([k, x]) => [`${id}.${fields[k].path}`, written(k, x)])));
  pairs.push(...[...SLIDERS, ...SELECTS].filter(id => $(id).value !== usualOf(id)).map(id => [id, $(id).value]));
  history.replaceState(null, "", "#" + new URLSearchParams(pairs));
}

function takeField(side, path, given) {
  const k = fields.findIndex(f => f.path === path), choice = k < 0 ? -1 : fields[k].choices.findIndex(c => c.name === given);
  if (k < 0) return `No field is named "${path}".`;
  if (fields[k].choices.length && choice < 0) return `${path} has no choice "${given}".`;
  return lib.set_field(side, k, choice < 0 ? Number(given || NaN) : choice) ? "" : `${path}: ${told()}.`;
}

// A name that there is none of is said, and the usual row is shown.
function chooseAsAddressed() {
  const asked = new URLSearchParams(location.hash.slice(1)), shown = ["grpo", "gspo"], unknown = [];
  const index = name => rows.findIndex(r => r.name === name);
  SIDES.forEach((id, side) => {
    const name = asked.get(id) || shown[side];
    if (index(name) < 0) unknown.push(`No objective is named "${name}": ${id.toUpperCase()} is ${shown[side]}.`);
    takeRow(side, index(name) < 0 ? index(shown[side]) : index(name));
    for (const [key, given] of asked) if (key.startsWith(id + ".")) unknown.push(takeField(side, key.slice(2), given));
  });
  for (const id of [...SLIDERS, ...SELECTS]) {
    $(id).value = asked.get(id) ?? usualOf(id);
    if ($(id).value === "") $(id).value = usualOf(id);            // a choice that there is none of
  }
  $("unknown").textContent = unknown.filter(t => t).join(" ");
}

function begin() {
  $("training-batches").textContent = BATCHES;
  SIDES.forEach((id, side) => {
    $("row-" + id).replaceChildren(...rowOptions());
    $("row-" + id).addEventListener("change", () => chooseRow(side));
  });
  chooseAsAddressed();
  addEventListener("hashchange", () => { chooseAsAddressed(); showField(); draw(); });
  $("field").replaceChildren(...fields.map((f, k) => option(k, f.path)));
  $("field").value = fields.findIndex(f => f.path === "surrogate.kind");
  for (const id of ["side", "field"]) $(id).addEventListener("change", showField);
  $("choice").addEventListener("change", () => setField($("choice").value));
  $("value").addEventListener("change", () => setField($("value").value));
  for (const id of [...SLIDERS, ...SELECTS]) {
    $(id).addEventListener("input", () => draw());
    $(id).addEventListener("change", writeAddress);
  }
  showField();
  draw();
}

// ---- for test.py: the numbers of every row as bits, and what the page looks like ----------------------------------------------------------

function bits(name, what, n) {
  const view = new DataView(lib.memory.buffer, lib.number_at());
  let line = `${name} ${what}`;
  for (let k = 0; k < n; k++) line += " " + view.getBigUint64(8 * k, true).toString(16).padStart(16, "0");
  return line;
}

function test() {
  const lines = [];
  rows.forEach((row, k) => {
    lib.choose_row(0, k);
    lines.push(bits(row.name, "A+", 4 * lib.curve(0, 1, 4, 6, -1, 1, 9)), bits(row.name, "A-", 4 * lib.curve(0, -1, 4, 6, -1, 1, 9)),
      bits(row.name, "given", 4 * lib.evaluate_batch(0, 0.5, 1.5, 1, 0, 4, 6) + 4), bits(row.name, "rewards", 4 * lib.evaluate_batch(0, -0.25, 0, 0.75, 1, 4, 6) + 4));
    lib.set_others(0);
    lib.set_sampler(0.5);
    lines.push(bits(row.name, "alone", 4 * lib.curve(0, 1, 4, 6, -1, 1, 9)));
    lib.set_others(0.125);
    lib.set_sampler(0);
    lib.train_begin(0);
    lines.push(bits(row.name, "trained", lib.train_batch(0, 4, 2, 0.125) && lib.train_batch(0, 4, 2, 0.125) ? 4 : 0));
  });
  lib.choose_row(0, +$("row-a").value);
  return lines.join("\n");
}

function look() {
  document.body.style.width = "360px";                        // no window is as narrow as a phone
  draw();
  while (training.done < BATCHES) trainSome(Infinity);
  const mean = c => c.reduce((sum, x) => sum + x[1], 0) / c.length;                       // of the clip fraction
  const trained = training.curves.map(c => c.length ? [...c.at(-1), mean(c)].map(x => x.toFixed(3)).join(" ") : "");
  const controls = [...document.querySelectorAll("select, input, button")], labelled = controls.filter(c => c.labels && c.labels.length);
  const drawn = document.querySelectorAll("#curves polyline").length, filled = [...document.querySelectorAll("#about-a td")].filter(c => c.textContent).length;
  return `width ${document.body.scrollWidth} of 360, controls ${controls.length}, labelled ${labelled.length}, curves ${drawn}, settings ${filled}`
    + `${SELECTS.map(id => `, ${id} ${$(id).value}`).join("")}\n`
    + `shown ${SIDES.map(id => rows[+$("row-" + id).value].name).join(" ")}\n`
    + `changed ${[...document.querySelectorAll(".sides strong")].map(e => e.textContent.trim()).join(" ") || "nothing"}\nsaid ${$("unknown").textContent}\n`
    + `trained ${trained.join(", ")}\n${$("training-says").textContent}`;
}

addEventListener("error", e => { document.title = "error: " + e.message; });
open().then(() => {
  begin();
  const what = location.hash.split("&")[0];
  if (!["#test", "#look"].includes(what)) return;
  const pre = document.createElement("pre");
  pre.id = "found";
  pre.textContent = what === "#test" ? test() : look();
  document.body.append(pre);
}).catch(e => {
  document.title = "error: " + e.message;
  $("unknown").textContent = `This page cannot show anything here: ${e.message}`;
});
