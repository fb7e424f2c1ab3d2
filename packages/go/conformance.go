// Package conformance has exact answers of the GRPO / GSPO family of objectives on small batches, and the name of the mistake that a
// wrong answer has. vectors/README.md says what every word means.
package conformance

import (
	"embed"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
)

//go:embed vectors
var vectors embed.FS

const (
	eps          = 0x1p-52
	storedDigits = 6e-7 // a wrong answer is stored with seven digits
	tiny         = 2e-323
)

// Answer is what an implementation found: the outputs that it has, float64, []float64 or [][]float64 by name, "report" a map of float64.
type Answer map[string]any

// Difference is a number that is wrong.
type Difference struct {
	Place                    string
	Found, Expected, Allowed float64
}

// Finding is a known mistake that gives what was found: all of it, or the one number that is recorded.
type Finding struct {
	Mistake string
	InFull  bool
}

// Mistake is a row of the page of known mistakes.
type Mistake struct{ Wrong, Right, Seen string }

// Case is one batch of an objective with its exact answers, as in the file.
type Case struct {
	ID, Kind, Comment    string
	Flags                []string
	Objective            map[string]map[string]any // what is left out has its default, the first choice or 0
	Batch, Expect, Scale map[string]any
	Defects              map[string]any
}

// Variants are the names of all rows, "gspo" and so on.
func Variants() []string {
	entries, _ := vectors.ReadDir("vectors")
	var names []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), ".json") {
			names = append(names, strings.TrimSuffix(entry.Name(), ".json"))
		}
	}
	return names
}

// Cases are those of a row; it panics if there is no such row.
func Cases(variant string) []*Case {
	text, err := vectors.ReadFile("vectors/" + variant + ".json")
	if err != nil {
		panic(fmt.Sprintf("conformance: no vectors %s; there are %s", variant, strings.Join(Variants(), ", ")))
	}
	var file struct{ Cases []*Case }
	if err := json.Unmarshal(text, &file); err != nil {
		panic(err)
	}
	for _, c := range file.Cases {
		if c.Kind == "" {
			c.Kind = "objective"
		}
	}
	return file.Cases
}

// About says what a known mistake is.
func About(name string) (Mistake, bool) {
	text, _ := vectors.ReadFile("vectors/DEFECTS.md")
	for _, line := range strings.Split(string(text), "\n") {
		if cells := strings.Split(line, " | "); len(cells) > 3 && cells[0] == "| "+name {
			return Mistake{cells[1], cells[2], cells[3]}, true
		}
	}
	return Mistake{}, false
}

// Setting is a number of the objective, "surrogate.eps_low"; 0 where it is left out.
func (c *Case) Setting(path string) float64 {
	axis, field, _ := strings.Cut(path, ".")
	if value, there := c.Objective[axis][field]; there {
		return number(value)
	}
	return 0
}

// Choice is a choice of the objective, "surrogate.kind"; empty where it is the default.
func (c *Case) Choice(path string) string {
	axis, field, _ := strings.Cut(path, ".")
	choice, _ := c.Objective[axis][field].(string)
	return choice
}

// Rows is an array with a row for each response; flags are 0 and 1; nil if the case has none.
func (c *Case) Rows(name string) [][]float64 { return rowsOf(c.Batch[name]) }

// List is an array with a number for each response or prompt: "reward", "group", "length".
func (c *Case) List(name string) []float64 { return listOf(c.Batch[name]) }

// Advantage is given with the case, or the exact one of the objective.
func (c *Case) Advantage() [][]float64 {
	if given := c.Rows("advantage"); given != nil {
		return given
	}
	return rowsOf(c.Expect["advantage"])
}

// Mask says which tokens count.
func (c *Case) Mask() [][]bool {
	given, mask := c.Rows("mask"), [][]bool{}
	for i, length := range c.List("length") {
		row := make([]bool, int(length))
		for t := range row {
			row[t] = given == nil || given[i][t] != 0
		}
		mask = append(mask, row)
	}
	return mask
}

func number(value any) float64 {
	switch x := value.(type) {
	case float64:
		return x
	case int:
		return float64(x)
	case bool:
		if x {
			return 1
		}
		return 0
	case string: // "Infinity", "-Infinity", "NaN"
		if x, err := strconv.ParseFloat(x, 64); err == nil {
			return x
		}
	}
	return math.NaN()
}

func listOf(value any) []float64 {
	list, _ := value.([]any)
	var numbers []float64
	for _, x := range list {
		numbers = append(numbers, number(x))
	}
	return numbers
}

func rowsOf(value any) [][]float64 {
	list, _ := value.([]any)
	var rows [][]float64
	for _, row := range list {
		rows = append(rows, listOf(row))
	}
	return rows
}

