// GSPO on its cases: right, and with a mistake that is named; every mistake that is recorded in full; and judging.json.
package conformance

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
)

func sum(x []float64) float64 {
	if len(x) == 0 {
		return 0
	} else if len(x) == 1 {
		return x[0]
	}
	return sum(x[:len(x)/2]) + sum(x[len(x)/2:])
}

func gspo(c *Case, low, high float64) Answer {
	logp, old, advantage, mask, terms, dlogp := c.Rows("logp"), c.Rows("logp_old"), c.Advantage(), c.Mask(), []float64{}, [][]float64{}
	for i := range logp {
		var active []int
		var ratios, through []float64
		for t := range logp[i] {
			if mask[i][t] {
				active = append(active, t)
				ratios = append(ratios, logp[i][t]-old[i][t])
			}
		}
		n := math.Max(float64(len(active)), 1)
		w, each := math.Exp(sum(ratios)/n), 1/n/float64(len(logp))
		for _, t := range active {
			plain, clipped := -w*advantage[i][t], -math.Min(math.Max(w, 1-low), 1+high)*advantage[i][t]
			terms = append(terms, math.Max(plain, clipped)*each)
			if plain >= clipped {
				through = append(through, plain*each)
			}
		}
		row := make([]float64, len(logp[i]))
		for _, t := range active {
			row[t] = sum(through) / n
		}
		dlogp = append(dlogp, row)
	}
	return Answer{"loss": sum(terms), "dlogp": dlogp}
}

func usual() []*Case {
	var list []*Case
	for _, c := range Cases("gspo") {
		if flags := strings.Join(c.Flags, " "); !strings.Contains(flags, "NegInf") && !strings.Contains(flags, "Extreme") {
			list = append(list, c)
		}
	}
	return list
}

func TestRight(t *testing.T) {
	for _, c := range usual() {
		t.Run(c.ID, func(t *testing.T) {
			answer := gspo(c, c.Setting("surrogate.eps_low"), c.Setting("surrogate.eps_high"))
			if len(c.Compare(answer, 64)) > 0 {
				t.Error(c.Report(answer, 64))
			}
		})
	}
	if len(usual()) < 20 {
		t.Error("cases are missing")
	}
}

func TestPlanted(t *testing.T) {
	c := usual()[0]
	low := c.Setting("surrogate.eps_low")
	report := c.Report(gspo(c, low, low), 64)
	if !strings.Contains(report, "known mistake CLIP-02a") || !strings.Contains(report, "The upper epsilon is not passed on") {
		t.Error(report)
	}
}

// reported is what a report says of these numbers and mistakes, of each three at most.
func reported(c *Case, answer Answer) string {
	wrong := c.Compare(answer, 64)
	lines := []string{fmt.Sprintf("%s: %d numbers are wrong", c.ID, len(wrong))}
	for n, d := range wrong {
		if n < 3 {
			lines = append(lines, fmt.Sprintf("    %s: found %v, expected %v (allowed: %.2g)", d.Place, d.Found, d.Expected, d.Allowed))
		}
	}
	what := map[bool]string{true: "every number is what it gives", false: "the one number that is recorded of it is found"}
	for n, f := range c.Diagnose(answer, 64) {
		if told, _ := About(f.Mistake); n < 3 {
			lines = append(lines, fmt.Sprintf("    known mistake %s: %s; wrong: %s; right: %s; seen in: %s", f.Mistake, what[f.InFull],
				told.Wrong, told.Right, told.Seen))
		}
	}
	return strings.Join(lines, "\n")
}

func TestReport(t *testing.T) {
	c := usual()[0]
	low, high, twice := c.Setting("surrogate.eps_low"), c.Setting("surrogate.eps_high"), [][]float64{}
	answer := gspo(c, low, low)
	for _, row := range gspo(c, low, high)["dlogp"].([][]float64) {
		for k := range row {
			row[k] *= 2
		}
		twice = append(twice, row)
	}
	if wrong := c.Compare(answer, 64); len(wrong) != 1 || wrong[0].Place != "loss" || wrong[0].Found != answer["loss"] ||
		wrong[0].Expected != c.Expect["loss"] || wrong[0].Allowed != 0x1p-46*number(c.Scale["loss"]) {
		t.Error(wrong)
	}
	if found := c.Diagnose(answer, 64); len(found) == 0 || found[0] != (Finding{"CLIP-02a", false}) {
		t.Error(found)
	}
	for _, one := range []Answer{answer, {"dlogp": twice}} {
		if report := c.Report(one, 64); report != reported(c, one) || len(c.Diagnose(one, 64)) == 0 {
			t.Error(report)
		}
	}
	if wrong := c.Compare(Answer{"dlogp": twice}, 64); len(wrong) <= 3 {
		t.Error(wrong)
	}
	about, there := About("CLIP-02a")
	if !there || !strings.HasPrefix(about.Wrong, "The upper epsilon is not passed on") || about.Right != "the upper one above 1" ||
		!strings.HasPrefix(about.Seen, "none known of this option") {
		t.Error(about)
	}
	for _, name := range []string{"CLIP-0", "CLIP-02a |", "", "no"} {
		if about, there := About(name); there {
			t.Error(name, about)
		}
	}
}

func TestReadsCases(t *testing.T) {
	c := usual()[0]
	if c.Kind != "objective" || c.Choice("surrogate.kind") != "ppo_clip" || c.Choice("penalty.kl") != "" ||
		c.Choice("surrogate.eps_low") != "" || c.Setting("surrogate.eps_high") != 4e-4 || c.Setting("penalty.kl_coef") != 0 ||
		c.List("length")[2] != 6 || c.Rows("logp_ref") != nil {
		t.Error(c.Objective)
	}
	if kind := Cases("split")[0].Kind; kind != "split" {
		t.Error(kind)
	}
}

