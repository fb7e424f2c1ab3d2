//! Exact answers of the GRPO / GSPO family of objectives on small batches, and the name of the mistake that a wrong answer has.
//! What every word means stands in `vectors/README.md` of the crate.
mod files; // FILES: the name and text of each file; MISTAKES: the page of known mistakes

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Numbers by place: `loss`, `dlogp[2][0]`, `report.clip_fraction`.
type Numbers = BTreeMap<String, f64>;

/// What an implementation found: the outputs that it has.
#[derive(Default, Clone)]
pub struct Answer {
    numbers: Numbers,
    /// outputs, those without a number too
    names: BTreeSet<String>,
}

impl Answer {
    pub fn new() -> Self {
        Self::default()
    }
    /// `loss`, or a metric: `report.clip_fraction`
    pub fn number(mut self, output: &str, x: f64) -> Self {
        self.names.insert(output_of(output).to_string());
        self.numbers.insert(output.to_string(), x);
        self
    }
    /// `dynamic_sampling_mask` (0 and 1), `dlog_partition`: a number for each prompt
    pub fn list(mut self, output: &str, list: &[f64]) -> Self {
        self.names.insert(output_of(output).to_string());
        self.numbers
            .extend(list.iter().enumerate().map(|(k, x)| (format!("{}[{}]", output, k), *x)));
        self
    }
    /// `dlogp`, `term`, `advantage`: a row for each response, of its tokens
    pub fn rows(mut self, output: &str, rows: &[Vec<f64>]) -> Self {
        self.names.insert(output_of(output).to_string());
        for (i, row) in rows.iter().enumerate() {
            self.numbers
                .extend(row.iter().enumerate().map(|(t, x)| (format!("{}[{}][{}]", output, i, t), *x)));
        }
        self
    }
}

/// A metric is an output of its own, one number.
fn output_of(place: &str) -> &str {
    if place.starts_with("report.") {
        place
    } else {
        place.split('[').next().unwrap_or(place)
    }
}

/// A number that is wrong.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub place: String,
    pub found: f64,
    pub expected: f64,
    pub allowed: f64,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(
            f,
            "{}: found {:?}, expected {:?} (allowed: {:.2e})",
            self.place, self.found, self.expected, self.allowed
        )
    }
}

/// A known mistake that gives what was found: all of it, or the one number that is recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    pub mistake: String,
    pub in_full: bool,
}

/// A row of the page of known mistakes.
#[derive(Debug, Clone, PartialEq)]
pub struct Mistake {
    pub wrong: String,
    pub right: String,
    pub seen: String,
}

/// One batch of an objective with its exact answers.
#[derive(Debug, Clone)]
pub struct Case {
    pub id: String,
    /// "objective", "split", "logits" or "call"
    pub kind: String,
    pub flags: Vec<String>,
    /// as in the file
    pub raw: Value,
}

const STORED_DIGITS: f64 = 6e-7; // a wrong answer is stored with seven digits
const TINY: f64 = 2e-323;

/// The names of all rows, `gspo` and so on.
pub fn variants() -> Vec<&'static str> {
    files::FILES.iter().map(|(name, _)| *name).collect()
}

/// The cases of a row.
///
/// # Panics
/// if there is no such row.
pub fn cases(variant: &str) -> Vec<Case> {
    let (_, text) = files::FILES
        .iter()
        .find(|(name, _)| *name == variant)
        .unwrap_or_else(|| panic!("no vectors {}; there are {}", variant, variants().join(", ")));
    let file: Value = serde_json::from_str(text).expect("the vectors are JSON");
    file["cases"].as_array().into_iter().flatten().map(Case::read).collect()
}

