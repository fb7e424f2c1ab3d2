// GSPO on its cases: right, and with a mistake that is named; and every mistake that is recorded in full.
package conformance

import (
	"fmt"
	"math"
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
