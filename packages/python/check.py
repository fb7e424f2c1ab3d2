"""Loader, comparison and diagnosis against the vectors of this tree: python3 packages/python/check.py (NumPy; PyTorch where it is here)."""

import dataclasses
import importlib
import importlib.util
import json
import math
import pathlib
import shutil
import sys
import tempfile
import types
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent.parent / "tests" / "support")]
import counting
import numpy as np
from grpo_conformance import batch, cases, compare, comparison, computed_loss, diagnose, diagnosis, loader, pages, report, sixteen_bits
from grpo_conformance import testing, variants
from grpo_conformance.comparison import judge, outputs
from grpo_conformance.computed import computed
from grpo_conformance.diagnosis import OTHER, ROUNDING, SAME

EVERY = [case for kind in loader.KINDS for case in cases("*", kind=kind)]
OBJECTIVE = [case for case in EVERY if case.kind == "objective"]
GSPO = {case.id: case for case in OBJECTIVE if case.variant == "gspo"}
RAGGED = GSPO["gspo-ragged"]


def right(case):
    return {key: value for key, value in case.expect.items()}


def of_mistake(case, mistake):
    """The answer of a program with a mistake that is recorded in full."""
    answer = right(case)
    for name, value in mistake.items():
        answer[name] = {**answer[name], **value} if isinstance(value, dict) else value
    return answer


def alone(case, name):
    """With one known mistake: to try them all takes long."""
    return dataclasses.replace(case, raw={**case.raw, "defects": {name: case.defects[name]}})


class Loader(unittest.TestCase):
    def test_every_file_is_read(self):
        self.assertGreater(len(EVERY), 3700)
        self.assertEqual(len({case.id for case in EVERY}), len(EVERY))
        self.assertIn("gspo", variants())
        self.assertNotIn("schema", variants())

    def test_arrays_are_padded_and_ragged(self):
        self.assertEqual(RAGGED.logp.shape, (5, 6))
        self.assertEqual([len(row) for row in RAGGED.ragged("logp")], [4, 1, 6, 2, 3])
        np.testing.assert_array_equal(RAGGED.mask.sum(1), RAGGED.length)
        self.assertTrue((RAGGED.logp[~RAGGED.mask] == 0).all())
        self.assertTrue(np.isnan(RAGGED.numpy(pad=np.nan).logp[~RAGGED.mask]).all())
        self.assertEqual(RAGGED.numpy(pad=np.nan).mask.sum(), 16)
        np.testing.assert_array_equal(np.concatenate(RAGGED.ragged("logp")), [x for row in RAGGED.batch["logp"] for x in row])
        with self.assertRaises(AttributeError):
            RAGGED.logp_ref

    def test_every_array_of_every_case(self):
        names = {name for case in EVERY for name in case.batch}
        self.assertEqual(names - set(batch._NAMES), set(), "an array that BatchOf does not have")
        for case in (case for case in EVERY if case.kind != "call"):
            arrays = case.numpy()
            for name in case.batch:
                self.assertIsNotNone(getattr(arrays, name), case.id)

    def test_types_and_numbers_of_the_arrays(self):
        """What is true and false in the file is of type bool, indices and counts are integers, all else is of the precision."""
        done, types_of = {}, {"f64": np.float64, "f32": np.float32}
        for case in (case for case in EVERY if case.kind != "call"):
            for name, value in case.batch.items():
                done[name] = done.get(name, 0) + 1
                if done[name] > 4 or not value or name == "banned":
                    self.assertEqual(case.numpy().banned.dtype, bool) if name == "banned" else None
                    continue
                rows = value if isinstance(value[0], list) else [value]
                flag = any(isinstance(x, bool) for row in rows for x in row)
                for precision, real in types_of.items():
                    array = getattr(dataclasses.replace(case, precision=precision).numpy(), name)
                    whole = name in ("group", "length", "state", "token_id", "target")
                    self.assertEqual(array.dtype, np.bool_ if flag else np.int64 if whole else real, (case.id, name))
                    for i, row in enumerate(rows):
                        of = array[i] if isinstance(value[0], list) else array
                        numbers = np.array(batch._numbers(row), float).astype(array.dtype)
                        np.testing.assert_array_equal(of[: len(row)], numbers, (case.id, name))
                        self.assertFalse(of[len(row) :].any(), (case.id, name))
        self.assertGreater(len(done), 30)

    def test_everything_that_is_exported_is_there(self):
        import grpo_conformance

        for name in grpo_conformance.__all__:
            self.assertTrue(hasattr(grpo_conformance, name), name)
        self.assertTrue({"grpo_cases", "cases", "compare", "diagnose", "vectors_directory"} <= set(grpo_conformance.__all__))

    def test_settings_and_their_defaults(self):
        self.assertEqual(RAGGED.setting("surrogate.eps_high"), 0.0004)
        self.assertEqual(RAGGED.setting("penalty.kl_coef"), 0)
        self.assertEqual(RAGGED.setting("penalty.kl"), "none")
        self.assertRaises(KeyError, RAGGED.setting, "penalty.misspelt")
        with self.assertRaisesRegex(KeyError, "did you mean surrogate.eps_high"):
            RAGGED.setting("surrogate.epsilon_high")

    def test_choosing_cases(self):
        self.assertEqual(len(cases("gspo", without=("NegInf",))), len(GSPO) - 6)
        self.assertEqual([case.id for case in cases("gspo*", only="gspo-rag*")], ["gspo-ragged"])
        self.assertRaisesRegex(ValueError, "did you mean gspo", cases, "gspoo")
        self.assertRaisesRegex(ValueError, "did you mean NegInf", cases, "gspo", without=("Neginf",))
        self.assertEqual(len(cases("gspo", without="NegInf")), len(GSPO) - 6)
        self.assertRaisesRegex(ValueError, "is left by only", cases, "gspo", only="bogus*")
        self.assertRaisesRegex(ValueError, "no split case", cases, "reinforce", kind="split")
        self.assertEqual({flag for case in EVERY for flag in case.flags} - set(loader.flags()), set())
        self.assertTrue(cases("*", kind="logits") and cases("*", kind="split") and cases("calls", kind="call"))

    def test_the_advantages_that_do_not_fit_float32(self):
        self.assertTrue(all(case.fits() for case in GSPO.values()))
        self.assertEqual(GSPO["gspo-ragged"].logp.dtype, np.float64)
        self.assertEqual(cases("gspo", precision="f32")[0].logp.dtype, np.float32)

    def test_pages(self):
        known = pages.mistakes()
        self.assertEqual({name for case in EVERY for name in case.defects} - set(known), set())
        self.assertTrue(
            all(m.wrong and m.right and m.seen for name, m in known.items() if any(name in case.defects for case in EVERY))
        )
        self.assertEqual(pages.formula("surrogate", "kind", "reinforce"), "-A l")
        self.assertEqual(pages.formula("aggregation", "kind", "seq_mean_token_mean"), "1 / (N T_i)")
        self.assertIn("sum_t d", pages.formula("ratio", "level", "sequence_mean"))
        for axis, field in (("surrogate", "kind"), ("aggregation", "kind"), ("ratio", "level")):
            chosen = {case.objective[axis][field] for case in OBJECTIVE if field in case.objective.get(axis, {})}
            self.assertEqual([c for c in chosen if not pages.formula(axis, field, c)], [], axis)


class Comparison(unittest.TestCase):
    def test_the_exact_answers_are_right(self):
        for case in EVERY:
            self.assertEqual(compare(case, right(case), 1), [], case.id)

    def test_the_rule_of_the_scale(self):
        allowed = 64 * 2**-52 * RAGGED.scale["loss"]
        self.assertEqual(compare(RAGGED, {"loss": RAGGED.expect["loss"] + 0.9 * allowed}), [])
        [wrong] = compare(RAGGED, {"loss": RAGGED.expect["loss"] + 1.1 * allowed})
        self.assertEqual((wrong.output, wrong.place), ("loss", ""))
        [wrong] = compare(RAGGED, {"report": {"clip_fraction": 0.5}})  # no scale: its own size
        self.assertEqual(wrong.output, "report.clip_fraction")
        [wrong] = compare(RAGGED, {"dynamic_sampling_mask": [True, False]})
        self.assertEqual(wrong.place, "[1]")
        self.assertEqual(len(compare(RAGGED, {"loss": float("nan")})), 1)

    def test_forms_of_an_answer(self):
        dlogp = RAGGED.expect["dlogp"]
        padded = np.zeros((5, 6))
        for i, row in enumerate(dlogp):
            padded[i, : len(row)] = row
        for form in (dlogp, padded, padded.tolist(), np.concatenate([np.array(row) for row in dlogp])):
            self.assertEqual(compare(RAGGED, {"dlogp": form}), [])
        self.assertEqual(compare(RAGGED, {"advantage": [row[0] for row in RAGGED.expect["advantage"]]}), [])
        leak = padded.copy()
        leak[1, 3] = 1e-9
        self.assertRaisesRegex(ValueError, "padding", compare, RAGGED, {"dlogp": leak})
        self.assertRaisesRegex(ValueError, "rows", compare, RAGGED, {"dlogp": padded[:4]})
        self.assertRaisesRegex(ValueError, "no output is called", compare, RAGGED, {"gradient": padded})

    def test_rows_of_a_vocabulary_that_are_cut(self):
        case = cases("logits-token", kind="logits")[0]
        cut = [[vocabulary[:1] for vocabulary in row] for row in case.expect["dlogits"]]
        self.assertRaisesRegex(ValueError, "numbers, not", compare, case, {"dlogits": cut})

    def test_a_gradient_at_a_masked_token_is_wrong(self):
        case = GSPO["gspo-holes"]
        dlogp = [list(row) for row in case.expect["dlogp"]]
        i, t = [(i, t) for i, row in enumerate(case.batch["mask"]) for t, counts in enumerate(row) if not counts][0]
        dlogp[i][t] = 1e-300
        self.assertEqual([d.place for d in compare(case, {"dlogp": dlogp})], [f"[{i}][{t}]"])

    def test_what_a_test_may_return(self):
        self.assertEqual(set(testing.answer_of(RAGGED, 0.5)), {"loss"})
        self.assertEqual(set(testing.answer_of(RAGGED, (0.5, []))), {"loss", "dlogp"})
        self.assertRaisesRegex(ValueError, "nothing was returned", testing.answer_of, RAGGED, None)

    def test_what_compare_and_diagnose_take(self):
        loss, dlogp = RAGGED.expect["loss"], RAGGED.expect["dlogp"]
        for form in (loss, (loss, dlogp), {"loss": loss, "dlogp": dlogp}):
            self.assertEqual(compare(RAGGED, form), [])
            self.assertEqual(diagnose(RAGGED, form), [])
        self.assertEqual([d.output for d in compare(RAGGED, loss + 1)], ["loss"])
        mistake = RAGGED.defects["GSPO-01"]
        self.assertIn("GSPO-01", [f.cause for f in diagnose(RAGGED, (mistake["loss"], mistake["dlogp"]))])
        for nothing in ({}, {"dlogits": [[[9]]]}, {"report": {}}):
            self.assertRaisesRegex(ValueError, "nothing that was returned can be judged", compare, RAGGED, nothing)
        self.assertRaisesRegex(ValueError, "nothing was returned", compare, RAGGED, None)


