"use strict";
const $ = id => document.getElementById(id);
const POINTS = 161, SIDES = ["a", "b"];
const PANELS = [["A > 0: the term", 1, 1], ["A < 0: the term", -1, 1], ["A > 0: weight of the gradient", 1, 2], ["A < 0: weight of the gradient", -1, 2]];
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

const curve = (side, advantage, responses, length, low, high, n) => {
  const found = lib.curve(side, advantage, responses, length, low, high, n), x = numbers(4 * found);
  return Array.from({ length: found }, (_, k) => x.slice(4 * k, 4 * k + 4));
};

// ---- what the controls say --------------------------------------------------------------------------------------------------------------

const setting = () => ({ logRatio: +$("log-ratio").value, advantage: +$("advantage").value, reward: +$("reward").value,
  fromRewards: +$("from").value, responses: +$("responses").value, length: +$("length").value, reach: 2 ** +$("reach").value });
const short = x => Number.isFinite(x) ? String(+x.toPrecision(4)) : String(x);

function showSetting(s) {
  for (const [id, x] of [["log-ratio", s.logRatio], ["reach", s.reach], ["advantage", s.advantage], ["reward", s.reward],
    ["responses", s.responses], ["length", s.length]]) $(id + "-is").value = short(x);
}

function option(value, label) {
  const o = document.createElement("option");
  o.value = value;
  o.textContent = label;
  return o;
}

function showField() {
  const side = +$("side").value, f = fields[+$("field").value], x = lib.get_field(side, +$("field").value);
  $("choice-label").hidden = !f.choices.length;
  $("value-label").hidden = !!f.choices.length;
  $("choice").replaceChildren(...f.choices.map((c, k) => option(k, c.name)));
  $("choice").value = x;
  $("value").value = x;
}

function setField(value) {
  $("refused").textContent = lib.set_field(+$("side").value, +$("field").value, value) ? "" : told();
  showField();
  draw();
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

function panel([title, sign, column], curves, s) {
  const W = 380, H = 210, left = 62, top = 8, w = W - left - 8, h = 150;
  const all = curves.flat().map(p => finite(p[column])).filter(x => !Number.isNaN(x)), low = Math.min(0, ...all), high = Math.max(0, ...all);
  const x = v => left + w * (v + s.reach) / (2 * s.reach), y = v => top + h * (high - finite(v)) / (high - low || 1);
  const draws = [svg("line", { class: "axis", x1: left, x2: left + w, y1: y(0), y2: y(0) }), svg("line", { class: "axis", x1: x(0), x2: x(0), y1: top, y2: top + h })];
  curves.forEach((points, side) => {
    draws.push(svg("polyline", { class: SIDES[side], points: points.map(p => `${x(p[0]).toFixed(1)},${y(p[column]).toFixed(1)}`).join(" ") }));
    const step = w / (points.length - 1 || 1);
    for (const p of points) if (p[3] === 0)
      draws.push(svg("rect", { class: "bar-" + SIDES[side], "stroke-width": 0, x: x(p[0]) - step / 2, y: top + h + 4 + 8 * side, width: step, height: side ? 3 : 6, style: side ? "fill: var(--b)" : "" }));
  });
  if (Math.abs(s.logRatio) <= s.reach) draws.push(svg("line", { class: "axis", "stroke-dasharray": "2 3", x1: x(s.logRatio), x2: x(s.logRatio), y1: top, y2: top + h }));
  const label = (px, py, t, anchor) => svg("text", { x: px, y: py, "text-anchor": anchor }, t);
  draws.push(label(left - 4, top + 10, short(high), "end"), label(left - 4, top + h, short(low), "end"), label(left, H - 10, short(-s.reach), "start"),
    label(x(0), H - 10, "log-ratio 0, ratio 1", "middle"), label(left + w, H - 10, short(s.reach), "end"));
  const figure = document.createElement("figure"), caption = document.createElement("figcaption");
  caption.textContent = title;
  figure.append(svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `${title}, A and B against the log-ratio` }, ...draws), caption);
  return figure;
}

