// GSPO on its cases: right, and with a mistake that is named; every mistake that is recorded in full; and judging.json.
import assert from "node:assert";
import { readFileSync } from "node:fs";
import test from "node:test";
import { advantage, cases, compare, diagnose, mask, mistake, report, setting, variants } from "./index.mjs";

const sum = (x) => (x.length < 2 ? (x[0] ?? 0) : sum(x.slice(0, x.length >> 1)) + sum(x.slice(x.length >> 1)));

function gspo(c, low, high) {
  const { logp, logp_old } = c.batch, A = advantage(c), counts = mask(c), terms = [];
  const dlogp = logp.map((row, i) => {
    const active = [...row.keys()].filter((t) => counts[i][t]), n = Math.max(active.length, 1), each = 1 / n / logp.length;
    const w = Math.exp(sum(active.map((t) => row[t] - logp_old[i][t])) / n);
    const through = active.map((t) => {
      const plain = -w * A[i][t], clipped = -Math.min(Math.max(w, 1 - low), 1 + high) * A[i][t];
      terms.push(Math.max(plain, clipped) * each);
      return plain >= clipped ? plain * each : 0;
    });
    return row.map((_, t) => (counts[i][t] ? sum(through) / n : 0));
  });
  return { loss: sum(terms), dlogp };
}

const usual = cases("gspo").filter(({ flags }) => !flags.includes("NegInf") && !flags.includes("Extreme"));

for (const c of usual)
  test(c.id, () => {
    const answer = gspo(c, setting(c, "surrogate.eps_low"), setting(c, "surrogate.eps_high"));
    assert.ok(!compare(c, answer).length, report(c, answer));
  });

test("a planted mistake is named", () => {
  const low = setting(usual[0], "surrogate.eps_low"), text = report(usual[0], gspo(usual[0], low, low));
  assert.match(text, /known mistake CLIP-02a: .*The upper epsilon is not passed on/);
  assert.throws(() => cases("gsop"), /no vectors gsop/);
});

// what a report says of these numbers and mistakes, of each three at most
function reported(c, answer) {
  const told = (d) => `    ${d.place}: found ${d.found}, expected ${d.expected} (allowed: ${d.allowed.toExponential(1)})`;
  const numbers = compare(c, answer).map(told);
  const mistakes = diagnose(c, answer).map(({ mistake: name, inFull }) => {
    const what = inFull ? "every number is what it gives" : "the one number that is recorded of it is found", about = mistake(name);
    return `    known mistake ${name}: ${what}; wrong: ${about.wrong}; right: ${about.right}; seen in: ${about.seen}`;
  });
  return [`${c.id}: ${numbers.length} numbers are wrong`, ...numbers.slice(0, 3), ...mistakes.slice(0, 3)].join("\n");
}

test("a report has the numbers and the mistakes", () => {
  const c = usual[0], low = setting(c, "surrogate.eps_low"), answer = gspo(c, low, low);
  const allowed = 64 * 2 ** -52 * c.scale.loss;
  assert.deepStrictEqual(compare(c, answer), [{ place: "loss", found: answer.loss, expected: c.expect.loss, allowed }]);
  assert.deepStrictEqual(diagnose(c, answer)[0], { mistake: "CLIP-02a", inFull: false });
  const twice = { dlogp: c.expect.dlogp.map((row) => row.map((x) => 2 * x)) };
  assert.ok(compare(c, twice).length > 3 && diagnose(c, twice).length > 0);
  for (const one of [answer, twice]) assert.strictEqual(report(c, one), reported(c, one));
  const about = mistake("CLIP-02a");
  assert.match(about.wrong, /^The upper epsilon is not passed on/);
  assert.strictEqual(about.right, "the upper one above 1");
  assert.match(about.seen, /^none known of this option/);
  for (const name of ["CLIP-0", "CLIP-02a |", "", "no"]) assert.strictEqual(mistake(name), undefined);
});