class Diagnosis(unittest.TestCase):
    def test_every_mistake_in_full_is_named(self):
        named = 0
        for case in EVERY:
            for name, mistake in case.defects.items():
                if isinstance(mistake, dict):
                    found = diagnose(alone(case, name), of_mistake(case, mistake))
                    self.assertEqual([f.says for f in found if f.cause == name][0], SAME, case.id)
                    named += 1
        self.assertGreater(named, 1500)

    def test_every_mistake_in_brief_is_a_hint(self):
        for case in GSPO.values():
            for name, mistake in case.defects.items():
                if isinstance(mistake, dict):
                    continue
                output, place, number = ("loss", "", mistake) if not isinstance(mistake, list) else diagnosis._brief(mistake)
                answer, keys = dict(case.expect), [int(k) for k in place[1:-1].split("][")] if place else []
                if output.startswith("report."):
                    answer = {"report": {**case.expect["report"], output[7:]: number}}
                elif not keys:
                    answer[output] = number
                else:
                    answer[output] = [list(row) if isinstance(row, list) else row for row in case.expect[output]]
                    at = answer[output]
                    for k in keys[:-1]:
                        at = at[k]
                    at[keys[-1]] = number
                if not np.isfinite(float(number)) or float(number) == 0:
                    self.assertNotIn(name, [f.cause for f in diagnose(alone(case, name), answer) if f.says != SAME], case.id)
                    continue
                every = {of for stage in ("advantage", "loss") for of, _ in computed(case, stage)}  # these need more than one number
                if name not in every:
                    self.assertIn(name, [f.cause for f in diagnose(alone(case, name), answer)], case.id)

    def test_a_nan_is_no_evidence(self):
        records = {}
        for case in OBJECTIVE[::3]:
            self.assertEqual([f.cause for f in diagnose(case, {"loss": float("nan")})], [], case.id)
        for case in GSPO.values():
            text = testing._check(case, float("nan"), 64, records)
            self.assertTrue("no known mistake gives these numbers" in text, text)
        self.assertEqual([r.cause for r in diagnosis.summarise(list(records.values()))], [None])

    def test_a_right_answer_contradicts_mistakes_and_fits_none(self):
        for case in GSPO.values():
            judged = outputs(case, right(case))
            self.assertEqual({f.says for f in diagnosis.explain(case, judged)} - {OTHER}, set())
        self.assertIn("GSPO-01", {f.cause for f in diagnosis.explain(RAGGED, outputs(RAGGED, right(RAGGED)))})

    def test_nearly_the_mistake_is_not_the_mistake(self):
        answer = of_mistake(RAGGED, RAGGED.defects["GSPO-01"])
        answer["dlogp"] = [[x * 1.001 for x in row] for row in answer["dlogp"]]
        self.assertNotIn("GSPO-01", [f.cause for f in diagnose(RAGGED, answer)])

    def test_halves(self):
        gradient = {**right(RAGGED), "dlogp": RAGGED.defects["GSPO-01"]["dlogp"]}
        self.assertIn("GSPO-01, in the gradient only", [f.cause for f in diagnose(RAGGED, gradient)])
        value = {**of_mistake(RAGGED, RAGGED.defects["GSPO-01"]), "dlogp": RAGGED.expect["dlogp"]}
        self.assertIn("GSPO-01, in the value only", [f.cause for f in diagnose(RAGGED, value)])

    def test_factors_and_rounding(self):
        for factor, words in (
            (-1, "with the sign turned"),
            (5, "multiplied by the number of responses"),
            (1 / 16, "divided by the number of tokens"),
            (0.37, "multiplied by 0.37"),
        ):
            answer = {
                "loss": factor * RAGGED.expect["loss"],
                "dlogp": [[factor * x for x in row] for row in RAGGED.expect["dlogp"]],
            }
            self.assertTrue(any(words in f.cause for f in diagnose(RAGGED, answer)), words)
        single = {"dlogp": np.concatenate([np.array(row) for row in GSPO["gspo-signs"].expect["dlogp"]]).astype(np.float32)}
        self.assertIn(ROUNDING, [f.cause for f in diagnose(GSPO["gspo-signs"], single)])
        larger = {"dlogp": [[x * (1 + 1e-8) for x in row] for row in GSPO["gspo-signs"].expect["dlogp"]]}
        self.assertNotIn(ROUNDING, [f.cause for f in diagnose(GSPO["gspo-signs"], larger)])

    def test_one_reason_for_many_cases(self):
        for name, only_loss in (("GSPO-01", False), ("CLIP-11", True)):
            records = {}
            for case in GSPO.values():
                mistake = case.defects.get(name, {})
                answer = (
                    of_mistake(case, mistake)
                    if isinstance(mistake, dict)
                    else {"loss": mistake} if not isinstance(mistake, list) else {}
                )
                if answer:
                    testing._check(case, {"loss": answer["loss"]} if only_loss else answer, 64, records)
            first = diagnosis.summarise(list(records.values()))[0]
            self.assertIn(name, (first.cause, *first.also))
            self.assertEqual(len(first.cases), sum(bool(r.failed) for r in records.values()))
            self.assertEqual(report.what_next([first]), [])

    def test_a_cause_that_others_contradict_is_not_named(self):
        records = {}
        for case in GSPO.values():
            testing._check(case, of_mistake(case, case.defects["GSPO-01"]) if case is RAGGED else right(case), 64, records)
        reasons = diagnosis.summarise(list(records.values()))
        self.assertEqual([r.cause for r in reasons], [None])
        self.assertIn("./conform -- python3 my_adapter.py", " ".join(" ".join(report.what_next(reasons)).split()))

    def test_a_mistake_of_one_choice_is_named_beside_right_ones(self):
        records = {}
        for case in cases("grpo", "trl-dapo", "dr-grpo", without=("NegInf", "Extreme", "NaNMasked")):
            mistake = case.defects.get("MASK-12") if case.setting("aggregation.kind") == "seq_mean_token_mean" else None
            testing._check(case, {"loss": case.expect["loss"] if mistake is None else mistake}, 64, records)
        first, *rest = diagnosis.summarise(list(records.values()))
        self.assertEqual((first.cause, first.within, rest), ("MASK-12", "aggregation.kind = seq_mean_token_mean", []))
        self.assertIn("of those with aggregation.kind = seq_mean_token_mean", " ".join(report.summary("test", 9, 9, [first])))

    def test_what_a_mistake_is_stands_once(self):
        parts = [diagnosis.Reason("loss", "MASK-12", (f"a{k}", f"b{k}"), within=f"the row {k}") for k in range(2)]
        self.assertEqual(" ".join(report.summary("test", 9, 4, parts)).count("right:"), 1)

    def reasons_of(self, answer, *names, **options):
        records = {}
        for k, case in enumerate(cases(*names, without=("NegInf", "Extreme", "NaNMasked", "OffsetRewards"), **options)):
            testing._check(case, answer(k, case), 64, records)
        return diagnosis.summarise(list(records.values()))

    @staticmethod
    def times(case, factor):
        return {"loss": factor * case.expect["loss"], "dlogp": [[factor * x for x in row] for row in case.expect["dlogp"]]}

    def test_names_in_float32(self):
        """The advantages, rounded to float32, hide no mistake in the loss."""
        for row in ("dapo", "gspo"):
            found = {}
            for case in cases(row, without=("NegInf", "Extreme", "NaNMasked", "OffsetRewards", "Long"), precision="f32"):
                forms = {}
                for name, numbers in computed(case, "loss"):
                    forms.setdefault(name, numbers)
                if case.fits() and "the ratio is inverted: old over new" in forms:
                    numbers = forms["the ratio is inverted: old over new"]
                    answer = {"loss": np.float32(numbers["loss"][0]), "dlogp": numbers["dlogp"].astype(np.float32)}
                    testing._check(case, answer, 64, found)
            self.assertGreater(len(found), 15, row)
            self.assertEqual(diagnosis.summarise(list(found.values()))[0].cause, "the ratio is inverted: old over new", row)

    def test_a_wrong_advantage_hides_no_rounding_of_the_loss(self):
        """Errors as of float32, in some cases of one sign; an advantage is wrong in one case."""

        def answer(k, case):
            alternating = -1 if k % 3 else 1
            dlogp = [[x * (1 + 3e-8 * alternating**t) for t, x in enumerate(row)] for row in case.expect["dlogp"]]
            advantage = [[math.nan for _ in row] for row in case.expect["advantage"]] if k == 1 else case.expect.get("advantage")
            loss = case.expect["loss"] * (1 + 3e-8)
            return {"loss": loss, "dlogp": dlogp, **({} if advantage is None else {"advantage": advantage})}

        found = self.reasons_of(answer, "dr-grpo", "dapo")
        self.assertEqual([(r.stage, r.cause) for r in found], [("advantage", None), ("loss", ROUNDING)])
        found = self.reasons_of(lambda k, case: self.times(case, 1 + 3e-8), "dr-grpo", "dapo")
        self.assertNotIn(ROUNDING, [r.cause for r in found])

    def test_of_equal_names_that_of_more_cases(self):
        """NUM-01 and GSPO-03 give the same where a ratio of a response overflows, NUM-01 also elsewhere."""
        records = {}
        for case in cases("gspo", "gspo-token", "dapo", "dr-grpo", "tis"):
            mistake, wrong = case.defects.get("NUM-01"), {key: case.expect[key] for key in ("loss", "dlogp")}
            if case.variant == "tis":
                wrong = {"loss": 1.3 * float(case.expect["loss"]) + 0.1}
            elif isinstance(mistake, dict):
                wrong = {**wrong, **{key: mistake[key] for key in wrong.keys() & mistake.keys()}}
            elif isinstance(mistake, list) and mistake[0] == "dlogp":
                wrong["dlogp"] = [[mistake[3] if [i, t] == mistake[1:3] else x for t, x in enumerate(row)]
                                  for i, row in enumerate(wrong["dlogp"])]
            elif mistake is not None and not isinstance(mistake, list):
                wrong["loss"] = mistake
            testing._check(case, wrong, 64, records)
        named = [r.cause for r in diagnosis.summarise(list(records.values())) if r.cause]
        self.assertEqual(set(named), {"NUM-01"})

    def test_a_factor_of_some_cases_is_no_cause(self):
        for rows in (("gspo",), ("cispo", "sapo")):
            self.assertEqual(self.reasons_of(lambda k, case: self.times(case, 0.75), *rows)[0].cause, "loss and dlogp multiplied by 0.75")
            for other in (0.3, 1):
                found = self.reasons_of(lambda k, case: self.times(case, other if k % 4 == 0 else 0.75), *rows)
                self.assertEqual([r.cause for r in found if r.cause and "multiplied" in r.cause], [], other)

    def test_a_factor_that_is_1_in_some_cases(self):
        found = self.reasons_of(lambda k, case: self.times(case, case.batch["group"][-1] + 1), "gspo", "cispo")
        self.assertEqual([r.cause for r in found], ["loss and dlogp multiplied by the number of groups"])

    def test_numbers_of_fewer_digits(self):
        for digits, words in ((".4f", "4 decimals"), (".3g", "3 significant digits")):
            printed = lambda k, case: {"loss": float(f"{case.expect['loss']:{digits}}"), "dlogp": case.expect["dlogp"]}
            found = self.reasons_of(printed, "gspo", "sapo")
            self.assertEqual([r.cause for r in found], [f"rounding: loss rounded to {words}"])

    def test_what_nearly_explains(self):
        turned = lambda case: {"advantage": [[-x for x in row] for row in case.expect["advantage"]]}
        mostly = lambda k, case: turned(case) if "advantage" in case.expect and k % 4 else {"loss": case.expect["loss"]}
        most = lambda k, case: turned(case) if "advantage" in case.expect and k % 4 else {"advantage": case.numpy().advantage}
        self.assertEqual(self.reasons_of(mostly, "gspo", "sapo")[0].cause, "the sign of the advantage is turned")
        first = self.reasons_of(most, "gspo", "sapo")[0]
        self.assertEqual((first.cause, first.nearly[0]), (None, "the sign of the advantage is turned"))
        self.assertIn("nearly: in", " ".join(report.summary("test", 9, 9, [first])))

    def test_one_recorded_number_that_agrees_by_chance(self):
        """Of ADV-12 many cases record one number, but each is computed: the others must agree too."""
        tried = 0
        for case in cases("grpo", "gspo", "cispo"):
            brief = case.defects.get("ADV-12")
            if not isinstance(brief, list) or brief[0] != "advantage" or "ADV-12" not in {name for name, _ in computed(case, "advantage")}:
                continue
            _, i, t, x = brief
            a = [[3 * y + 1 for y in row] for row in case.expect["advantage"]]
            a[i][t] = float(x)
            self.assertNotIn("ADV-12", [f.cause for f in diagnose(alone(case, "ADV-12"), {"advantage": a})], case.id)
            tried += 1
        self.assertGreater(tried, 20)

    def test_what_unexplained_cases_have_in_common(self):
        records = {}
        for case in cases("grpo", "trl-dapo", "dr-grpo"):
            bad = case.variant == "trl-dapo" or "NegInf" in case.flags
            testing._check(case, {"loss": 0.123 if bad else case.expect["loss"]}, 64, records)
        found = {reason.common: set(reason.cases) for reason in diagnosis.summarise(list(records.values()))}
        self.assertEqual(found[("the flag NegInf",)], {case for case, r in records.items() if "NegInf" in r.flags})
        common = next(common for common in found if "weight.truncated = mask" in common)
        self.assertIn("the row trl-dapo", common)
        self.assertFalse([trait for trait in common if trait.startswith(("reward.", "advantage."))])
        self.assertEqual(found[common], {case for case in records if case.startswith("trl-dapo")})
        text = " ".join(report.summary("test", 9, 9, [diagnosis.Reason("loss", None, ("a",), common=common)]))
        self.assertIn("no passing case has: weight.truncated = mask", " ".join(text.split()))

    def test_where_everything_fails_nothing_is_in_common(self):
        records = {}
        for case in GSPO.values():
            testing._check(case, {"loss": 0.123}, 64, records)
        self.assertEqual([(r.cause, r.common) for r in diagnosis.summarise(list(records.values()))], [(None, ())])

    def test_the_message(self):
        text = testing._check(RAGGED, of_mistake(RAGGED, RAGGED.defects["GSPO-01"]), 64, {})
        self.assertGreater(len(text.splitlines()), 10)
        self.assertNotIn("of 1 numbers wrong", text)
        for words in (
            "gspo-ragged: term is wrong first, then loss, dlogp",
            "known mistake GSPO-01",
            "wrong: Every token's log-ratio",
            "right: one mean",
            "seen in: ",
            "https://arxiv.org/abs/2507.18071",
            "evidence: paper",
            "y = (1/T_i) sum_t d",
            "eps_high = 0.0004",
            "flags: UnequalLengths",
        ):
            self.assertIn(words, text)