// put adds all numbers by place: loss, dlogp[2][0], report.clip_fraction; it panics at what is no number.
func put(numbers map[string]float64, place string, value any) {
	switch x := value.(type) {
	case []any:
		for k := range x {
			put(numbers, fmt.Sprintf("%s[%d]", place, k), x[k])
		}
	case [][]float64:
		for k := range x {
			put(numbers, fmt.Sprintf("%s[%d]", place, k), x[k])
		}
	case []float64:
		for k := range x {
			numbers[fmt.Sprintf("%s[%d]", place, k)] = x[k]
		}
	case Answer:
		put(numbers, place, map[string]any(x))
	case map[string]float64:
		for key := range x {
			numbers[place+"."+key] = x[key]
		}
	case map[string]any:
		for key := range x {
			put(numbers, strings.TrimPrefix(place+"."+key, "."), x[key])
		}
	case float64, int, bool:
		numbers[place] = number(x)
	case string:
		if x != "Infinity" && x != "-Infinity" && x != "NaN" {
			panic(fmt.Sprintf("conformance: %s is %q, not a number", place, x))
		}
		numbers[place] = number(x)
	default:
		panic(fmt.Sprintf("conformance: %s is a %T; give float64, []float64, [][]float64, or a map of float64 for report", place, value))
	}
}

func numbersOf(value any) map[string]float64 {
	numbers := map[string]float64{}
	put(numbers, "", value)
	return numbers
}

// recorded is the wrong numbers that a case records, and whether they are all.
func recorded(mistake any) (map[string]float64, bool) {
	switch x := mistake.(type) {
	case map[string]any:
		return numbersOf(x), true
	case []any:
		place := fmt.Sprint(x[0])
		for _, key := range x[1 : len(x)-1] {
			if word, is := key.(string); is {
				place += "." + word
			} else {
				place += fmt.Sprintf("[%v]", key)
			}
		}
		return map[string]float64{place: number(x[len(x)-1])}, false
	}
	return map[string]float64{"loss": number(mistake)}, false
}

func isAdvantage(place string) bool {
	return strings.HasPrefix(place, "advantage") || strings.HasPrefix(place, "dynamic_sampling_mask")
}

func isFinite(x float64) bool { return !math.IsInf(x, 0) && !math.IsNaN(x) }

type judged struct {
	place                  string
	found, expected, scale float64
}

func (n judged) isRight(k float64) bool {
	beyond := math.Abs(n.expected)+4*eps*math.Min(n.scale, math.MaxFloat64) >= math.MaxFloat64
	near := n.scale > 0 && isFinite(n.found) && isFinite(n.expected) && math.Abs(n.found-n.expected) <= k*eps*n.scale+tiny
	return n.found == n.expected || near || beyond && n.found == math.Copysign(math.Inf(1), n.expected)
}

// agrees: is found the stored number of a mistake? A larger wrong answer may carry an error that is larger in proportion.
func (n judged) agrees(found, other, k float64) bool {
	size := math.Max(math.Abs(other), n.scale)
	if grown := math.Abs(other/n.expected) * n.scale; n.expected != 0 && n.scale > 0 && isFinite(grown) {
		size = math.Max(size, grown)
	}
	near := math.Abs(found-other) <= k*eps*size+storedDigits*math.Abs(other)+tiny
	return found == other || math.IsNaN(found) && math.IsNaN(other) || isFinite(found) && isFinite(other) && near
}

func contains(list []string, word string) bool {
	for _, x := range list {
		if x == word {
			return true
		}
	}
	return false
}

// known are the outputs that an answer may have, and the metrics of a report.
func known() (outputs, metrics []string) {
	text, err := vectors.ReadFile("vectors/NAMES.txt")
	if err != nil {
		panic(err)
	}
	lines := strings.Split(string(text), "\n")
	return strings.Fields(lines[0]), strings.Fields(lines[1])
}

// outputOf a place; a metric is an output of its own, one number.
func outputOf(place string) string {
	if strings.HasPrefix(place, "report.") {
		return place
	}
	name, _, _ := strings.Cut(place, "[")
	return name
}

// outputsNamed are the name of an output, or the metrics of a report.
func outputsNamed(name string, value any) (names []string) {
	if name != "report" {
		return []string{name}
	}
	switch report := value.(type) {
	case map[string]float64:
		for key := range report {
			names = append(names, "report."+key)
		}
	case map[string]any:
		for key := range report {
			names = append(names, "report."+key)
		}
	default:
		names = []string{name}
	}
	return names
}

// outputs are those of an answer that the case judges; it panics at a name that nothing has, and where none is left.
func (c *Case) outputs(answer Answer, found map[string]float64) map[string]bool {
	names, kept := map[string]bool{}, map[string]bool{}
	for name, value := range answer {
		for _, output := range outputsNamed(name, value) {
			names[output] = true
		}
	}
	for place := range found {
		names[outputOf(place)] = true
	}
	outputs, metrics := known()
	for name := range names {
		_, expected := c.Expect[name]
		isMetric := c.Expect["report"] != nil && strings.HasPrefix(name, "report.") && contains(metrics, name[len("report."):])
		if name == "report" || !expected && !isMetric && !contains(outputs, name) {
			panic(fmt.Sprintf("conformance: %s: no output is called %s; there are %s", c.ID, name, strings.Join(outputs, ", ")))
		}
		if expected || isMetric {
			kept[name] = true
		}
	}
	if len(kept) == 0 {
		panic("conformance: " + c.ID + ": nothing of the answer can be judged")
	}
	return kept
}

