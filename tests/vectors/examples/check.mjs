// Tests lossOf, an implementation of GRPO and GSPO, on every case whose objective it knows: node check.mjs
import { readdirSync, readFileSync } from "node:fs";

const KNOWN = ["level token", "level sequence_mean", "kind ppo_clip", "kl k3", "kind seq_mean_token_mean"];
const NUMBERS = ["eps_low", "eps_high", "kl_coef"];

// What an objective does not name is at its default; -inf log-probabilities need a rule of their own.
function known({ kind, flags, objective = {} }) {
  const { reward, advantage, ...loss } = objective;
  const fields = Object.values(loss).flatMap(Object.entries);
  return !kind && !flags.includes("NegInf") && fields.every(([name, x]) => NUMBERS.includes(name) || KNOWN.includes(`${name} ${x}`));
}

// In pairs: adding 4096 numbers one after the other loses too much.
const sum = (x) => (x.length < 2 ? (x[0] ?? 0) : sum(x.slice(0, x.length >> 1)) + sum(x.slice(x.length >> 1)));

// Your implementation goes here.
function lossOf({ ratio, surrogate, penalty }, batch, advantage) {
  const sequence = ratio.level === "sequence_mean", beta = penalty?.kl_coef ?? 0, terms = [];
  const low = 1 - (surrogate.eps_low ?? 0), high = 1 + (surrogate.eps_high ?? 0);
  const dlogp = batch.length.map((length, i, { length: rows }) => {
    const row = Array(length).fill(0), l = batch.logp[i];
    const active = [...row.keys()].filter((t) => batch.mask?.[i][t] ?? true), n = Math.max(active.length, 1); // other slots may hold "NaN"
    const ratios = active.map((t) => l[t] - batch.logp_old[i][t]), mean = sum(ratios) / n;
    const through = active.map((t, j) => {
      const A = advantage[i][t], w = Math.exp(sequence ? mean : ratios[j]);
      const plain = A ? -w * A : 0, clipped = -Math.min(Math.max(w, low), high) * A; // 0 times infinity is 0
      const D = beta ? l[t] - batch.logp_ref[i][t] : 0;
      terms.push((Math.max(plain, clipped) + beta * (Math.expm1(-D) + D)) / n / rows);
      row[t] = (-beta * Math.expm1(-D)) / n / rows;
      return plain >= clipped ? plain / n / rows : 0;
    });
    const shared = sum(through) / n;
    active.forEach((t, j) => (row[t] += sequence ? shared : through[j]));
    return row;
  });
  return { loss: sum(terms), dlogp };
}

// All numbers, each with the name of its place; Number() is for the strings "Infinity" and "-Infinity".
const numbers = ({ loss, dlogp }) =>
  [["loss", Number(loss)], ...dlogp.flatMap((row, i) => row.map((x, t) => [`dlogp[${i}][${t}]`, Number(x)]))];

function right(found, expected, scale) {
  const allowed = 64 * 2 ** -52 * scale + 5e-324;
  return found === expected || (allowed < Infinity && Math.abs(found - expected) <= allowed);
}

const count = { passed: 0, failed: 0, skipped: 0 };
for (const name of readdirSync("..").filter((name) => name.endsWith(".json")))
  for (const { id, batch, expect, scale, ...rest } of JSON.parse(readFileSync(`../${name}`)).cases ?? []) {
    if (!known(rest)) { count.skipped++; continue; }
    const found = numbers(lossOf(rest.objective, batch, batch.advantage ?? expect.advantage)), scales = numbers(scale);
    const wrong = numbers(expect).findIndex(([, x], j) => !right(found[j][1], x, scales[j][1]));
    if (wrong >= 0) console.log(`${id}: ${found[wrong].join(" ")}, expected ${numbers(expect)[wrong][1]}`);
    count[wrong < 0 ? "passed" : "failed"]++;
  }
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
process.exit(count.failed || !count.passed ? 1 : 0);