def looped(case, *, inverted=False, low=True, high=True, lower=False, per="tokens", k2=False, neighbour=False,
           behind=False, of_log=False, clamp=math.inf):
    """The loss of a token-level clip with a k3, response by response, with one mistake; a dual clip has a line of its own."""
    b, total, tokens = case.batch, 0.0, 0
    eps = case.setting("surrogate.eps_low") if low else math.inf, case.setting("surrogate.eps_high") if high else math.inf
    width = max(b["length"])
    for i, n in enumerate(b["length"]):
        mask, of_response = b.get("mask", [[True] * m for m in b["length"]])[i], 0.0
        mask = [True, *mask[:-1]] if behind else mask
        for t in (t for t in range(n) if mask[t]):
            advantage = float(max(b["advantage"][(i + 1) % len(b["length"])], key=abs) if neighbour else b["advantage"][i][t])
            d = float(b["logp"][i][t]) - float(b["logp_old"][i][t])
            w = math.exp(min(max(-d if inverted else d, -clamp), clamp))
            bounds = (math.exp(-eps[0]), math.exp(eps[1])) if of_log else (1 - eps[0], 1 + eps[1])
            pair = w * advantage, min(max(w, bounds[0]), bounds[1]) * advantage
            clipped = -(max(pair) if lower else min(pair))
            if case.setting("surrogate.kind") == "dual_clip" and advantage < 0:
                clipped = min(clipped, -case.setting("surrogate.clip_dual") * advantage)
            of_response += clipped
            if "logp_ref" in b and case.setting("penalty.kl_coef"):
                q = float(b["logp_ref"][i][t]) - float(b["logp"][i][t])
                of_response += case.setting("penalty.kl_coef") * (q * q / 2 if k2 else math.expm1(q) - q)
        counts = {"tokens": sum(mask), "width": width, "slots": n, "one": 1}[per]
        of_all = case.setting("aggregation.kind") == "token_mean"
        total, tokens = total + (of_response if of_all else of_response / counts if counts else 0.0), tokens + sum(mask)
    return total / (max(tokens, 1) if of_all else len(b["length"]))


