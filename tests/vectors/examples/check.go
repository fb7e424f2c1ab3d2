// Tests lossOf, an implementation of GRPO and GSPO, on every case whose objective it knows: go run check.go
package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const known = " level=token level=sequence_mean kind=ppo_clip kl=k3 kind=seq_mean_token_mean "
const numbers = " eps_low eps_high kl_coef "

type number float64 // "Infinity", "-Infinity" and "NaN" are strings

func (x *number) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return nil // other kinds of cases have other shapes
	}
	value, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	*x = number(value)
	return err
}

type rows [][]number

func (x *rows) UnmarshalJSON(text []byte) error {
	_ = json.Unmarshal(text, (*[][]number)(x)) // as above
	return nil
}

type answer struct {
	Loss             number
	Dlogp, Advantage rows
}

type testCase struct {
	ID, Kind  string
	Flags     []string
	Objective map[string]map[string]any
	Batch     struct {
		Length          []int
		Mask            [][]bool
		Logp, Advantage rows
		Old             rows `json:"logp_old"`
		Ref             rows `json:"logp_ref"`
	}
	Expect, Scale answer
}

// What an objective does not name is at its default; -inf log-probabilities need a rule of their own.
func (c *testCase) known() bool {
	for axis, fields := range c.Objective {
		for name, value := range fields {
			usual := strings.Contains(numbers, " "+name+" ") || strings.Contains(known, fmt.Sprintf(" %s=%v ", name, value))
			if !usual && axis != "reward" && axis != "advantage" {
				return false
			}
		}
	}
	return c.Kind == "" && !strings.Contains(fmt.Sprint(c.Flags), "NegInf")
}

// In pairs: adding 4096 numbers one after the other loses too much.
func sum(x []float64) float64 {
	if len(x) == 0 {
		return 0
	} else if len(x) == 1 {
		return x[0]
	}
	return sum(x[:len(x)/2]) + sum(x[len(x)/2:])
}

// Your implementation goes here.
func lossOf(c *testCase, advantage [][]number) (loss float64, dlogp [][]float64) {
	low, _ := c.Objective["surrogate"]["eps_low"].(float64) // 0 if absent
	high, _ := c.Objective["surrogate"]["eps_high"].(float64)
	beta, _ := c.Objective["penalty"]["kl_coef"].(float64)
	sequence, terms := c.Objective["ratio"]["level"] == "sequence_mean", []float64{}
	for i, length := range c.Batch.Length {
		row, active, ratios, through := make([]float64, length), []int{}, []float64{}, []float64{}
		for t := range row {
			if c.Batch.Mask == nil || c.Batch.Mask[i][t] { // other slots may hold "NaN"
				active = append(active, t)
				ratios = append(ratios, float64(c.Batch.Logp[i][t]-c.Batch.Old[i][t]))
			}
		}
		n := math.Max(float64(len(active)), 1)
		mean, each := sum(ratios)/n, 1/n/float64(len(c.Batch.Length))
		for j, t := range active {
			A, w, D, plain := float64(advantage[i][t]), math.Exp(ratios[j]), 0.0, 0.0
			if sequence {
				w = math.Exp(mean)
			}
			if beta != 0 {
				D = float64(c.Batch.Logp[i][t] - c.Batch.Ref[i][t])
			}
			if A != 0 { // 0 times infinity is 0
				plain = -w * A
			}
			clipped, dS := -math.Min(math.Max(w, 1-low), 1+high)*A, each*plain
			if clipped > plain {
				dS = 0
			}
			terms = append(terms, each*(math.Max(plain, clipped)+beta*(math.Expm1(-D)+D)))
			through = append(through, dS)
			row[t] = -each * beta * math.Expm1(-D)
		}
		shared := sum(through) / n
		for j, t := range active {
			if sequence {
				through[j] = shared
			}
			row[t] += through[j]
		}
		dlogp = append(dlogp, row)
	}
	return sum(terms), dlogp
}

func right(found float64, expected, scale number) bool {
	allowed := 64*math.Pow(2, -52)*float64(scale) + 5e-324
	return found == float64(expected) || !math.IsInf(allowed, 0) && math.Abs(found-float64(expected)) <= allowed
}

// The first number that is wrong, with its place; empty if none is.
func wrong(c *testCase) string {
	loss, dlogp := lossOf(c, append(c.Batch.Advantage, c.Expect.Advantage...)) // one of the two is there
	if !right(loss, c.Expect.Loss, c.Scale.Loss) {
		return fmt.Sprintf("loss %v, expected %v", loss, c.Expect.Loss)
	}
	for i, row := range c.Expect.Dlogp {
		for t, x := range row {
			if !right(dlogp[i][t], x, c.Scale.Dlogp[i][t]) {
				return fmt.Sprintf("dlogp[%d][%d] %v, expected %v", i, t, dlogp[i][t], x)
			}
		}
	}
	return ""
}

func main() {
	passed, failed, skipped := 0, 0, 0
	paths, _ := filepath.Glob("../*.json")
	for _, path := range paths {
		var file struct{ Cases []testCase }
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &file)
		}
		if err != nil {
			panic(err)
		}
		for i := range file.Cases {
			if c := &file.Cases[i]; !c.known() {
				skipped++
			} else if text := wrong(c); text != "" {
				fmt.Println(c.ID+":", text)
				failed++
			} else {
				passed++
			}
		}
	}
	fmt.Printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}