/// What a known mistake is.
pub fn mistake(name: &str) -> Option<Mistake> {
    let start = format!("| {} |", name);
    let cells: Vec<&str> = files::MISTAKES
        .lines()
        .find(|line| line.starts_with(&start))?
        .split(" | ")
        .collect();
    let cell = |k: usize| cells.get(k).map_or(String::new(), |text| text.trim().to_string());
    Some(Mistake {
        wrong: cell(1),
        right: cell(2),
        seen: cell(3),
    })
}

fn number(value: &Value) -> f64 {
    match value {
        Value::String(word) => word.parse().unwrap_or(f64::NAN), // "Infinity", "-Infinity", "NaN"
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        _ => value.as_f64().unwrap_or(f64::NAN),
    }
}

fn put(numbers: &mut Numbers, place: String, value: &Value) {
    match value {
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(k, x)| put(numbers, format!("{}[{}]", place, k), x)),
        Value::Object(map) => map.iter().for_each(|(key, x)| {
            put(
                numbers,
                if place.is_empty() {
                    key.clone()
                } else {
                    format!("{}.{}", place, key)
                },
                x,
            )
        }),
        _ => {
            numbers.insert(place, number(value));
        }
    }
}

fn numbers(value: &Value) -> Numbers {
    let mut found = Numbers::new();
    put(&mut found, String::new(), value);
    found
}

/// The wrong numbers that a case records, and whether they are all.
fn recorded(mistake: &Value) -> (Numbers, bool) {
    match mistake {
        Value::Object(_) => (numbers(mistake), true),
        Value::Array(list) => {
            let key = |x: &Value| x.as_str().map_or_else(|| format!("[{}]", x), |word| format!(".{}", word));
            let place = list[1..list.len() - 1].iter().map(key).collect::<String>();
            (
                Numbers::from([(
                    format!("{}{}", list[0].as_str().unwrap_or(""), place),
                    number(&list[list.len() - 1]),
                )]),
                false,
            )
        }
        _ => (Numbers::from([("loss".to_string(), number(mistake))]), false),
    }
}

/// Advantages are explained apart from the loss.
fn is_advantage(place: &str) -> bool {
    place.starts_with("advantage") || place.starts_with("dynamic_sampling_mask")
}

fn is_right(found: f64, expected: f64, scale: f64, k: f64) -> bool {
    let beyond = expected.abs() + 4.0 * f64::EPSILON * scale.min(f64::MAX) >= f64::MAX;
    found == expected
        || (beyond && found == f64::INFINITY.copysign(expected))
        || (scale > 0.0
            && found.is_finite()
            && expected.is_finite()
            && (found - expected).abs() <= k * f64::EPSILON * scale + TINY)
}

/// Is it the stored number of a mistake? A larger wrong answer may carry an error that is larger in proportion.
fn agrees(found: f64, other: f64, expected: f64, scale: f64, k: f64) -> bool {
    let grown = if expected != 0.0 && scale > 0.0 {
        (other / expected).abs() * scale
    } else {
        0.0
    };
    let size = other.abs().max(scale).max(if grown.is_finite() { grown } else { 0.0 });
    let near = (found - other).abs() <= k * f64::EPSILON * size + STORED_DIGITS * other.abs() + TINY;
    found == other || (found.is_nan() && other.is_nan()) || (found.is_finite() && other.is_finite() && near)
}

/// Of the numbers that a mistake gives: a single NaN is no evidence, nor is the one recorded number where it is NaN, infinite or 0.
fn are_evidence(told: &[f64], in_full: bool) -> bool {
    if in_full {
        told.len() > 1 || told.iter().any(|x| !x.is_nan())
    } else {
        told.iter().any(|x| x.is_finite() && *x != 0.0)
    }
}

impl Case {
    fn read(raw: &Value) -> Case {
        let text = |key: &str, missing: &str| raw[key].as_str().unwrap_or(missing).to_string();
        let flags = raw["flags"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|flag| flag.as_str().map(String::from))
            .collect();
        Case {
            id: text("id", ""),
            kind: text("kind", "objective"),
            flags,
            raw: raw.clone(),
        }
    }