// checkShape panics where a number of an output is missing, or stands where the case has none and is no padding.
func (c *Case) checkShape(names map[string]bool, found, expect map[string]float64) {
	places := []string{}
	for name := range names {
		if strings.HasPrefix(name, "report.") {
			places = append(places, name)
		}
	}
	for place := range expect {
		places = append(places, place)
	}
	for _, place := range places {
		if _, there := found[place]; names[outputOf(place)] && !there {
			panic(fmt.Sprintf("conformance: %s: %s is missing: %s has not the shape of the case", c.ID, place, outputOf(place)))
		}
	}
	for place, x := range found {
		_, there := expect[place]
		free := there || x == 0 || strings.HasPrefix(place, "report.") || strings.HasPrefix(place, "advantage")
		if names[outputOf(place)] && !free {
			panic(fmt.Sprintf("conformance: %s: %s is %v where the case has no number", c.ID, place, x))
		}
	}
}

// judge lists every number that can be judged; a metric that is left out is 0.
func (c *Case) judge(answer Answer) []judged {
	expect, scale, numbers, list := numbersOf(c.Expect), numbersOf(c.Scale), numbersOf(answer), []judged{}
	c.checkShape(c.outputs(answer, numbers), numbers, expect)
	for place, found := range numbers {
		metric := strings.HasPrefix(place, "report.")
		expected, there := expect[place]
		if !there && !metric {
			continue
		}
		size, has := scale[place]
		if !has && metric {
			size = math.Abs(expected)
		}
		list = append(list, judged{place, found, expected, size})
	}
	sort.Slice(list, func(i, j int) bool { return list[i].place < list[j].place })
	return list
}

// Compare returns the numbers that are wrong by more than k eps of their scale; 64 is usual. It panics where the answer has an unknown
// output, another shape than the case, something that is no number, or nothing that can be judged.
func (c *Case) Compare(answer Answer, k float64) []Difference {
	var wrong []Difference
	for _, n := range c.judge(answer) {
		if !n.isRight(k) {
			wrong = append(wrong, Difference{n.place, n.found, n.expected, k * eps * n.scale})
		}
	}
	return wrong
}

// gives: would the mistake give what was found, advantages or all else? A single NaN is no evidence, nor is the one
// recorded number where it is NaN, infinite or 0.
func gives(told map[string]float64, inFull bool, list []judged, advantages bool, k float64) bool {
	shows, wrong, evidence, count := false, false, false, 0
	for _, n := range list {
		if isAdvantage(n.place) != advantages {
			continue
		}
		wrong = wrong || !n.isRight(k)
		if x, is := told[n.place]; is {
			shows = shows || !n.agrees(n.expected, x, k)
			count++
			evidence = evidence || inFull && (count > 1 || !math.IsNaN(x)) || isFinite(x) && x != 0
			if !n.agrees(n.found, x, k) {
				return false
			}
		} else if inFull && !n.isRight(k) && !(math.Abs(n.found-n.expected) <= 1e-5*n.scale) {
			return false
		}
	}
	return shows && wrong && evidence
}

// Diagnose returns the known mistakes that give what was found, those in full first.
func (c *Case) Diagnose(answer Answer, k float64) []Finding {
	list, found := c.judge(answer), []Finding{}
	for name, mistake := range c.Defects {
		told, inFull := recorded(mistake)
		if gives(told, inFull, list, true, k) || gives(told, inFull, list, false, k) {
			found = append(found, Finding{name, inFull})
		}
	}
	sort.Slice(found, func(i, j int) bool {
		if found[i].InFull != found[j].InFull {
			return found[i].InFull
		}
		return found[i].Mistake < found[j].Mistake
	})
	return found
}

// Report says in words what is wrong.
func (c *Case) Report(answer Answer, k float64) string {
	wrong := c.Compare(answer, k)
	lines := []string{fmt.Sprintf("%s: %d numbers are wrong", c.ID, len(wrong))}
	for n := 0; n < len(wrong) && n < 3; n++ {
		lines = append(lines, fmt.Sprintf("    %s: found %v, expected %v (allowed: %.2g)", wrong[n].Place, wrong[n].Found, wrong[n].Expected,
			wrong[n].Allowed))
	}
	for n, finding := range c.Diagnose(answer, k) {
		if n == 3 {
			break
		}
		what := "the one number that is recorded of it is found"
		if finding.InFull {
			what = "every number is what it gives"
		}
		about, _ := About(finding.Mistake)
		lines = append(lines, fmt.Sprintf("    known mistake %s: %s; wrong: %s; right: %s; seen in: %s", finding.Mistake, what, about.Wrong,
			about.Right, about.Seen))
	}
	return strings.Join(lines, "\n")
}