test("a case has all its parts", () => {
  for (const c of variants().flatMap(cases))
    for (const part of ["objective", "batch", "defects"]) assert.strictEqual(typeof c[part], "object", `${c.id} ${part}`);
  const { kind } = usual[0], given = usual.find((c) => c.batch.advantage && !c.expect.advantage);
  assert.deepStrictEqual([kind, cases("split")[0].kind, setting(usual[0], "surrogate.kind")], ["objective", "split", "ppo_clip"]);
  assert.deepStrictEqual([setting(usual[0], "penalty.kl"), setting(usual[0], "x.y")], [undefined, undefined]);
  assert.deepStrictEqual(mask({ batch: { length: [2, 0] } }), [[true, true], []]);
  assert.strictEqual(advantage(given), given.batch.advantage);
  assert.strictEqual(advantage({ batch: { advantage: [[1]] }, expect: { advantage: [[2]] } })[0][0], 1);
  assert.ok(cases("gspo").some((c) => c.batch.logp.flat().includes(-Infinity)));
});

const word = (key, value) => (["Infinity", "-Infinity", "NaN"].includes(value) ? Number(value) : value);
const judging = JSON.parse(readFileSync(new URL("judging.json", import.meta.url), "utf8"), word);

for (const { what, case: name, answer, wrong } of judging.compare)
  test(`compare: ${what}`, () => {
    const places = compare({ id: name, ...judging.cases[name] }, answer).map(({ place }) => place);
    assert.deepStrictEqual(places.sort(), wrong);
  });

for (const { what, case: name, answer, found } of judging.diagnose)
  test(`diagnose: ${what}`, () => {
    const findings = diagnose({ id: name, ...judging.cases[name] }, answer);
    assert.deepStrictEqual(findings.map((finding) => [finding.mistake, finding.inFull]), found);
  });

test("an answer that holds nothing, or another shape, is refused", () => {
  const c = usual[0], { loss, dlogp } = c.expect, cut = dlogp.map((row) => row.slice(0, 1)), long = dlogp.map((row) => [...row, 1]);
  const bad = [undefined, null, 0.5, [0.5], {}, { Loss: 9, dLogp: [[9]] }, { loss, gradient: dlogp }, { loss: undefined }, { loss: "0.5" }];
  bad.push({ loss: [loss] }, { loss, dlogp: [] }, { loss, dlogp: cut }, { loss, dlogp: long }, { loss, dlogp: [...dlogp, [1]] });
  bad.push({ loss, dlogp: dlogp.flat() }, { loss, dlogp: 0 }, { loss, dlogp: [[null]] }, { dlogits: [[[9]]] }, { report: {} });
  bad.push({ loss, report: { cilp_fraction: 0 } }, { loss, report: 0 }, { loss, report: [] }, { loss, report: { clip_fraction: [0] } });
  bad.push({ loss, report: { clip_fraction: [] } });
  for (const answer of bad) assert.throws(() => compare(c, answer), Error, JSON.stringify(answer));
  assert.throws(() => compare(c, { loss, dlogp: cut }), /dlogp\[0\]\[1\] is missing/);
  const padded = dlogp.map((row) => [...row, 0]), typed = dlogp.map((row) => new Float64Array(row));
  for (const answer of [{ loss }, { dlogp }, { dlogp: padded }, { dlogp: typed }])
    assert.deepStrictEqual(compare(c, answer), []);
});

test("a NaN names no mistake", () => {
  for (const c of ["gspo", "grpo", "dapo"].flatMap(cases)) assert.deepStrictEqual(diagnose(c, { loss: NaN }), [], c.id);
});

test("every mistake in full is named", () => {
  let named = 0;
  for (const c of variants().flatMap(cases).filter(({ kind }) => kind !== "refuse")) {
    assert.deepStrictEqual(compare(c, c.expect, 1), [], c.id);
    for (const [name, wrong] of Object.entries(c.defects)) {
      if (typeof wrong !== "object" || Array.isArray(wrong)) continue;
      const answer = { ...c.expect, ...wrong, ...(c.expect.report && { report: { ...c.expect.report, ...wrong.report } }) };
      assert.ok(diagnose(c, answer).some((finding) => finding.inFull && finding.mistake === name), `${c.id} ${name}`);
      assert.ok(mistake(name).right);
      named++;
    }
  }
  assert.ok(named > 1500);
});