    /// A choice or a number of the objective, `surrogate.kind`; `Null` where it has its default, the first choice or 0.
    pub fn setting(&self, path: &str) -> &Value {
        path.split('.').fold(&self.raw["objective"], |value, key| &value[key])
    }

    /// A number of the objective, `surrogate.eps_low`; 0 where it is left out.
    pub fn setting_number(&self, path: &str) -> f64 {
        Some(self.setting(path)).filter(|value| !value.is_null()).map_or(0.0, number)
    }

    /// An array of the batch with a row for each response; flags are 0 and 1; empty if the case has none.
    pub fn rows(&self, name: &str) -> Vec<Vec<f64>> {
        let row = |row: &Value| row.as_array().into_iter().flatten().map(number).collect();
        self.raw["batch"][name].as_array().into_iter().flatten().map(row).collect()
    }

    /// An array with a number for each response or prompt: `reward`, `group`, `length`.
    pub fn list(&self, name: &str) -> Vec<f64> {
        self.raw["batch"][name].as_array().into_iter().flatten().map(number).collect()
    }

    /// Which tokens count.
    pub fn mask(&self) -> Vec<Vec<bool>> {
        let all = || self.list("length").iter().map(|n| vec![true; *n as usize]).collect();
        if self.raw["batch"]["mask"].is_null() {
            all()
        } else {
            self.rows("mask")
                .iter()
                .map(|row| row.iter().map(|x| *x != 0.0).collect())
                .collect()
        }
    }

    /// Those given with the case, or the exact ones of the objective.
    pub fn advantage(&self) -> Vec<Vec<f64>> {
        let exact = |row: &Value| row.as_array().into_iter().flatten().map(number).collect();
        let given = self.rows("advantage");
        if given.is_empty() {
            self.raw["expect"]["advantage"]
                .as_array()
                .into_iter()
                .flatten()
                .map(exact)
                .collect()
        } else {
            given
        }
    }

