// Exact answers of the GRPO / GSPO family of objectives, and the name of the mistake that a wrong answer has.
// vectors/README.md says what every word means.
import { readdirSync, readFileSync } from "node:fs";

const folder = new URL("./vectors/", import.meta.url);
const STORED_DIGITS = 6e-7; // a wrong answer is stored with seven digits
const TINY = 2e-323;
const WORDS = { Infinity, "-Infinity": -Infinity, NaN };

const revive = (key, value) => (typeof value === "string" && Object.hasOwn(WORDS, value) ? WORDS[value] : value);
const filled = (c) => ({ kind: "objective", objective: {}, batch: {}, defects: {}, ...c });

export const variants = () => readdirSync(folder).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -5));

export function cases(variant) {
  if (!variants().includes(variant)) throw new Error(`no vectors ${variant}`);
  return JSON.parse(readFileSync(new URL(`${variant}.json`, folder), "utf8"), revive).cases.map(filled);
}

export const advantage = (c) => c.batch.advantage ?? c.expect.advantage;
export const mask = (c) => c.batch.mask ?? c.batch.length.map((n) => Array(n).fill(true));
export const setting = (c, path) => path.split(".").reduce((value, key) => value?.[key], c.objective);

// All numbers by place: loss, dlogp[2][0], report.clip_fraction.
function put(numbers, place, value) {
  if (ArrayBuffer.isView(value) || Array.isArray(value)) Array.from(value).forEach((x, k) => put(numbers, `${place}[${k}]`, x));
  else if (value !== null && typeof value === "object") for (const key in value) put(numbers, place ? `${place}.${key}` : key, value[key]);
  else if (typeof value === "number" || typeof value === "boolean") numbers.set(place, Number(value));
  else throw new Error(`${place || "an answer"} is ${value === null ? null : typeof value}, not a number`);
  return numbers;
}
const numbersOf = (value) => put(new Map(), "", value);

// The wrong numbers that a case records, and whether they are all.
function recorded(mistake) {
  if (typeof mistake !== "object") return [new Map([["loss", mistake]]), false];
  if (!Array.isArray(mistake)) return [numbersOf(mistake), true];
  const keys = mistake.slice(1, -1).map((key) => (typeof key === "string" ? `.${key}` : `[${key}]`));
  return [new Map([[mistake[0] + keys.join(""), Number(mistake.at(-1))]]), false];
}

const isAdvantage = (place) => place.startsWith("advantage") || place.startsWith("dynamic_sampling_mask");

function isRight(found, expected, scale, k) {
  const beyond = Math.abs(expected) + 4 * Number.EPSILON * Math.min(scale, Number.MAX_VALUE) >= Number.MAX_VALUE;
  const finite = Number.isFinite(found) && Number.isFinite(expected);
  const near = scale > 0 && finite && Math.abs(found - expected) <= k * Number.EPSILON * scale + TINY;
  return found === expected || near || (beyond && found === Math.sign(expected) * Infinity);
}

// Is it the stored number of a mistake? A larger wrong answer may carry an error that is larger in proportion.
function agrees(found, other, expected, scale, k) {
  const grown = expected !== 0 && scale > 0 ? Math.abs(other / expected) * scale : 0;
  const size = Math.max(Math.abs(other), scale, Number.isFinite(grown) ? grown : 0);
  const near = Math.abs(found - other) <= k * Number.EPSILON * size + STORED_DIGITS * Math.abs(other) + TINY;
  return found === other || (Number.isNaN(found) && Number.isNaN(other)) || (Number.isFinite(found) && Number.isFinite(other) && near);
}

// The outputs that an answer may have, and the metrics of a report.
const [OUTPUTS, METRICS] = readFileSync(new URL("NAMES.txt", folder), "utf8").trim().split("\n").map((line) => line.split(" "));

const isObject = (x) => x !== null && typeof x === "object" && !Array.isArray(x) && !ArrayBuffer.isView(x);
const outputOf = (place) => (place.startsWith("report.") ? place : place.split("[")[0]); // a metric is an output of its own, one number
const keysOf = ([key, value]) => (key === "report" && isObject(value) ? Object.keys(value).map((name) => `report.${name}`) : [key]);
const isMetric = (c, name) => c.expect.report !== undefined && METRICS.some((key) => name === `report.${key}`);