func TestJudging(t *testing.T) {
	type check struct {
		What, Case string
		Answer     Answer
		Wrong      []string
		Found      [][2]any
	}
	var file struct {
		Cases             map[string]*Case
		Compare, Diagnose []check
	}
	text, err := os.ReadFile("judging.json")
	if err == nil {
		err = json.Unmarshal(text, &file)
	}
	if err != nil || len(file.Compare) < 10 || len(file.Diagnose) < 20 {
		t.Fatal(err)
	}
	for _, one := range file.Compare {
		places := []string{}
		for _, d := range file.Cases[one.Case].Compare(one.Answer, 64) {
			places = append(places, d.Place)
		}
		if !reflect.DeepEqual(places, one.Wrong) {
			t.Error(one.What, places)
		}
	}
	for _, one := range file.Diagnose {
		found := [][2]any{}
		for _, f := range file.Cases[one.Case].Diagnose(one.Answer, 64) {
			found = append(found, [2]any{f.Mistake, f.InFull})
		}
		if !reflect.DeepEqual(found, one.Found) {
			t.Error(one.What, found)
		}
	}
	typed := Answer{"loss": 0.5, "dlogp": [][]float64{{1, 2}, {0}}, "report": map[string]float64{"clip_fraction": 0.25, "policy_loss": 0.5}}
	if wrong := file.Cases["plain"].Compare(typed, 64); len(wrong) != 2 || wrong[0].Place != "dlogp[0][1]" || wrong[1].Found != 0.25 {
		t.Error(wrong)
	}
}

func panics(what func()) (text string) {
	defer func() {
		if reason := recover(); reason != nil {
			text = fmt.Sprint(reason)
		}
	}()
	what()
	return ""
}

func TestRefused(t *testing.T) {
	c := usual()[0]
	loss, dlogp := number(c.Expect["loss"]), rowsOf(c.Expect["dlogp"])
	var cut, long [][]float64
	for _, row := range dlogp {
		cut, long = append(cut, row[:1]), append(long, append(append([]float64{}, row...), 1))
	}
	bad := []Answer{nil, {}, {"Loss": 9.0, "dLogp": [][]float64{{9}}}, {"loss": loss, "gradient": dlogp}, {"loss": nil}, {"loss": "0.5"},
		{"loss": float32(0)}, {"loss": []float64{loss}}, {"loss": loss, "dlogp": [][]float64{}}, {"loss": loss, "dlogp": cut},
		{"loss": loss, "dlogp": long}, {"loss": loss, "dlogp": append(append([][]float64{}, dlogp...), []float64{1})},
		{"loss": loss, "dlogp": [][]float32{{9}}}, {"loss": loss, "dlogp": 0.0}, {"dlogits": [][]float64{{9}}},
		{"report": map[string]float64{}}, {"loss": loss, "report": map[string]float64{"cilp_fraction": 0}}, {"loss": loss, "report": 0.0},
		{"loss": loss, "report": map[string]any{"clip_fraction": []float64{0}}}, {"loss": loss, "report": []float64{}},
		{"loss": loss, "report": map[string]any{"clip_fraction": []any{}}}, {"loss": loss, "dlogp": map[string]float64{}}}
	for _, answer := range bad {
		if panics(func() { c.Compare(answer, 64) }) == "" {
			t.Error("green", answer)
		}
	}
	if text := panics(func() { c.Compare(Answer{"dlogp": cut}, 64) }); !strings.Contains(text, "is missing") {
		t.Error(text)
	}
	for k := range long {
		long[k][len(long[k])-1] = 0 // padding
	}
	if wrong := c.Compare(Answer{"dlogp": long}, 64); len(wrong) > 0 {
		t.Error(wrong)
	}
}

func TestMisspeltRow(t *testing.T) {
	if text := panics(func() { Cases("gspoo") }); !strings.Contains(text, "no vectors gspoo") {
		t.Error("green", text)
	}
}

func TestNaNIsNoEvidence(t *testing.T) {
	for _, variant := range []string{"gspo", "grpo", "dapo"} {
		for _, c := range Cases(variant) {
			if found := c.Diagnose(Answer{"loss": math.NaN()}, 64); len(found) > 0 {
				t.Error(c.ID, found)
			}
		}
	}
}

func TestEveryMistakeInFull(t *testing.T) {
	named := 0
	for _, variant := range Variants() {
		for _, c := range Cases(variant) {
			if c.Kind == "refuse" { // has no answers
				continue
			}
			if wrong := c.Compare(Answer(c.Expect), 1); len(wrong) > 0 {
				t.Error(c.ID, wrong[0])
			}
			for name, mistake := range c.Defects {
				outputs, inFull := mistake.(map[string]any)
				if !inFull {
					continue
				}
				answer := Answer{}
				for key, value := range c.Expect {
					answer[key] = value
				}
				for key, value := range outputs {
					if metrics, is := value.(map[string]any); is {
						report := map[string]any{}
						for metric, x := range c.Expect[key].(map[string]any) {
							report[metric] = x
						}
						for metric, x := range metrics {
							report[metric] = x
						}
						value = report
					}
					answer[key] = value
				}
				if _, there := About(name); !there || !has(c.Diagnose(answer, 64), name) {
					t.Error(c.ID, name)
				}
				named++
			}
		}
	}
	if named < 1500 {
		t.Error(named)
	}
}

func has(found []Finding, name string) bool {
	for _, finding := range found {
		if finding.InFull && finding.Mistake == name {
			return true
		}
	}
	return false
}