function batchOf(side, s) {
  const n = lib.evaluate_batch(side, s.logRatio, s.advantage, s.reward, s.fromRewards, s.responses, s.length);
  if (n < 0) return { refused: told(), tokens: [] };
  const x = numbers(3 + 4 * n);
  return { loss: x[0], clipped: x[1], kl: x[2], tokens: Array.from({ length: n }, (_, k) => x.slice(3 + 4 * k, 7 + 4 * k)) };
}

function bars(batches) {
  const n = Math.max(...batches.map(b => b.tokens.length)), W = Math.max(360, Math.min(800, document.documentElement.clientWidth)), H = 190, top = 8, h = 150, left = 66, step = (W - left) / (n || 1);
  const all = batches.flatMap(b => b.tokens.map(t => finite(t[3]))), high = Math.max(1e-9, ...all), low = Math.min(-1e-9, ...all);
  const y = v => top + h * (high - finite(v)) / (high - low), draws = [];
  batches.forEach((b, side) => b.tokens.forEach((t, k) => {
    const from = Math.min(y(0), y(t[3])), width = Math.max(1, step / 2 - 1);
    draws.push(svg("rect", { class: "bar-" + SIDES[side], x: left + 1 + k * step + side * step / 2, y: from, width, height: Math.abs(y(t[3]) - y(0)) },
      svg("title", {}, `${SIDES[side].toUpperCase()}, response ${t[0]}: advantage ${short(t[1])}, log-ratio ${short(t[2])}, gradient ${short(t[3])}`)));
  }));
  const first = (batches.find(b => b.tokens.length) || batches[0]).tokens;
  first.forEach((t, k) => { if (!k || first[k - 1][0] !== t[0]) {
    draws.push(svg("line", { class: "axis", x1: left + k * step, x2: left + k * step, y1: top, y2: top + h }));
    draws.push(svg("text", { x: left + 3 + k * step, y: top + h + 16 }, step * first.filter(u => u[0] === t[0]).length > 80 ? `response ${t[0]}` : String(t[0])));
  } });
  draws.push(svg("line", { class: "axis", x1: left, x2: W, y1: y(0), y2: y(0) }), svg("text", { x: left - 4, y: top + 10, "text-anchor": "end" }, short(high)),
    svg("text", { x: left - 4, y: top + h, "text-anchor": "end" }, short(low)));
  return svg("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "d loss / d log-probability of every token, A and B" }, ...draws);
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

const same = (x, y) => JSON.stringify(Object.entries(x).map(([k, v]) => [k, Object.entries(v).sort()]).sort())
  === JSON.stringify(Object.entries(y).map(([k, v]) => [k, Object.entries(v).sort()]).sort());

function block(parent, name, content, open) {
  const d = document.createElement("details"), s = document.createElement("summary"), pre = document.createElement("pre");
  s.textContent = name;
  pre.textContent = content;
  d.open = open;
  d.append(s, pre);
  parent.append(d);
}

function about(side) {
  const to = $("about-" + SIDES[side]), row = rows[+$("row-" + SIDES[side]).value], open = [...to.querySelectorAll("details")].map(d => d.open);
  const title = document.createElement("p"), table = document.createElement("table");
  const name = document.createElement("span");
  name.className = "name-" + SIDES[side];
  name.textContent = `${SIDES[side].toUpperCase()}: ${row.name}`;
  title.append(name, ` ${row.summary}. ${row.paper}: ${row.equations}.`);
  for (const f of settings(side)) {
    const line = table.insertRow();
    line.insertCell().textContent = `${f.path} = ${f.choices.length ? f.choices[f.value].name : short(f.value)}`;
    line.insertCell().textContent = f.choices.length ? f.choices[f.value].text : "";
  }
  to.replaceChildren(title, table);
  const json = asJSON(side), known = CONFIGURATIONS.filter(c => same(c.objective, json));
  block(to, "in C", asC(side), open[0]);
  block(to, "as the vectors have it", JSON.stringify(json, null, 1), open[1]);
  block(to, "as options of a framework", known.length ? known.map(c => `${c.framework}: ${c.options}`).join("\n")
    : "No configuration of TRL or verl that is written down here says exactly this.", open[2]);
}

// ---- the page ---------------------------------------------------------------------------------------------------------------------------

function draw() {
  const s = setting();
  lib.set_others(+$("others").value);
  showSetting(s);
  const by = sign => [0, 1].map(side => curve(side, sign * Math.abs(s.advantage || 1), s.responses, s.length, -s.reach, s.reach, POINTS));
  const curves = { 1: by(1), "-1": by(-1) }, batches = [0, 1].map(side => batchOf(side, s));
  $("curves").replaceChildren(...PANELS.map(p => panel(p, curves[p[1]], s)));
  $("bars").replaceChildren(bars(batches));
  $("reports").textContent = batches.map((b, side) => `${SIDES[side].toUpperCase()}: ` + (b.refused ? `refused, ${b.refused}`
    : `loss ${short(b.loss)}, clipped ${short(100 * b.clipped)} %, KL to the old policy ${short(b.kl)}`)).join(". ") + ".";
  about(0);
  about(1);
}

function chooseRow(side) {
  lib.choose_row(side, +$("row-" + SIDES[side]).value);
  $("refused").textContent = $("unknown").textContent = "";
  showField();
  draw();
}

// The address may name the two: #a=dapo&b=cispo.  A name that there is none of is said, and the usual row is shown.
function chooseAsAddressed() {
  const asked = new URLSearchParams(location.hash.slice(1)), usual = ["grpo", "gspo"], unknown = [];
  const index = name => rows.findIndex(r => r.name === name);
  SIDES.forEach((id, side) => {
    const name = asked.get(id) || usual[side];
    if (index(name) < 0) unknown.push(`No objective is named "${name}": ${id.toUpperCase()} is ${usual[side]}.`);
    $("row-" + id).value = index(name) < 0 ? index(usual[side]) : index(name);
    lib.choose_row(side, +$("row-" + id).value);
  });
  $("unknown").textContent = unknown.join(" ");
  $("refused").textContent = "";
}

function begin() {
  SIDES.forEach((id, side) => {
    $("row-" + id).replaceChildren(...rows.map((r, k) => option(k, r.name)));
    $("row-" + id).addEventListener("change", () => chooseRow(side));
  });
  chooseAsAddressed();
  addEventListener("hashchange", () => { chooseAsAddressed(); showField(); draw(); });
  $("field").replaceChildren(...fields.map((f, k) => option(k, f.path)));
  $("field").value = fields.findIndex(f => f.path === "surrogate.kind");
  for (const id of ["side", "field"]) $(id).addEventListener("change", showField);
  $("choice").addEventListener("change", () => setField(+$("choice").value));
  $("value").addEventListener("change", () => setField($("value").value === "" ? 0 : +$("value").value));
  for (const id of ["log-ratio", "reach", "advantage", "reward", "responses", "length", "others", "from"])
    $(id).addEventListener("input", draw);
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
      bits(row.name, "given", 4 * lib.evaluate_batch(0, 0.5, 1.5, 1, 0, 4, 6) + 3), bits(row.name, "rewards", 4 * lib.evaluate_batch(0, -0.25, 0, 0.75, 1, 4, 6) + 3));
    lib.set_others(0);
    lines.push(bits(row.name, "alone", 4 * lib.curve(0, 1, 4, 6, -1, 1, 9)));
    lib.set_others(0.125);
  });
  lib.choose_row(0, +$("row-a").value);
  return lines.join("\n");
}

function look() {
  document.body.style.width = "360px";                        // no window is as narrow as a phone
  draw();
  const controls = [...document.querySelectorAll("select, input, button")], labelled = controls.filter(c => c.labels && c.labels.length);
  const drawn = document.querySelectorAll("#curves polyline").length, filled = [...document.querySelectorAll("#about-a td")].filter(c => c.textContent).length;
  return `width ${document.body.scrollWidth} of 360, controls ${controls.length}, labelled ${labelled.length}, curves ${drawn}, settings ${filled}\n`
    + `shown ${SIDES.map(id => rows[+$("row-" + id).value].name).join(" ")}\nsaid ${$("unknown").textContent}`;
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
}).catch(e => { document.title = "error: " + e.message; });
