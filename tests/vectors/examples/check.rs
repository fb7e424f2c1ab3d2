// A whole test of an implementation of GRPO and GSPO against ../*.json, with Rust's standard library alone:
// rustc --edition 2021 -O check.rs -o check && ./check
// `loss_of` is the implementation; everything else is reading, comparing and counting.
use std::collections::HashMap;

const K: f64 = 16.0; // tolerance: K * 2^-52 * scale

// ---- a JSON reader: as much as these files need

enum Json {
    Null,
    Bool(bool),
    Number(f64),
    Text(String),
    List(Vec<Json>),
    Map(HashMap<String, Json>),
}

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Reader<'_> {
    fn peek(&mut self) -> u8 {
        while self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        self.text[self.at]
    }

    fn skip(&mut self, c: u8) -> bool {
        let found = self.peek() == c;
        self.at += found as usize;
        found
    }

    fn string(&mut self) -> String {
        self.skip(b'"'); // these files have no escapes
        let length = self.text[self.at..].iter().position(|&c| c == b'"').expect("end of string");
        self.at += length + 1;
        String::from_utf8_lossy(&self.text[self.at - length - 1..self.at - 1]).into_owned()
    }

    fn value(&mut self) -> Json {
        match self.peek() {
            b'"' => Json::Text(self.string()),
            b'[' => Json::List(self.items(b']', |r| r.value())),
            b'{' => Json::Map(self.items(b'}', |r| (r.string(), (r.skip(b':'), r.value()).1))),
            _ => self.word(),
        }
    }

    fn items<T, C: FromIterator<T>>(&mut self, end: u8, item: impl Fn(&mut Self) -> T) -> C {
        self.at += 1;
        std::iter::from_fn(|| (!self.skip(end)).then(|| (item(self), self.skip(b',')).0)).collect()
    }

    fn word(&mut self) -> Json {
        let start = self.at;
        while self.text[self.at].is_ascii_alphanumeric() || b"+-.".contains(&self.text[self.at]) {
            self.at += 1;
        }
        match std::str::from_utf8(&self.text[start..self.at]).expect("ASCII") {
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            number => number.parse().map_or(Json::Null, Json::Number),
        }
    }
}

impl Json {
    fn get(&self, key: &str) -> &Json {
        match self {
            Json::Map(map) => map.get(key).unwrap_or(&Json::Null),
            _ => &Json::Null,
        }
    }

    fn list(&self) -> &[Json] {
        if let Json::List(list) = self { list } else { &[] }
    }

    fn number(&self) -> f64 {
        match self {
            Json::Number(x) => *x,
            Json::Text(s) => s.parse().expect("Infinity, -Infinity or NaN"),
            _ => f64::NAN,
        }
    }

    fn token(&self, i: usize, t: usize) -> f64 {
        self.list()[i].list()[t].number()
    }
}

// ---- the objective

/// Compensated (Neumaier): adding 4096 numbers in order loses more than the tolerance.
fn sum(xs: impl IntoIterator<Item = f64>) -> f64 {
    let (mut total, mut lost) = (0.0f64, 0.0);
    for x in xs {
        let next = total + x;
        lost += if total.abs() >= x.abs() { total - next + x } else { x - next + total };
        total = next;
    }
    if total.is_finite() { total + lost } else { total }
}

/// Sum of x - y, where -inf stands for -K with one K: as many in x as in y cancel.
fn sum_of_differences(pairs: &[(f64, f64)]) -> f64 {
    let infinite: i32 = pairs.iter().map(|(x, y)| y.is_infinite() as i32 - x.is_infinite() as i32).sum();
    let finite = |x: f64| if x.is_finite() { x } else { 0.0 };
    if infinite != 0 { infinite as f64 * f64::INFINITY } else { sum(pairs.iter().map(|&(x, y)| finite(x) - finite(y))) }
}

/// e^-D + D - 1 and its derivative; the sum cancels for small D, so its series there.
fn k3(d: f64) -> (f64, f64) {
    if d.abs() >= 0.1 {
        return ((-d).exp() + d.max(f64::MIN) - 1.0, 1.0 - (-d).exp());
    }
    let series = (3..=12).rev().fold(1.0, |s, n| 1.0 - d / n as f64 * s);
    (d * d / 2.0 * series, -(-d).exp_m1())
}