// The outputs of an answer that the case judges; refuses names that nothing has, and an answer without any that is judged.
function outputsOf(c, answer, found) {
  if (!isObject(answer)) throw new Error(`${c.id}: an answer is an object of outputs, { loss, dlogp }`);
  const names = new Set([...Object.entries(answer).flatMap(keysOf), ...[...found.keys()].map(outputOf)]);
  const known = (name) => name !== "report" && (Object.hasOwn(c.expect, name) || OUTPUTS.includes(name) || isMetric(c, name));
  for (const name of names) if (!known(name)) throw new Error(`${c.id}: no output is called ${name}; there are ${OUTPUTS.join(", ")}`);
  const kept = new Set([...names].filter((name) => Object.hasOwn(c.expect, name) || isMetric(c, name)));
  if (!kept.size) throw new Error(`${c.id}: nothing of the answer can be judged; the case has ${Object.keys(c.expect).join(", ")}`);
  return kept;
}

// Every number of an output is there, and what is beyond them is padding.
function checkShape(c, names, found, expect) {
  const metrics = [...names].filter((name) => name.startsWith("report."));
  for (const place of [...metrics, ...expect.keys()])
    if (names.has(outputOf(place)) && !found.has(place))
      throw new Error(`${c.id}: ${place} is missing: ${outputOf(place)} has not the shape of the case`);
  for (const [place, x] of found)
    if (names.has(outputOf(place)) && !expect.has(place) && x !== 0 && !place.startsWith("advantage") && !isMetric(c, place))
      throw new Error(`${c.id}: ${place} is ${x} where the case has no number`);
}

// Place, found, expected and scale of every number that can be judged; a metric that is left out is 0.
function judged(c, answer) {
  const expect = numbersOf(c.expect), scale = numbersOf(c.scale), numbers = numbersOf(answer), list = [];
  const names = outputsOf(c, answer, numbers);
  checkShape(c, names, numbers, expect);
  for (const [place, found] of numbers) {
    const metric = isMetric(c, place), expected = expect.get(place) ?? (metric ? 0 : undefined);
    if (expected !== undefined) list.push({ place, found, expected, scale: scale.get(place) ?? (metric ? Math.abs(expected) : 0) });
  }
  return list;
}

const wrongOf = (numbers, k) => numbers.filter(({ found, expected, scale }) => !isRight(found, expected, scale, k));

export function compare(c, answer, k = 64) {
  const told = ({ place, found, expected, scale }) => ({ place, found, expected, allowed: k * Number.EPSILON * scale });
  return wrongOf(judged(c, answer), k).map(told);
}

// Of the numbers that a mistake gives: a single NaN is no evidence, nor is the one recorded number where it is NaN, infinite or 0.
const areEvidence = (told, inFull) =>
  inFull ? told.length > 1 || told.some((x) => !Number.isNaN(x)) : told.some((x) => Number.isFinite(x) && x !== 0);

function gives(told, inFull, part, k) {
  const near = ({ found, expected, scale }) => isRight(found, expected, scale, k) || Math.abs(found - expected) <= 1e-5 * scale;
  const shows = part.some(({ place, expected, scale }) => told.has(place) && !agrees(expected, told.get(place), expected, scale, k));
  const same = (n) => (told.has(n.place) ? agrees(n.found, told.get(n.place), n.expected, n.scale, k) : !inFull || near(n));
  const evidence = areEvidence(part.filter(({ place }) => told.has(place)).map(({ place }) => told.get(place)), inFull);
  return shows && evidence && wrongOf(part, k).length > 0 && part.every(same);
}

export function diagnose(c, answer, k = 64) {
  const numbers = judged(c, answer), found = [];
  const stages = [true, false].map((stage) => numbers.filter(({ place }) => isAdvantage(place) === stage)); // explained apart
  for (const [name, value] of Object.entries(c.defects)) {
    const [told, inFull] = recorded(value);
    if (stages.some((part) => gives(told, inFull, part, k))) found.push({ mistake: name, inFull });
  }
  return found.sort((a, b) => b.inFull - a.inFull);
}

export function mistake(name) {
  const line = readFileSync(new URL("DEFECTS.md", folder), "utf8").split("\n").find((text) => text.startsWith(`| ${name} |`));
  const [, wrong, right, seen] = line?.split(" | ").map((cell) => cell.trim()) ?? [];
  return line && { wrong, right, seen };
}

export function report(c, answer, k = 64) {
  const wrong = compare(c, answer, k);
  const told = (d) => `    ${d.place}: found ${d.found}, expected ${d.expected} (allowed: ${d.allowed.toExponential(1)})`;
  const findings = diagnose(c, answer, k).slice(0, 3).map(({ mistake: name, inFull }) => {
    const what = inFull ? "every number is what it gives" : "the one number that is recorded of it is found", about = mistake(name);
    return `    known mistake ${name}: ${what}; wrong: ${about?.wrong}; right: ${about?.right}; seen in: ${about?.seen}`;
  });
  return [`${c.id}: ${wrong.length} numbers are wrong`, ...wrong.slice(0, 3).map(told), ...findings].join("\n");
}
