//! An adapter in Rust with serde_json: GRPO (with the KL k3) and GSPO, loss and dlogp in f64. Let `response` call your own code.
use serde_json::{json, Value};
use std::io::{stdin, BufRead};

/// The strings "Infinity", "-Infinity" and "NaN" are numbers too; Rust parses these words.
fn number(x: &Value) -> f64 { x.as_f64().unwrap_or_else(|| x.as_str().map_or(0.0, |s| s.parse().unwrap())) }
fn plain(x: f64) -> Value {
    if x.is_finite() { json!(x) } else { json!(if x.is_nan() { "NaN" } else if x > 0.0 { "Infinity" } else { "-Infinity" }) }
}
fn row(x: &Value) -> Vec<f64> { x.as_array().map_or(vec![], |all| all.iter().map(number).collect()) }
/// -inf minus -inf is 0
fn difference(x: f64, y: f64) -> f64 { if x == y { 0.0 } else { x - y } }
/// Neumaier's sum, which keeps the digits that a running sum over thousands of tokens loses; infinities of both signs cancel.
fn sum(all: impl Iterator<Item = f64>) -> f64 {
    let (mut total, mut lost, mut infinite) = (0.0f64, 0.0, 0.0);
    for x in all {
        if x.is_infinite() { infinite += x.signum(); continue; }
        let next = total + x;
        (lost, total) = (lost + if total.abs() >= x.abs() { (total - next) + x } else { (x - next) + total }, next);
    }
    if infinite != 0.0 { infinite * f64::INFINITY } else { total + lost }
}
/// 0 times infinity is 0
fn times(x: f64, y: f64) -> f64 { if x == 0.0 || y == 0.0 { 0.0 } else { x * y } }
/// -min(w A, clip(w) A), and its derivative by the log-ratio
fn clipped(d: f64, a: f64, low: f64, high: f64) -> (f64, f64) {
    let w = d.exp();
    let (free, bound) = (-times(w, a), -times(w.max(1.0 - low).min(1.0 + high), a));
    if free >= bound { (free, free) } else { (bound, 0.0) }
}
/// e^q - q - 1 of q = ref - logp, by a series where the sum would cancel, and its derivative by logp
fn k3(q: f64) -> (f64, f64) {
    let series = q * q / 2.0 * (1.0 + q / 3.0 * (1.0 + q / 4.0 * (1.0 + q / 5.0 * (1.0 + q / 6.0))));
    (if q.abs() < 1e-3 { series } else if q > 700.0 { q.exp_m1() } else { q.exp_m1() - q }, -q.exp_m1())
}
/// One response, of the tokens that count alone: the mean of its terms, and the gradient of that mean.
fn response(o: &Value, logp: &[f64], old: &[f64], reference: &[f64], a: &[f64]) -> (f64, Vec<f64>) {
    let (n, low, high) = (logp.len() as f64, number(&o["surrogate"]["eps_low"]), number(&o["surrogate"]["eps_high"]));
    let mut d: Vec<f64> = logp.iter().zip(old).map(|(l, f)| difference(*l, *f)).collect();
    let whole = o["ratio"]["level"] == "sequence_mean";
    if whole { d = vec![sum(logp.iter().copied().chain(old.iter().map(|f| -f))) / n; d.len()]; }
    let terms: Vec<(f64, f64)> = d.iter().zip(a).map(|(x, a)| clipped(*x, *a, low, high)).collect();
    let through = sum(terms.iter().map(|t| t.1)) / n; // GSPO: the gradient of every token goes through the mean
    let mut values: Vec<f64> = terms.iter().map(|t| t.0).collect();
    let mut slope: Vec<f64> = terms.iter().map(|t| if whole { through } else { t.1 }).collect();
    if o["penalty"]["kl"] == "k3" {
        for t in 0..logp.len() {
            let (coef, (value, by_logp)) = (number(&o["penalty"]["kl_coef"]), k3(difference(reference[t], logp[t])));
            (values[t], slope[t]) = (values[t] + coef * value, slope[t] + coef * by_logp);
        }
    }
    (sum(values.into_iter()) / n, slope.iter().map(|x| x / n).collect())
}
/// A mean over responses of means over the tokens that count. None: another objective.
fn loss(case: &Value) -> Option<Value> {
    let (o, b) = (&case["objective"], &case["batch"]);
    let row_of = (o["ratio"]["level"].as_str()?, o["penalty"]["kl"].as_str().unwrap_or("none"));
    let is_known = case["kind"] == "objective" && matches!(row_of, ("token", "k3") | ("sequence_mean", "none"));
    let fields = |axis: &str, known: &[&str]| o[axis].as_object().map_or(true, |x| x.keys().all(|k| known.contains(&k.as_str())));
    let plain_axes = fields("ratio", &["level"]) && fields("surrogate", &["kind", "eps_low", "eps_high"]) && o["weight"].is_null()
        && fields("penalty", &["kl", "kl_coef"]) && fields("aggregation", &["kind"]);
    let kinds = (o["surrogate"]["kind"].as_str()?, o["aggregation"]["kind"].as_str()?) == ("ppo_clip", "seq_mean_token_mean");
    if !is_known || !plain_axes || !kinds { return None; }
    let length = row(&b["length"]);
    let (mut total, mut dlogp, rows): (f64, Vec<Vec<Value>>, f64) = (0.0, vec![], length.len() as f64);
    for (i, n) in length.iter().map(|n| *n as usize).enumerate() {
        let counts: Vec<usize> = (0..n).filter(|t| b["mask"].is_null() || b["mask"][i][*t] == true).collect();
        let of = |x: &Value| { let all = row(&x[i]); counts.iter().map(|t| all.get(*t).copied().unwrap_or(0.0)).collect::<Vec<f64>>() };
        dlogp.push(vec![json!(0.0); n]);
        if counts.is_empty() { continue; }
        let (value, slope) = response(o, &of(&b["logp"]), &of(&b["logp_old"]), &of(&b["logp_ref"]), &of(&case["advantage"]));
        total += value / rows;
        counts.iter().zip(slope).for_each(|(t, x)| dlogp[i][*t] = plain(x / rows));
    }
    Some(json!({ "loss": plain(total), "dlogp": dlogp }))
}
fn main() {
    for line in stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let answer = match request["cmd"].as_str() {
            Some("start") if request["precision"] != "f64" => json!({ "error": "only f64" }),
            Some("start") => json!({ "version": 1, "name": "adapter.rs", "language": "rust", "release": "0",
                                     "precision": "f64", "outputs": ["loss", "dlogp"] }),
            Some("run") => loss(&request["case"]).map_or(json!({ "seq": request["seq"], "skip": "not this objective" }),
                                                         |result| json!({ "seq": request["seq"], "result": result })),
            _ => break,
        };
        println!("{answer}");
    }
}