/// max(-w A, -clip(w) A) and its derivative with respect to log w.
fn clipped(a: f64, w: f64, low: f64, high: f64) -> (f64, f64) {
    let bound = if a > 0.0 && w > high { high } else if a < 0.0 && w < low { low } else { 0.0 };
    if bound != 0.0 { (-a * bound, 0.0) } else if a == 0.0 { (0.0, 0.0) } else { (-w * a, -w * a) }
}

/// Loss and d loss / d logp of GRPO (ratio of a token) or GSPO (ratio of a sequence).
fn loss_of(objective: &Json, batch: &Json, advantage: &Json) -> (f64, Vec<Vec<f64>>) {
    let surrogate = |key| objective.get("surrogate").get(key).number();
    let (beta, lengths) = (objective.get("penalty").get("kl_coef").number(), batch.get("length").list());
    let sequence = matches!(objective.get("ratio").get("unit"), Json::Text(s) if s == "sequence_mean");
    let (mut terms, mut dlogp) = (Vec::new(), Vec::new());
    for (i, length) in lengths.iter().enumerate() {
        let mut row = vec![0.0; length.number() as usize];
        let counts = |t: &usize| batch.get("mask").list().get(i).map_or(true, |m| matches!(m.list()[*t], Json::Bool(true)));
        let active: Vec<usize> = (0..row.len()).filter(counts).collect();
        let (n, pair) = (active.len().max(1) as f64, |t, other| (batch.get("logp").token(i, t), batch.get(other).token(i, t)));
        let c = 1.0 / (lengths.len() as f64 * n);
        let mean = sum_of_differences(&active.iter().map(|&t| pair(t, "logp_old")).collect::<Vec<_>>()) / n;
        let mut through = Vec::new();
        for &t in &active {
            let y = if sequence { mean } else { sum_of_differences(&[pair(t, "logp_old")]) };
            let (s, ds) = clipped(advantage.token(i, t), y.exp(), 1.0 - surrogate("eps_low"), 1.0 + surrogate("eps_high"));
            let (p, dp) = if beta != 0.0 { k3(sum_of_differences(&[pair(t, "logp_ref")])) } else { (0.0, 0.0) };
            terms.push(c * (s + beta * p));
            through.push(c * ds);
            row[t] = c * beta * dp + if sequence { 0.0 } else { c * ds };
        }
        let shared = if sequence { sum(through) / n } else { 0.0 };
        active.iter().for_each(|&t| row[t] += shared);
        dlogp.push(row);
    }
    (sum(terms), dlogp)
}

// ---- the test

fn close(found: f64, expected: f64, scale: f64) -> bool {
    let allowed = K * f64::EPSILON * scale + 5e-324;
    found == expected || allowed.is_finite() && (found - expected).abs() <= allowed
}

/// The first number that is wrong, as text.
fn difference(case: &Json) -> Option<String> {
    let (expect, scale, batch) = (case.get("expect"), case.get("scale"), case.get("batch"));
    let advantage = if batch.get("advantage").list().is_empty() { expect } else { batch }.get("advantage");
    let (loss, dlogp) = loss_of(case.get("objective"), batch, advantage);
    if !close(loss, expect.get("loss").number(), scale.get("loss").number()) {
        return Some(format!("loss {loss}, expected {}", expect.get("loss").number()));
    }
    for (i, row) in dlogp.iter().enumerate() {
        for (t, &x) in row.iter().enumerate() {
            if !close(x, expect.get("dlogp").token(i, t), scale.get("dlogp").token(i, t)) {
                return Some(format!("dlogp[{i}][{t}] {x}, expected {}", expect.get("dlogp").token(i, t)));
            }
        }
    }
    None
}

fn main() {
    let (mut passed, mut failed) = (0, 0);
    for name in ["gspo", "grpo"] {
        let file = Reader { text: &std::fs::read(format!("../{name}.json")).expect(name), at: 0 }.value();
        for case in file.get("cases").list() {
            match (difference(case), case.get("id")) {
                (Some(wrong), Json::Text(id)) => { println!("{id}: {wrong}"); failed += 1 }
                _ => passed += 1,
            }
        }
    }
    println!("{passed} passed, {failed} failed");
    std::process::exit((failed > 0) as i32);
}
