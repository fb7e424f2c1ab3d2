// A whole test of an implementation of GRPO and GSPO against ../*.json, with Go's standard library alone: go run check.go
// lossOf is the implementation; everything else is reading, comparing and counting.
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
)

const k = 16 // tolerance: k * 2^-52 * scale

// number is a float64 that JSON may hold as "Infinity", "-Infinity" or "NaN".
type number float64

func (x *number) UnmarshalJSON(text []byte) error {
	value, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	*x = number(value)
	return err
}

type answer struct {
	Advantage, Dlogp [][]number
	Loss             number
}

type testCase struct {
	ID        string
	Objective struct {
		Ratio              struct{ Unit string }
		Surrogate, Penalty map[string]any
	}
	Batch struct {
		Length          []int
		Mask            [][]bool
		Logp, Advantage [][]number
		Old             [][]number `json:"logp_old"`
		Ref             [][]number `json:"logp_ref"`
	}
	Expect, Scale answer
}

// sumOf is exact but for its last rounding: adding 4096 numbers in order loses more than the tolerance.
func sumOf(xs []float64) float64 {
	total := new(big.Float).SetPrec(2200)
	for _, x := range xs {
		total.Add(total, big.NewFloat(x))
	}
	sum, _ := total.Float64()
	return sum
}

// difference of x and y summed, where -inf stands for -K with one K: as many in x as in y cancel.
func difference(x, y []number, at ...int) float64 {
	infinite, parts := 0, []float64{}
	for _, t := range at {
		for sign, value := range []float64{float64(x[t]), float64(y[t])} {
			if math.IsInf(value, -1) {
				infinite += 2*sign - 1
			} else {
				parts = append(parts, float64(1-2*sign)*value)
			}
		}
	}
	if infinite != 0 {
		return math.Inf(infinite)
	}
	return sumOf(parts)
}

// k3 is e^-D + D - 1 and its derivative; the sum cancels for small D, so its series there.
func k3(D float64) (float64, float64) {
	if math.Abs(D) >= 0.1 {
		return math.Exp(-D) + math.Max(D, -math.MaxFloat64) - 1, 1 - math.Exp(-D)
	}
	series := 1.0
	for n := 12.0; n > 2; n-- {
		series = 1 - D/n*series
	}
	return D * D / 2 * series, -math.Expm1(-D)
}

// clipped is max(-w A, -clip(w) A) and its derivative with respect to log w.
func clipped(A, w, low, high float64) (float64, float64) {
	if A == 0 {
		return 0, 0 // also for an infinite w
	}
	if A*(w-math.Min(math.Max(w, low), high)) > 0 {
		return -A * math.Min(math.Max(w, low), high), 0
	}
	return -w * A, -w * A
}

// lossOf is loss and d loss / d logp of GRPO (ratio of a token) or GSPO (ratio of a sequence).
func lossOf(c *testCase, advantage [][]number) (loss float64, dlogp [][]float64) {
	b, s, beta, terms := &c.Batch, c.Objective.Surrogate, c.Objective.Penalty["kl_coef"].(float64), []float64{}
	for i, length := range b.Length {
		active := []int{}
		for t := 0; t < length; t++ {
			if b.Mask == nil || b.Mask[i][t] {
				active = append(active, t)
			}
		}
		row, through, n := make([]float64, length), make([]float64, length), float64(len(active))
		y, sequence := difference(b.Logp[i], b.Old[i], active...)/n, c.Objective.Ratio.Unit == "sequence_mean"
		for _, t := range active {
			if !sequence {
				y = difference(b.Logp[i], b.Old[i], t)
			}
			S, dS := clipped(float64(advantage[i][t]), math.Exp(y), 1-s["eps_low"].(float64), 1+s["eps_high"].(float64))
			if beta != 0 {
				P, dP := k3(difference(b.Logp[i], b.Ref[i], t))
				S, row[t] = S+beta*P, beta*dP/n/float64(len(b.Length))
			}
			terms, through[t] = append(terms, S/n/float64(len(b.Length))), dS/n/float64(len(b.Length))
		}
		shared := sumOf(through) / n
		for _, t := range active {
			if sequence {
				through[t] = shared
			}
			row[t] += through[t]
		}
		dlogp = append(dlogp, row)
	}
	return sumOf(terms), dlogp
}

func near(found float64, expected, scale number) bool {
	allowed := k*math.Pow(2, -52)*float64(scale) + 5e-324
	return found == float64(expected) || allowed < math.MaxFloat64 && math.Abs(found-float64(expected)) <= allowed
}

func right(c *testCase) bool {
	advantage := append(c.Batch.Advantage, c.Expect.Advantage...) // one of the two is there
	loss, dlogp := lossOf(c, advantage)
	ok := near(loss, c.Expect.Loss, c.Scale.Loss)
	for i, row := range c.Expect.Dlogp {
		for t, x := range row {
			if ok && !near(dlogp[i][t], x, c.Scale.Dlogp[i][t]) {
				fmt.Printf("%s: dlogp[%d][%d] %v, expected %v\n", c.ID, i, t, dlogp[i][t], x)
				return false
			}
		}
	}
	if !ok {
		fmt.Printf("%s: loss %v, expected %v\n", c.ID, loss, c.Expect.Loss)
	}
	return ok
}

func main() {
	count := map[bool]int{}
	for _, name := range []string{"gspo", "grpo"} {
		var file struct{ Cases []testCase }
		text, err := os.ReadFile("../" + name + ".json")
		if err == nil {
			err = json.Unmarshal(text, &file)
		}
		if err != nil {
			panic(err)
		}
		for i := range file.Cases {
			count[right(&file.Cases[i])]++
		}
	}
	fmt.Printf("%d passed, %d failed\n", count[true], count[false])
	if count[false] > 0 {
		os.Exit(1)
	}
}