    /// Panics at an output that nothing has, and where the case can judge none; the outputs that it judges.
    fn outputs<'a>(&self, answer: &'a Answer) -> BTreeSet<&'a str> {
        let mut lines = files::NAMES.lines().map(|line| line.split(' ').collect::<Vec<_>>());
        let (outputs, metrics) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let expect = &self.raw["expect"];
        let is_metric = |name: &str| {
            let key = name.strip_prefix("report.");
            !expect["report"].is_null() && key.map_or(false, |key| metrics.contains(&key))
        };
        for name in answer.names.iter().map(String::as_str) {
            let known = outputs.contains(&name) || is_metric(name) || !expect[name].is_null();
            assert!(
                known && name != "report",
                "{}: no output is called {}; there are {}",
                self.id,
                name,
                outputs.join(", ")
            );
        }
        let kept = |name: &&str| !expect[*name].is_null() || is_metric(name);
        let judged: BTreeSet<&str> = answer.names.iter().map(String::as_str).filter(kept).collect();
        assert!(!judged.is_empty(), "{}: nothing of the answer can be judged", self.id);
        judged
    }

    /// Panics where a number of an output is missing, or stands where the case has none and is no padding.
    fn check_shape(&self, answer: &Answer, expect: &Numbers) {
        let names = self.outputs(answer);
        let metrics = names.iter().copied().filter(|name| name.starts_with("report."));
        for place in metrics.chain(expect.keys().map(String::as_str)) {
            let name = output_of(place);
            let there = !names.contains(name) || answer.numbers.contains_key(place);
            assert!(there, "{}: {} is missing: {} has not the shape of the case", self.id, place, name);
        }
        for (place, x) in &answer.numbers {
            let free = *x == 0.0 || place.starts_with("report.") || place.starts_with("advantage");
            let fits = free || expect.contains_key(place) || !names.contains(output_of(place));
            assert!(fits, "{}: {} is {} where the case has no number", self.id, place, x);
        }
    }

    /// Place, found, expected and scale of every number that can be judged.
    fn judged(&self, answer: &Answer) -> Vec<(String, f64, f64, f64)> {
        let (expect, scale) = (numbers(&self.raw["expect"]), numbers(&self.raw["scale"]));
        self.check_shape(answer, &expect);
        let both = |(place, found): (&String, &f64)| {
            let metric = place.starts_with("report.");
            let expected = expect.get(place).copied().or(if metric { Some(0.0) } else { None })?; // a metric that is left out is 0
            let size = scale.get(place).copied().unwrap_or(if metric { expected.abs() } else { 0.0 });
            Some((place.clone(), *found, expected, size))
        };
        answer.numbers.iter().filter_map(both).collect()
    }

    /// The numbers that are wrong by more than `k` eps of their scale; 64 is usual.
    ///
    /// # Panics
    /// where the answer has an unknown output, another shape than the case, or nothing that can be judged.
    pub fn compare(&self, answer: &Answer, k: f64) -> Vec<Difference> {
        let wrong = |(place, found, expected, scale): (String, f64, f64, f64)| {
            let allowed = k * f64::EPSILON * scale;
            if is_right(found, expected, scale, k) {
                None
            } else {
                Some(Difference {
                    place,
                    found,
                    expected,
                    allowed,
                })
            }
        };
        self.judged(answer).into_iter().filter_map(wrong).collect()
    }

    /// The known mistakes that give what was found, those in full first.
    pub fn diagnose(&self, answer: &Answer, k: f64) -> Vec<Finding> {
        let (judged, wrong) = (self.judged(answer), self.compare(answer, k));
        let mut found = vec![];
        for (name, mistake) in self.raw["defects"].as_object().into_iter().flatten() {
            let (told, in_full) = recorded(mistake);
            let gives = |stage: bool| {
                let part: Vec<_> = judged.iter().filter(|number| is_advantage(&number.0) == stage).collect();
                let shows = part
                    .iter()
                    .any(|(place, _, e, s)| told.get(place).map_or(false, |x| !agrees(*e, *x, *e, *s, k)));
                let near = |found: f64, expected: f64, scale: f64| {
                    is_right(found, expected, scale, k) || (found - expected).abs() <= 1e-5 * scale
                };
                let same = |(place, f, e, s): &(String, f64, f64, f64)| {
                    told.get(place)
                        .map_or(!in_full || near(*f, *e, *s), |x| agrees(*f, *x, *e, *s, k))
                };
                let given: Vec<f64> = part.iter().filter_map(|number| told.get(&number.0).copied()).collect();
                let fits = shows && are_evidence(&given, in_full) && part.iter().all(|number| same(number));
                fits && wrong.iter().any(|w| is_advantage(&w.place) == stage)
            };
            if gives(true) || gives(false) {
                found.push(Finding {
                    mistake: name.clone(),
                    in_full,
                });
            }
        }
        found.sort_by_key(|finding| !finding.in_full);
        found
    }

    /// What is wrong, in words.
    pub fn report(&self, answer: &Answer, k: f64) -> String {
        let wrong = self.compare(answer, k);
        let mut lines = vec![format!("{}: {} numbers are wrong", self.id, wrong.len())];
        lines.extend(wrong.iter().take(3).map(|difference| format!("    {}", difference)));
        for finding in self.diagnose(answer, k).iter().take(3) {
            let what = if finding.in_full {
                "every number is what it gives"
            } else {
                "the one number that is recorded of it is found"
            };
            let told = mistake(&finding.mistake).map_or(String::new(), |m| {
                format!("; wrong: {}; right: {}; seen in: {}", m.wrong, m.right, m.seen)
            });
            lines.push(format!("    known mistake {}: {}{}", finding.mistake, what, told));
        }
        lines.join("\n")
    }
}