def looped_advantage(case, *, ddof=1, eps=0.0, median=False, scaled=True):
    r, g = [float(x) for x in case.batch["reward"]], case.batch["group"]
    out = []
    for i, x in enumerate(r):
        of = sorted(y for y, h in zip(r, g) if h == g[i])
        mean = sum(of) / len(of)
        std = math.sqrt(sum((y - mean) ** 2 for y in of) / (len(of) - ddof)) if len(of) > ddof else 0.0
        base = of[(len(of) - 1) // 2] if median else mean
        out.append(0.0 if len(of) == 1 or of[0] == of[-1] else (x - base) / (std + eps) if scaled else x - base)
    return {"advantage": out}


def looped_gmpo(case, bounded):
    """bounded: the log-ratio of a token after its clip, of it, its advantage and the two bounds"""
    b, bounds = case.batch, [case.setting(f"ratio.token_clip_{side}") for side in ("low", "high")]
    loss, slope = 0.0, [[0.0] * n for n in b["length"]]
    for i, n in enumerate(b["length"]):
        on = [t for t in range(n) if b["mask"][i][t]] if "mask" in b else list(range(n))
        d = [float(b["logp"][i][t]) - float(b["logp_old"][i][t]) for t in on]
        A = [float(case.advantage[i][t]) for t in on]
        y = [bounded(x, a, *bounds) for x, a in zip(d, A)]
        if on:
            x = -math.exp(math.fsum(y) / len(on)) * math.fsum(A) / len(on) / len(b["length"])
            loss += x
            for t, before, after in zip(on, d, y):
                slope[i][t] = x / len(on) if before == after else 0.0
    return {"loss": loss, "dlogp": slope}


def pooled(d, a, low, high):
    return max(d, -low) if a < 0 else min(d, high)


class Computed(unittest.TestCase):
    """Causes that no vector has to record."""

    USUAL = ("NegInf", "Extreme", "NaNMasked", "OffsetRewards", "Long")
    LOSSES = (
        ({"inverted": True}, "the ratio is inverted: old over new"),
        ({"low": False}, "the clip has no lower bound"),
        ({"high": False}, "the clip has no upper bound"),
        ({"lower": True}, "CLIP-01b"),
        ({"behind": True}, "MASK-05b"),
        ({"per": "width"}, "MASK-12"),
        ({"per": "slots"}, "NORM-13"),
        ({"per": "one"}, "aggregation.kind = seq_mean_token_sum"),
        ({"k2": True}, "the KL's estimator is D^2/2, k2"),
        ({"neighbour": True}, "each response has the advantage of the next one"),
    )
    ADVANTAGES = (
        ({"ddof": 0}, "ADV-12"),
        ({"eps": 1e-6}, "1e-6 is added to the deviation"),
        ({"eps": 1e-8, "ddof": 0}, "1e-8 is added to the deviation, and the divisor of the variance is the other one"),
        ({"median": True}, "the baseline is the group's lower median"),
        ({"scaled": False}, "ADV-01"),
    )

    def reasons(self, cases_, answer):
        records = {}
        for case in cases_:
            testing._check(case, answer(case), 64, records)
        return diagnosis.summarise(list(records.values()))

    def test_loss_alone_names_nothing_that_a_full_record_contradicts(self):
        """TIS with the weight of the current policy over the sampler: TIS-01 and TIS-01a have the same loss, and other gradients."""

        def corrected(case, differentiated):
            b, on = case.numpy(pad=0.0), case.numpy().mask.astype(bool)
            l, o, A = (np.where(on, x, 0.0) for x in (b.logp, b.logp_old, b.advantage))
            w, v = np.exp(l - o), np.exp(l - np.where(on, b.logp_rollout, 0.0))
            c = on / (len(on) * np.maximum(on.sum(1, keepdims=True), 1))
            plain, clipped = -w * A, -np.clip(w, 0.8, 1.2) * A
            S, weight = np.maximum(plain, clipped), np.minimum(v, 2.0)
            slope = weight * np.where(plain >= clipped, plain, 0.0) + differentiated * np.where(v <= 2.0, v, 0.0) * S
            return {"loss": (c * weight * S).sum(), "dlogp": c * slope}

        tis = cases("tis", without=(*self.USUAL, "NaNMasked", "OnPolicy"))
        for differentiated, name in ((0, "TIS-01a"), (1, "TIS-01")):
            found = self.reasons(tis, lambda case: corrected(case, differentiated))
            self.assertEqual({r.cause for r in found}, {name})

    def test_planted_mistakes_have_their_names_and_no_other(self):
        grpo = cases("grpo", without=self.USUAL)
        self.assertEqual(self.reasons(grpo, looped), [])
        for mistake, name in self.LOSSES:
            alike = [c for c in grpo if not ("neighbour" in mistake and "GivenAdvantage" in c.flags)]  # one advantage for a response
            found = self.reasons(alike, lambda case: looped(case, **mistake))
            self.assertEqual([(r.cause, r.within) for r in found], [(name, "")], mistake)
        of_rewards = cases("grpo", "gspo", without=(*self.USUAL, "GivenAdvantage"))
        self.assertEqual(self.reasons(of_rewards, looped_advantage), [])
        for mistake, name in self.ADVANTAGES:
            found = self.reasons(of_rewards, lambda case: looped_advantage(case, **mistake))
            self.assertEqual([(r.cause, r.within) for r in found], [(name, "")], mistake)

    def test_mistakes_of_gmpo(self):
        gmpo = cases("gmpo", "trl-gmpo", "verl-gmpo", "choices-alike", only="*gmpo-*", without=self.USUAL)
        self.assertEqual(self.reasons(gmpo, lambda case: looped_gmpo(case, pooled)), [])
        for bounded, name in ((lambda d, a, low, high: min(d, high) if a < 0 else max(d, -low), "GMPO's bounds are exchanged"),
                              (lambda d, a, low, high: min(max(d, -low), high), "GMPO's bounds both hold"),
                              (lambda d, a, low, high: pooled(d, a, -math.log(1 - low), math.log(1 + high)), "GMPO's bounds are of the"),
                              (lambda d, a, low, high: pooled(d, a or -1, low, high), "CLIP-08")):
            found = self.reasons(gmpo, lambda case: looped_gmpo(case, bounded))
            self.assertEqual([r.cause[: len(name)] for r in found], [name])

    def test_mistakes_of_rollout_weights(self):
        """TIS with another weight: of the sampler over the old policy, of the whole response, without a bound."""

        def corrected(case, times=1, whole=False, most=2.0):
            b, on = case.numpy(pad=0.0), case.numpy().mask.astype(bool)
            l, o, r, A = (np.where(on, x, 0.0) for x in (b.logp, b.logp_old, b.logp_rollout, b.advantage))
            w, q = np.exp(l - o), times * (o - r)
            v = np.minimum(np.exp(q.sum(1, keepdims=True) if whole else q), most)
            c = v * on / (len(on) * np.maximum(on.sum(1, keepdims=True), 1))
            plain, clipped = -w * A, -np.clip(w, 0.8, 1.2) * A
            return {"loss": (c * np.maximum(plain, clipped)).sum(), "dlogp": c * np.where(plain >= clipped, plain, 0.0)}

        tis = cases("tis", without=(*self.USUAL, "OnPolicy"))
        self.assertEqual(self.reasons(tis, corrected), [])
        for mistake, name in (({"times": -1}, "the rollout correction is inverted: the sampler over the old policy"),
                              ({"whole": True}, "weight.rollout_is_level = sequence_sum"),
                              ({"most": np.inf}, "weight.rollout_is_high = inf"), ({"most": 1.0}, "weight.rollout_is_high = 1")):
            only, = self.reasons(tis, lambda case: corrected(case, **mistake))
            self.assertIn(name, (only.cause, *only.also))

    def test_the_overlong_punishment_of_the_tokens_that_count(self):
        def of(case, counted):
            o, b = case.objective["reward"], case.batch
            mask = b.get("mask", [[True] * n for n in b["length"]])
            lengths = [sum(row) for row in mask] if counted else b["length"]
            over = [min(0.0, (o["overlong_max"] - o["overlong_cache"] - n) / o["overlong_cache"]) for n in lengths]
            over = [x if o["overlong"] == "linear" else max(-1.0, x) for x in over]
            rewards = [float(r) + o["overlong_factor"] * x for r, x in zip(b["reward"], over)]
            shaped = types.SimpleNamespace(batch={**b, "reward": rewards})
            a = looped_advantage(shaped, eps=float(case.setting("advantage.eps") or 0))["advantage"]
            return {"advantage": [[x if m else 0.0 for m in row] for x, row in zip(a, mask)]}

        long = cases("choices-alike", only="*-overlong-*")
        self.assertEqual(self.reasons(long, lambda case: of(case, False)), [])
        self.assertEqual([r.cause for r in self.reasons(long, lambda case: of(case, True))], ["REW-01c"])

    def test_a_dual_clip_bounds_a_clip_with_a_mistake(self):
        dual = [c for c in cases("ppo-dual-clip", without=self.USUAL) if not c.setting("penalty.kl_coef")]
        self.assertEqual(self.reasons(dual, looped), [])
        for mistake, name in (({"low": False}, "the clip has no lower bound"),
                              ({"of_log": True}, "the log-ratio is clipped at -eps_low and eps_high")):
            self.assertEqual([(r.cause, r.within) for r in self.reasons(dual, lambda case: looped(case, **mistake))], [(name, "")], mistake)

    def test_numbers_within_an_enormous_error_name_nothing(self):
        """Log-ratios are clamped at 10, where those of some cases are 50 and more, and the right loss, with its error, is enormous."""
        extreme = [c for c in cases("grpo", only="grpo-extreme-*", precision="f32") if c.id not in ("grpo-extreme-800-good",)]
        found = self.reasons(extreme, lambda case: looped(case, clamp=10))
        self.assertEqual([r.cause for r in found], [None])

    def test_they_are_what_the_vectors_record(self):
        seen = set()
        for case in cases("grpo", "gspo", "cispo", "ppo-dual-clip", "dr-grpo", "trl-dapo", "rloo", "gmpo", "tis", "icepop", "choices-alike",
                          without=self.USUAL):
            for stage in ("advantage", "loss"):
                forms = {}
                for name, numbers in computed(case, stage):
                    forms.setdefault(name, []).append(numbers)
                for name in forms.keys() & case.defects.keys():
                    judged = judge(case, {key: x for key, x in case.expect.items() if key in forms[name][0]})
                    told = {key: x for key, x in diagnosis.recorded(case.defects[name], judged)[0].items() if key in forms[name][0]}
                    same = [all(np.allclose(numbers[key][at], x, 1e-6, 1e-12, equal_nan=True) for key, (at, x) in told.items())
                            for numbers in forms[name]]
                    self.assertTrue(any(same), (case.id, name))
                    seen.add(name)
        self.assertGreater(len(seen), 20, seen)

    # rows: how many causes are computed for advantages and for the loss, and the known mistakes among those of the loss
    LEAST = (
        ("grpo", 109, 210,
         "CLIP-01 CLIP-01a CLIP-01b CLIP-02a CLIP-02c KL-01 KL-02 KL-04 KL-05 MASK-02 MASK-02a MASK-02b MASK-05 MASK-05b MASK-06a MASK-12 "
         "NORM-05a NORM-07a NORM-13 RATIO-01 RATIO-06"),
        ("gspo", 109, 186,
         "CLIP-01 CLIP-01a CLIP-01b CLIP-02a CLIP-02c GSPO-05 GSPO-09 MASK-02 MASK-02a MASK-02b MASK-05 MASK-05b MASK-06a MASK-12 NORM-05a "
         "NORM-13 NORM-24a RATIO-01 RATIO-06"),
        ("dapo", 110, 155,
         "CLIP-01 CLIP-01a CLIP-01b CLIP-02a CLIP-02c MASK-02 MASK-02a MASK-02b MASK-05 MASK-05b MASK-06a MASK-12 NORM-05a RATIO-01 "
         "RATIO-06"),
        ("cispo", 109, 126,
         "CISPO-01 CISPO-03a MASK-02 MASK-02a MASK-02b MASK-05 MASK-05b MASK-06a MASK-12 NORM-05a RATIO-01 RATIO-06 TIS-02"),
        ("ppo-dual-clip", 60, 171,
         "CLIP-01 CLIP-01a CLIP-01b CLIP-02 CLIP-02a CLIP-02c MASK-02 MASK-02a MASK-02b MASK-05 MASK-05b MASK-06a MASK-12 MASK-12a "
         "NORM-05a NORM-07 NORM-13 NORM-17a RATIO-01 RATIO-06"),
        ("reinforce", 56, 102,
         "MASK-02 MASK-02a MASK-02b MASK-05 MASK-05b MASK-06a MASK-12 NORM-01 NORM-05a RATIO-01 RATIO-06"),
        ("rloo", 60, 102,
         "MASK-02 MASK-02a MASK-02b MASK-05 MASK-05b MASK-06a MASK-12 NORM-01 NORM-05a RATIO-01 RATIO-06"),
        ("dr-grpo", 56, 156,
         "CLIP-01 CLIP-01a CLIP-01b CLIP-02a CLIP-02c MASK-02 MASK-02a MASK-02b MASK-05 MASK-05b MASK-06a NORM-05a NORM-16 NORM-17 "
         "RATIO-01 RATIO-06"),
        ("sapo", 109, 139,
         "CLIP-09a MASK-02 MASK-02a MASK-02b MASK-05 MASK-05b MASK-06a MASK-12 NORM-05a NORM-07a NORM-13 RATIO-01 RATIO-06"),
        ("gmpo", 109, 137,
         "CLIP-08 GSPO-09 MASK-02 MASK-02a MASK-02b MASK-05 MASK-05b MASK-06a MASK-12 NORM-05a NORM-13 NORM-24a RATIO-01 RATIO-06"),
        ("tis", 109, 185,
         "CLIP-01 CLIP-01a CLIP-01b CLIP-02a CLIP-02c MASK-02 MASK-02a MASK-02b MASK-05 MASK-05b MASK-06a MASK-12 NORM-05a NORM-07a "
         "NORM-13 RATIO-01 RATIO-06 TIS-01a TIS-03 TIS-09"),
    )

    def test_no_cause_is_lost(self):
        known = pages.mistakes()
        for row, advantage, loss, names in self.LEAST:
            usual = cases(row, without=self.USUAL[:-1])
            found = {stage: {name for case in usual for name, _ in computed(case, stage)} for stage in ("advantage", "loss")}
            self.assertGreaterEqual(len(found["advantage"]), advantage, row)
            self.assertGreaterEqual(len(found["loss"]), loss, row)
            self.assertEqual({name for name in found["loss"] if name in known}, set(names.split()), row)

    def test_every_aggregation_whose_coefficients_are_of_responses(self):
        """The terms times the coefficients are the loss, in most cases of each kind: not where other terms have a divisor of their own,
        as most of choices-together."""
        right_, of = {}, {}
        for case in cases("*", without=self.USUAL[:-1]):
            if case.id.startswith("choices-together-"):
                continue
            arrays, kind = case.numpy(), case.setting("aggregation.kind")
            if arrays.mask.size:
                counts = computed_loss._counts(case, arrays.mask, arrays.group)
                drop = case.setting("aggregation.empty_sequences") == "drop"
                weight = computed_loss.coefficients(kind, counts, float(case.setting("aggregation.constant")), drop)
                term = computed_loss._padded(case.expect["term"], counts.width)
                of[kind] = of.get(kind, 0) + 1
                if weight is not None:
                    with np.errstate(all="ignore"):
                        apart = abs((weight[:, None] * term).sum() - float(case.expect["loss"]))
                    right_[kind] = right_.get(kind, 0) + bool(apart <= 1e-9 * float(case.scale["loss"]))
        none = {"seq_mean_segment_mean", "seq_mean_length_power", "token_mean_nonzero_std", "token_mean_by_sign", "seq_mean_by_sign"}
        self.assertEqual(set(of) - set(right_), none)
        for kind, n in right_.items():
            self.assertGreaterEqual(n, 0.7 * of[kind] if of[kind] > 5 else 2, (kind, n, of[kind]))

    def test_masked_tokens_and_lone_responses_hide_no_epsilon(self):
        """Advantages that are wrong by a mistake of their own are told beside the cause of the others."""
        masked, lone = diagnosis.MASKED_TOO, diagnosis.ALONE_NAN
        for id_, words in (("gspo-holes", [masked]), ("gspo-singleton", [lone]), ("gspo-ragged", [])):
            case = GSPO[id_]
            of, group = looped_advantage(case, eps=1e-6)["advantage"], case.batch["group"]
            a = [[math.nan if group.count(g) == 1 else x] * n for x, g, n in zip(of, group, case.batch["length"])]
            found = diagnose(case, {"advantage": a})
            self.assertEqual(found[0].cause, "1e-6 is added to the deviation", id_)
            self.assertEqual(found[0].besides, "; ".join(words), id_)
            self.assertEqual("besides: " in testing._check(case, {"advantage": a}, 64, {}), bool(words), id_)
        only = [[x] * n for x, n in zip(looped_advantage(GSPO["gspo-holes"])["advantage"], GSPO["gspo-holes"].batch["length"])]
        self.assertEqual([(f.cause, f.besides) for f in diagnose(GSPO["gspo-holes"], {"advantage": only})], [(masked, "")])
        nothing = GSPO["gspo-everything-masked"]  # no advantage here can show an epsilon
        rows = [[x] * n for x, n in zip(looped_advantage(nothing, eps=1e-6)["advantage"], nothing.batch["length"])]
        self.assertEqual([(f.cause, f.besides) for f in diagnose(nothing, {"advantage": rows})], [(masked, "")])
        unequal = [[x + t / 8 for t, x in enumerate(row)] for row in rows]
        self.assertEqual(diagnose(nothing, {"advantage": unequal}), [])
        other = [[x + 0.125 if t == 1 else x for t in range(n)] for x, n in zip(of, case.batch["length"])]      # not that of a response
        self.assertEqual(diagnose(case, {"advantage": other}), [])

    def test_a_kl_in_the_reward(self):
        """RLOO: the baseline is the others' mean of rewards less a KL, here with a mistake in one of both."""

        def of(case, *, mean=False, itself=False):
            b, on = case.numpy(), case.numpy().mask
            kl = np.where(on, b.logp_old - b.logp_ref, 0).sum(1) / (np.maximum(on.sum(1), 1) if mean else 1)
            r, out = b.reward - case.setting("reward.kl_coef") * kl, []
            for i, g in enumerate(b.group):
                others = [x for j, x in enumerate(r) if b.group[j] == g and (itself or j != i)]
                out.append(r[i] - sum(others) / len(others) if sum(b.group == g) > 1 else 0.0)
            return {"advantage": out}

        rloo = cases("rloo", without=(*self.USUAL, "GivenAdvantage"))
        self.assertEqual(self.reasons(rloo, of), [])
        for mistake, name in (({"mean": True}, "the KL in the reward is a mean over the response, not a sum"),
                              ({"itself": True}, "the baseline is the mean of the group")):
            self.assertEqual([r.cause for r in self.reasons(rloo, lambda case: of(case, **mistake))], [name])

    def test_an_epsilon_and_nan_do_not_hide_each_other(self):
        """A deviation without a guard: NaN where rewards are equal, or a response is alone; also beside a mistake of the others."""
        gspo = cases("gspo", without=("NegInf", "GivenAdvantage"))

        def unguarded(case, **mistake):
            of, b = looped_advantage(case, **mistake)["advantage"], case.batch
            equal = [len({r for r, g in zip(b["reward"], b["group"]) if g == own}) == 1 for own in b["group"]]
            mask = b.get("mask", [[True] * n for n in b["length"]])
            return {"advantage": [[math.nan if e and on else x if on else 0.0 for on in row] for x, e, row in zip(of, equal, mask)]}

        self.assertEqual([r.cause for r in self.reasons(gspo, unguarded)], ["a group of equal rewards is 0/0: NaN"])
        found = self.reasons(gspo, lambda case: unguarded(case, ddof=0))
        self.assertEqual([(r.cause, r.within) for r in found], [("ADV-12", ""), (diagnosis.EQUAL_NAN, "")])
        self.assertIn(diagnosis.EQUAL_NAN, found[0].besides)
        # the offset's error is nearly as large as the effect of the epsilon
        found = self.reasons(gspo, lambda case: looped_advantage(case, eps=1e-6))
        self.assertEqual([r.cause for r in found], ["1e-6 is added to the deviation"])

    def test_numbers_of_16_bits(self):
        for bits, name in sixteen_bits.NAMES.items():
            right_ = {k: np.concatenate([np.ravel(x) for x in RAGGED.expect[k]]) for k in ("advantage", "dlogp")}
            turned = {k: sixteen_bits.sixteen_bits(x, bits) for k, x in right_.items()}
            found = [f.cause for f in diagnose(RAGGED, {"dlogp": turned["dlogp"]})]
            casts = [cause for cause in found if "log-" in cause]  # of numbers of few bits: they round the gradient alone
            self.assertEqual([cause for cause in found if cause not in casts], [diagnosis.SIXTEEN_BITS.format(name)])
            self.assertEqual(diagnose(RAGGED, {"loss": RAGGED.expect["loss"]}), [])
            self.assertEqual(diagnose(RAGGED, {"dlogp": turned["dlogp"] * (1 + 2**-20)}), [])
            self.assertIn(diagnosis.SIXTEEN_BITS.format(name), [f.cause for f in diagnose(RAGGED, {"advantage": turned["advantage"]})])
        numbers = [(1 + 2**-8, 1.0, 1 + 2**-8), (1 + 3 * 2**-8, 1 + 2**-6, 1 + 3 * 2**-8), (70000.0, 70144.0, math.inf),
                   (3 * 2.0**-25, 3 * 2.0**-25, 2.0**-23), (math.inf, math.inf, math.inf), (-0.1, -0.10009765625, -0.0999755859375)]
        for x, bfloat16, float16 in numbers:
            self.assertEqual([float(sixteen_bits.sixteen_bits(np.array(x), bits)) for bits in (8, 11)], [bfloat16, float16], x)

    def test_where_a_nan_may_come_from(self):
        for id_, words in (("grpo-neginf-both", "-inf minus -inf"), ("grpo-nan-masked", "do not multiply by the mask"),
                           ("grpo-neginf-old-good", "0 times infinity"), ("grpo-ragged", "")):
            text = " ".join(testing._check(cases("grpo", only=id_)[0], {"loss": math.nan}, 64, {}).split())
            self.assertEqual("NaN: " in text, bool(words), id_)
            self.assertIn(words, text)

    def test_what_is_accepted(self):
        case, answer = cases("gspo", only="gspo-ragged")[0], lambda case: looped_advantage(case, eps=1e-6)
        accepted = {"1e-6 is added to the deviation"}
        self.assertIn("1e-6 is added", testing._check(case, answer(case), 64, {}))
        self.assertEqual(testing._check(case, answer(case), 64, {}, accepted), "")
        self.assertIn("1e-5 is added", testing._check(case, looped_advantage(case, eps=1e-5), 64, {}, accepted))
        both = {**answer(case), "loss": 0.5}
        self.assertIn("loss is wrong", testing._check(case, both, 64, {}, accepted))
        self.assertNotIn("advantage is wrong", testing._check(case, both, 64, {}, accepted))

    def test_few_of_many_failures_are_no_part_of_their_own(self):
        """The two cases with the flag Long fail beside many others: the flag is no more to blame than those are."""
        chosen = cases("grpo", "gspo", without=self.USUAL[:-1])
        bad = {case.id for case in chosen if "Long" in case.flags} | {case.id for case in chosen[::2]}
        found = self.reasons(chosen, lambda case: {"loss": 0.123 if case.id in bad else case.expect["loss"]})
        self.assertEqual([(r.cause, r.common, set(r.cases)) for r in found], [(None, (), bad)])
        few = {case.id for case in chosen if "Long" in case.flags}
        found = self.reasons(chosen, lambda case: {"loss": 0.123 if case.id in few else case.expect["loss"]})
        self.assertEqual([r.common for r in found], [("the flag Long",)])

    def test_scattered_failures_have_nothing_in_common(self):
        found = self.reasons(cases("grpo", "gspo"), lambda case: {"loss": case.expect["loss"] if case.id < "gspo-f" else 0.123})
        self.assertEqual([(r.cause, r.common) for r in found], [(None, ())])

    def test_nearly_right(self):
        near = {"loss": RAGGED.expect["loss"] * (1 + 3e-8), "dlogp": [[x * (1 + 3e-8) for x in row] for row in RAGGED.expect["dlogp"]]}
        self.assertIn("multiplied by 1", testing._check(RAGGED, near, 64, {}))
        uneven = {"loss": RAGGED.expect["loss"] * (1 + 3e-8), "dlogp": [[x * (1 + 5e-8) for x in row] for row in RAGGED.expect["dlogp"]]}
        self.assertIn("nearly right", testing._check(RAGGED, uneven, 64, {}))


class Judging(unittest.TestCase):
    """Made-up cases and answers, which the packages of all languages judge alike."""

    FILE = json.loads((HERE.parent / "judging.json").read_text(encoding="utf-8"))

    def case(self, name):
        raw = {"id": name, "flags": [], "batch": {"group": [], "length": []}, "objective": {}, **self.FILE["cases"][name]}
        return dataclasses.replace(RAGGED, id=name, raw=raw)

    def test_what_is_wrong(self):
        for check in self.FILE["compare"]:
            with self.subTest(check["what"]):
                found = compare(self.case(check["case"]), check["answer"])
                self.assertEqual(sorted(d.output + d.place for d in found), check["wrong"])

    def test_what_is_named(self):
        for check in self.FILE["diagnose"]:
            with self.subTest(check["what"]):
                case = self.case(check["case"])
                found = [[f.cause, f.says == SAME] for f in diagnose(case, check["answer"]) if f.cause in case.defects]
                self.assertEqual(found, check["found"])

    def test_every_output_has_its_place_in_the_order(self):
        names = {name for case in EVERY if case.kind != "call" for name in case.expect}
        self.assertEqual(names, set(comparison.ORDER))


class EveryNumber(unittest.TestCase):
    """One wrong number of any output, in the first cases that have it, fails at its place."""

    FIRST = 3  # cases of each kind, function and output

    @staticmethod
    def answer_with(case, output, place, x):
        """That output alone, right but for the number at this place."""
        name, _, key = output.partition(".")
        if key:
            return {name: {key: x}}
        if not place:
            return {name: x}
        keys = [int(k) for k in place[1:-1].split("][")]

        def with_number(value, left):
            return x if not left else [with_number(y, left[1:]) if k == left[0] else y for k, y in enumerate(value)]

        return {name: with_number(case.expect[name], keys)}

    def places(self):
        """(case, output, place, expected, scale) of the first, the last and a middle number"""
        seen = {}
        for case in EVERY:
            for output in outputs(case, right(case)):
                of = (case.kind, case.raw.get("function"), output.name)
                seen[of] = seen.get(of, 0) + 1
                for k in {0, len(output.places) // 2, len(output.places) - 1} if seen[of] <= self.FIRST and len(output.places) else ():
                    yield case, output.name, output.places[k], float(output.expected[k]), float(output.scale[k])

    def test_a_wrong_number_fails_at_its_place(self):
        tried = 0
        for case, output, place, expected, scale in self.places():
            for precision, eps in (("f64", 2.0**-52), ("f32", 2.0**-23)):
                of = dataclasses.replace(case, precision=precision)
                wrong = [math.nan, -expected, 0.5] if math.isinf(expected) else [math.nan]
                near = []
                if math.isfinite(expected) and (not scale > 0 or not math.isfinite(scale)):
                    wrong += [expected + 1, math.inf, -math.inf] if not scale > 0 else [math.inf, -math.inf]
                elif math.isfinite(expected):
                    apart = [(share, expected + share * 64 * eps * scale) for share in (-1.1, -0.9, 0.9, 1.1)]
                    apart = [(share, x) for share, x in apart if abs(abs(x - expected) / (64 * eps * scale) - abs(share)) < 0.05]
                    wrong += [x for share, x in apart if abs(share) > 1 and scale > 1e-30]
                    near = [x for share, x in apart if abs(share) < 1]
                    wrong += [math.inf, -math.inf] if abs(expected) < 1e37 and scale < 1e37 else []
                for x in wrong:
                    found = compare(of, self.answer_with(case, output, place, x))
                    self.assertEqual([(d.output, d.place) for d in found], [(output, place)], (case.id, output, place, x, expected))
                    tried += 1
                for x in near:
                    self.assertEqual(compare(of, self.answer_with(case, output, place, x)), [], (case.id, output, place, x, expected))
        self.assertGreater(tried, 5000)

    def test_the_tolerance_counts(self):
        for tolerance in (1, 64, 1000):
            loss = [RAGGED.expect["loss"] + share * tolerance * 2**-52 * RAGGED.scale["loss"] for share in (0.5, 1.5)]
            self.assertEqual([len(compare(RAGGED, x, tolerance)) for x in loss], [0, 1])
            [wrong] = compare(RAGGED, loss[1], tolerance)
            self.assertEqual((wrong.found, wrong.expected), (loss[1], RAGGED.expect["loss"]))
            self.assertAlmostEqual(wrong.allowed / (tolerance * 2**-52 * RAGGED.scale["loss"]), 1)

    def test_another_shape_is_refused(self):
        done = set()
        for case in EVERY:
            for name, value in case.expect.items():
                if (case.kind, case.raw.get("function"), name) in done or not isinstance(value, list) or not value:
                    continue
                done.add((case.kind, case.raw.get("function"), name))
                with self.assertRaises((ValueError, TypeError), msg=(case.id, name)):
                    compare(case, {name: value[:-1]})
                with self.assertRaises((ValueError, TypeError), msg=(case.id, name)):
                    compare(case, {name: [*value, value[-1]]})
                for other in ("none", None, {}):
                    with self.assertRaises((ValueError, TypeError), msg=(case.id, name)):
                        compare(case, {name: other})


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


def _fail(message, pytrace=True):
    raise Failed(message)


def _skip(message):
    raise Skipped(message)


def _parametrize(name, values, ids):
    return lambda function: types.SimpleNamespace(
        run=function, cases=values, ids=[ids(x) for x in values], grpo_records=function.grpo_records
    )


PYTEST = types.SimpleNamespace(
    fail=_fail, skip=_skip, mark=types.SimpleNamespace(parametrize=_parametrize), hookimpl=lambda **_: lambda function: function
)


class Pytest(unittest.TestCase):
    """grpo_cases and the plugin, with what they use of pytest in its place."""

    def setUp(self):
        before = sys.modules.get("pytest")
        self.addCleanup(lambda: sys.modules.update(pytest=before) if before else sys.modules.pop("pytest"))
        sys.modules["pytest"] = PYTEST

    def of(self, answer, *names, **options):
        return testing.grpo_cases(*(names or ("gspo",)), **options)(lambda case: answer(case))

    def verdicts(self, test):
        """case -> the message of its failure, "skipped", or "" """
        found = {}
        for case in test.cases:
            found[case.id] = ""
            try:
                self.assertIsNone(test.run(case=case))
            except Failed as failure:
                found[case.id] = str(failure)
            except Skipped:
                found[case.id] = "skipped"
        return found

    def test_every_case_is_run(self):
        test = self.of(right)
        self.assertEqual(test.ids, list(GSPO))
        self.assertEqual(set(self.verdicts(test).values()), {""})
        self.assertEqual(list(test.grpo_records), list(GSPO))
        wrong = self.verdicts(self.of(lambda case: {"loss": 0.123}))
        self.assertTrue(all("loss is wrong" in text for text in wrong.values()), wrong)

    def test_what_fails(self):
        loss = lambda case: case.expect["loss"]
        for words, answer in (
            ("loss is wrong", lambda case: math.nan),
            ("nothing was returned", lambda case: None),
            ("nothing that was returned can be judged", lambda case: {"dlogits": [[[1]]]}),
            ("no output is called", lambda case: {"lose": 1}),
            ("rows", lambda case: {"loss": loss(case), "dlogp": case.expect["dlogp"][:-1]}),
            ("dlogp is wrong", lambda case: {"loss": loss(case), "dlogp": [[math.nan] * n for n in case.batch["length"]]}),
        ):
            [text] = self.verdicts(self.of(answer, only="gspo-ragged")).values()
            self.assertIn(words, text)
        with self.assertRaises(ZeroDivisionError):
            self.verdicts(self.of(lambda case: 1 / 0, only="gspo-ragged"))

    def test_options(self):
        off = lambda case: case.expect["loss"] + 100 * 2**-52 * case.scale["loss"]
        for options, passes in (({}, False), ({"tolerance": 50}, False), ({"tolerance": 200}, True), ({"precision": "f32"}, True)):
            self.assertEqual(set(self.verdicts(self.of(off, only="gspo-ragged", **options)).values()) == {""}, passes, options)
        for tolerance in (0, 0.5, math.nan):
            self.assertRaisesRegex(ValueError, "eps of the answer's scale", self.of, off, tolerance=tolerance)
        self.assertEqual(self.of(off, "gspo", "grpo", without=("NegInf",), only="*-signs").ids, ["gspo-signs", "grpo-signs"])
        self.assertTrue(self.of(right, "logits-token", kind="logits").cases)
        eps = lambda case: looped_advantage(case, eps=1e-6)
        word = "1e-6 is added to the deviation"
        for accept, passes in (((), False), (word, True), ([word], True), (["1e-5 is added to the deviation"], False)):
            self.assertEqual(set(self.verdicts(self.of(eps, only="gspo-ragged", accept=accept)).values()) == {""}, passes, accept)

    def test_advantages_that_do_not_fit_are_skipped(self):
        [case] = self.of(right, only="gspo-ragged", precision="f32").cases
        self.assertEqual(case.precision, "f32")
        test = self.of(right, only="gspo-ragged", precision="f32")
        for x, fits in ((1e300, False), (1e-60, False), (-1e39, False), (1e30, True), (0.0, True)):
            advantage = [[x] * n for n in case.batch["length"]]
            given = dataclasses.replace(case, raw={**case.raw, "batch": {**case.raw["batch"], "advantage": advantage}})
            self.assertEqual(given.fits(), fits, x)
            self.assertTrue(dataclasses.replace(given, precision="f64").fits())
            self.assertEqual(self.verdicts(types.SimpleNamespace(run=test.run, cases=[given])), {case.id: "" if fits else "skipped"})

    def summary(self, answer, *nodes):
        """The lines below all tests, of one test with these names of its cases"""
        plugin = importlib.import_module("grpo_conformance.plugin")
        test, reports, lines = self.of(answer), [], []
        for node, id_ in nodes:
            case = GSPO[id_]
            try:
                test.run(case=case)
            except Failed:
                pass
            item = types.SimpleNamespace(obj=test, callspec=types.SimpleNamespace(params={"case": case}))
            for when in ("setup", "call"):
                reports.append(types.SimpleNamespace(nodeid=node))
                hook = plugin.pytest_runtest_makereport(item, types.SimpleNamespace(when=when))
                next(hook)
                with self.assertRaises(StopIteration):
                    hook.send(types.SimpleNamespace(get_result=lambda: reports[-1]))
        terminal = types.SimpleNamespace(stats={"any": reports}, section=lines.append, line=lines.append)
        plugin.pytest_terminal_summary(terminal)
        return lines

    def test_the_summary(self):
        names = ["gspo-ragged", "gspo-square", "gspo-holes", "gspo-uneven"]
        turned = lambda case: (-case.expect["loss"], [[-x for x in row] for row in case.expect["dlogp"]])
        mistaken = lambda case: turned(case) if case.id in names else right(case)
        passing = "gspo-all-equal-rewards"  # loss and gradient are 0, with the sign turned too
        nodes = [(f"a.py::test_loss[{id_}]", id_) for id_ in (*names, passing)]
        lines = self.summary(mistaken, *nodes)
        self.assertEqual(lines[0], "why the cases fail")
        self.assertEqual(lines[1], "a.py::test_loss: 4 of 5 cases fail")
        self.assertIn("explains 4 of them", " ".join(" ".join(lines).split()))
        self.assertEqual(self.summary(right, *nodes), [])
        contradicted = self.summary(mistaken, *nodes, ("a.py::test_loss[gspo-signs]", "gspo-signs"))
        self.assertIn("no known mistake explains the loss of 4 of them", " ".join(contradicted))
        multiplied = lambda case: (math.nan, case.expect["dlogp"]) if case.batch.get("mask") and "NaNMasked" in case.flags else right(case)
        of_nan = [(f"a.py::test_loss[{id_}]", id_) for id_, case in GSPO.items() if "NaNMasked" in case.flags]
        self.assertIn("0 times NaN is NaN: select tokens", " ".join(" ".join(self.summary(multiplied, *of_nan)).split()))
        of_two = ("a.py::test_loss[cpu-gspo-signs]", "gspo-signs"), ("a.py::test_loss[gspo-ragged-cpu]", "gspo-ragged")
        nameless = self.summary(lambda case: 0.123, *of_two)
        self.assertEqual([line for line in nameless if "[" in line], ["a.py::test_loss[cpu]: 2 of 2 cases fail"])
        self.assertIn("./conform -- python3 my_adapter.py", " ".join(" ".join(nameless).split()))


@unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not here")
class Torch(unittest.TestCase):
    def test_the_gradient_is_taken(self):
        case = cases("reinforce", only="*-ragged")[0]
        b = case.torch()
        loss = -(b.advantage * b.logp * b.mask).sum() / len(b.length)
        self.assertEqual(compare(case, testing.answer_of(case, loss)), [])
        self.assertEqual(set(testing.answer_of(case, loss)), {"loss", "dlogp"})
        twice = testing._check(case, 2 * loss, 64, {})
        self.assertIn("loss and dlogp multiplied by", twice)

    def test_an_answer_of_tensors(self):
        import torch

        loss = torch.tensor(RAGGED.expect["loss"], dtype=torch.float64, requires_grad=True)
        dlogp = [torch.tensor(row, dtype=torch.float64, requires_grad=True) * 1 for row in RAGGED.expect["dlogp"]]
        self.assertEqual(compare(RAGGED, {"loss": loss, "dlogp": dlogp}), [])
        self.assertEqual([d.found for d in compare(RAGGED, {"loss": 2 * loss, "dlogp": dlogp})], [2 * RAGGED.expect["loss"]])

    def test_a_loss_without_a_gradient_is_no_pass(self):
        case = cases("grpo", only="*-ragged")[0]
        b = case.torch()
        self.assertEqual(testing.answer_of(case, b.advantage.sum())["dlogp"][1], [0.0] * case.batch["length"][1])
        text = testing._check(case, 0 * b.advantage.sum() + case.expect["loss"], 64, {})
        self.assertIn("the gradient is 0: is the ratio", text)
        self.assertIn("right: loss", text)
        self.assertEqual(testing._check(case, float(case.expect["loss"]), 64, {}), "")

    def test_a_cast_rounds_the_gradient_too(self):
        import torch

        def cast(case, where, kind):
            b = case.torch()
            turned = lambda name, x: x.to(kind).double() if name == where else x  # noqa: E731
            l = turned("log-prob", torch.where(b.mask, b.logp, 0))
            w = turned("ratio", torch.exp(turned("log-ratio", l - torch.where(b.mask, b.logp_old, 0))))
            low, high = 1 - case.setting("surrogate.eps_low"), 1 + case.setting("surrogate.eps_high")
            term = torch.where(b.mask, -torch.minimum(w * b.advantage, torch.clamp(w, low, high) * b.advantage), 0)
            return term.sum() / len(b.length) / case.setting("aggregation.constant")

        for where, name in (("log-prob", "the policy's log-probabilities are rounded to "), ("log-ratio", "the log-ratios are rounded to "),
                            ("ratio", "the ratio is rounded to ")):
            for kind, bits in ((torch.bfloat16, "bfloat16"), (torch.float16, "float16")):
                records = {}
                for case in cases("dr-grpo", without=Computed.USUAL):
                    testing._check(case, cast(case, where, kind), 64, records)
                self.assertEqual(diagnosis.summarise(list(records.values()))[0].cause, name + bits)

    def test_from_logits_and_hidden_states(self):
        import torch

        judged = 0
        for case in cases("logits-token", kind="logits", only="*reinforce*") + cases("hidden-token", kind="hidden", only="*reinforce*"):
            b = case.torch()
            logits = b.logits if case.kind == "logits" else b.hidden @ b.weight.T
            if b.banned is not None:
                logits = logits.masked_fill(b.banned, -torch.inf)
            logits = torch.where(b.mask[..., None], logits, 0)
            logp = torch.log_softmax(logits / case.temperature, -1).gather(-1, b.target[..., None])[..., 0]
            loss = -torch.where(b.mask, b.advantage * logp, 0).sum() / len(b.length)
            answer = testing.answer_of(case, loss)
            self.assertEqual(set(answer), set(case.expect))
            other = "banned" in case.raw or case.setting("penalty.entropy_coef") or {"NaNMasked", "NegInf"} & set(case.flags)
            if not other:
                self.assertEqual(compare(case, answer), [], case.id)
                judged += 1
        self.assertGreater(judged, 6)

    def test_tensors_from_elsewhere(self):
        import torch

        loss = torch.zeros(1, requires_grad=True).sum()
        self.assertRaisesRegex(ValueError, "case.torch", testing.answer_of, cases("reinforce")[0], loss)


@unittest.skipUnless(importlib.util.find_spec("cffi") and shutil.which("cc"), "cffi or a C compiler is not here")
class Reference(unittest.TestCase):
    def test_rows_by_name_and_by_choices(self):
        from grpo_conformance import reference

        for case in cases("gspo", "grpo", "dapo", "cispo", "ppo", "trl-*", "choices-surrogate*", "choices-advantage"):
            arrays = vars(case.numpy())
            found = reference.loss(case.objective, **arrays)
            if "advantage" in case.expect:
                found["advantage"] = reference.advantages(case.objective, **{k: x for k, x in arrays.items() if k != "advantage"})
            found = {name: x for name, x in found.items() if name in case.expect}
            self.assertEqual(compare(case, found, 4), [], case.id)
            self.assertGreaterEqual(set(found), {"loss", "term", "dlogp", "report"})
        self.assertEqual(compare(RAGGED, reference.loss("gspo", **vars(RAGGED.numpy(pad=np.nan))), 4), [])

    def test_settings_and_what_is_refused(self):
        from grpo_conformance import reference

        arrays = vars(RAGGED.numpy())
        wide = reference.loss("gspo", {"surrogate.eps_low": 1, "surrogate.eps_high": 10}, **arrays)
        self.assertEqual(wide["report"]["clip_fraction"], 0)
        self.assertGreater(reference.loss("gspo", **arrays)["report"]["clip_fraction"], 0)
        nan = {**arrays, "logp": arrays["logp"] * np.nan}
        self.assertRaisesRegex(ValueError, "logp.* is NaN", reference.loss, "gspo", **nan)
        self.assertRaisesRegex(ValueError, "name is unknown", reference.loss, "gsop", **arrays)
        self.assertRaisesRegex(ValueError, "shape", reference.loss, "gspo", **{**arrays, "logp_old": arrays["logp_old"][:, :-1]})
        self.assertRaisesRegex(ValueError, "group is", reference.loss, "gspo", **{**arrays, "group": arrays["group"] + 1})
        self.assertRaisesRegex(ValueError, "no logp_odl", reference.loss, "gspo", **{**arrays, "logp_odl": arrays["logp_old"]})

    @unittest.skipUnless(importlib.util.find_spec("torch"), "PyTorch is not here")
    def test_autograd(self):
        from grpo_conformance import reference

        others = [[case for case in OBJECTIVE if output in case.expect][:3] for output in ("dentropy", "ddivergence_ref", "dlog_partition")]
        for case in (RAGGED, *others[0], *others[1], *others[2]):
            b = case.torch()
            loss = reference.torch_loss(case.objective, **vars(b))
            answer = testing.answer_of(case, loss)
            self.assertEqual(set(answer), {"loss", "dlogp", "dentropy", "ddivergence_ref", "dlog_partition"} & set(case.expect))
            self.assertEqual(compare(case, answer, 4), [], case.id)
            (2 * loss).backward()
            doubled = {"dlogp": b.logp.grad / 2}
            self.assertEqual(compare(case, doubled, 4), [], case.id)


class LightSet(unittest.TestCase):
    def test_it_is_a_part_of_the_vectors(self):
        import core

        with tempfile.TemporaryDirectory() as folder:
            core.write(pathlib.Path(folder))
            self.assertLess(sum(path.stat().st_size for path in pathlib.Path(folder).iterdir()), core.MOST_BYTES)
            known = {case.id: case.raw for case in EVERY}
            met = set()
            for row in core.ROWS:
                read = json.loads((pathlib.Path(folder) / f"{row}.json").read_text(encoding="ascii"))
                self.assertEqual(read["variant"], row)
                self.assertGreater(len(read["cases"]), 5, row)
                for case in read["cases"]:
                    self.assertEqual(case, known[case["id"]])
                    met.add(case["id"][len(row) + 1 :])
            self.assertEqual(met, set(core.SCENARIOS))


if __name__ == "__main__":
    result = unittest.main(exit=False, verbosity=0).result
    bad = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    counting.count(result.testsRun - bad - len(result.skipped), bad)
    sys.exit(counting.summary())
