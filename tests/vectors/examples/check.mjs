// A whole test of an implementation of GRPO and GSPO against ../*.json, without packages.
//
//     node check.mjs
//
// lossOf is the implementation; everything else is reading, comparing and counting.
import { readFileSync } from "node:fs";

const K = 16; // tolerance: K * 2^-52 * scale
const number = Number; // also of the strings "Infinity", "-Infinity", "NaN"

const times = (x, y) => (x === 0 || y === 0 ? 0 : x * y); // a factor that is exactly 0 makes the product 0
const finite = (x) => (Number.isFinite(x) ? x : 0);

// Compensated (Neumaier): adding 4096 numbers in order loses more than the tolerance.
function sum(xs) {
  let total = 0, lost = 0;
  for (const x of xs) {
    const next = total + x;
    lost += Math.abs(total) >= Math.abs(x) ? total - next + x : x - next + total;
    total = next;
  }
  return Number.isFinite(total) ? total + lost : total;
}

// sum of x - y, where -inf stands for -K with one K: as many in x as in y cancel
function sumOfDifferences(pairs) {
  let infinite = 0;
  for (const [x, y] of pairs) infinite += (y === -Infinity) - (x === -Infinity);
  return infinite ? infinite * Infinity : sum(pairs.map(([x, y]) => finite(x) - finite(y)));
}

// e^-D + D - 1 and its derivative; the sum cancels for small D, so its series there
function k3(D) {
  if (Math.abs(D) >= 0.1) return [Math.exp(-D) === Infinity ? Infinity : Math.exp(-D) + D - 1, 1 - Math.exp(-D)];
  let series = 1;
  for (let n = 12; n > 2; n--) series = 1 - (D / n) * series;
  return [((D * D) / 2) * series, -Math.expm1(-D)];
}

// max(-w A, -clip(w) A) and its derivative with respect to log w
function clipped(A, w, epsLow, epsHigh) {
  if (A > 0 && w > 1 + epsHigh) return [-A * (1 + epsHigh), 0];
  if (A < 0 && w < 1 - epsLow) return [-A * (1 - epsLow), 0];
  return [-times(A, w), -times(A, w)];
}

// loss and d loss / d logp of GRPO (ratio of a token) or GSPO (ratio of a sequence)
function lossOf(objective, batch, advantage) {
  const { eps_low, eps_high } = objective.surrogate, beta = objective.penalty.kl_coef;
  const sequence = objective.ratio.unit === "sequence_mean", rows = batch.length.length;
  const terms = [], dlogp = batch.length.map((n) => Array(n).fill(0));
  for (let i = 0; i < rows; i++) {
    const active = [...dlogp[i].keys()].filter((t) => !batch.mask || batch.mask[i][t]);
    const n = Math.max(active.length, 1), c = 1 / (rows * n), through = [];
    const pair = (t, other) => [number(batch.logp[i][t]), number(batch[other][i][t])];
    const mean = sumOfDifferences(active.map((t) => pair(t, "logp_old"))) / n;
    for (const t of active) {
      const y = sequence ? mean : sumOfDifferences([pair(t, "logp_old")]);
      const [S, dS] = clipped(number(advantage[i][t]), Math.exp(y), eps_low, eps_high);
      const [P, dP] = beta ? k3(sumOfDifferences([pair(t, "logp_ref")])) : [0, 0];
      terms.push(c * (S + beta * P));
      through.push(c * dS);
      dlogp[i][t] = c * beta * dP + (sequence ? 0 : c * dS);
    }
    if (sequence) for (const t of active) dlogp[i][t] += sum(through) / n;
  }
  return [sum(terms), dlogp];
}

function close(found, expected, scale) {
  if (found === number(expected)) return true;
  const allowed = K * 2 ** -52 * number(scale) + 5e-324;
  return Number.isFinite(allowed) && Math.abs(found - number(expected)) <= allowed;
}

// the first number that is wrong, as text
function difference({ id, objective, batch, expect, scale }) {
  const [loss, dlogp] = lossOf(objective, batch, batch.advantage ?? expect.advantage);
  if (!close(loss, expect.loss, scale.loss)) return `${id}: loss ${loss}, expected ${expect.loss}`;
  for (const [i, row] of expect.dlogp.entries())
    for (const [t, x] of row.entries())
      if (!close(dlogp[i][t], x, scale.dlogp[i][t])) return `${id}: dlogp[${i}][${t}] ${dlogp[i][t]}, expected ${x}`;
}

let passed = 0, failed = 0;
for (const name of ["gspo", "grpo"]) {
  const { cases } = JSON.parse(readFileSync(new URL(`../${name}.json`, import.meta.url)));
  for (const one of cases.filter((c) => (c.kind ?? "objective") === "objective")) {
    const wrong = difference(one);
    if (wrong) console.log(wrong);
    wrong ? failed++ : passed++;
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
