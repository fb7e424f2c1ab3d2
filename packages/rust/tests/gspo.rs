//! GSPO on its cases: right, and with a mistake that is named; and every mistake that is recorded in full.
use grpo_conformance::{cases, mistake, variants, Answer, Case};
use serde_json::Value;

fn sum(x: &[f64]) -> f64 {
    if x.len() < 2 {
        x.iter().sum()
    } else {
        sum(&x[..x.len() / 2]) + sum(&x[x.len() / 2..])
    }
}

fn gspo(case: &Case, eps_low: f64, eps_high: f64) -> Answer {
    let (logp, old, advantage, mask) = (case.rows("logp"), case.rows("logp_old"), case.advantage(), case.mask());
    let (mut terms, mut dlogp) = (vec![], vec![]);
    for i in 0..logp.len() {
        let active: Vec<usize> = (0..logp[i].len()).filter(|&t| mask[i][t]).collect();
        let n = active.len().max(1) as f64;
        let w = (sum(&active.iter().map(|&t| logp[i][t] - old[i][t]).collect::<Vec<_>>()) / n).exp();
        let (mut through, each) = (vec![], 1.0 / n / logp.len() as f64);
        for &t in &active {
            let (plain, clipped) = (
                -w * advantage[i][t],
                -w.max(1.0 - eps_low).min(1.0 + eps_high) * advantage[i][t],
            );
            terms.push(plain.max(clipped) * each);
            through.push(if plain >= clipped { plain * each } else { 0.0 });
        }
        let shared = sum(&through) / n;
        dlogp.push((0..logp[i].len()).map(|t| if mask[i][t] { shared } else { 0.0 }).collect());
    }
    Answer::new().number("loss", sum(&terms)).rows("dlogp", &dlogp)
}

fn usual() -> Vec<Case> {
    cases("gspo")
        .into_iter()
        .filter(|case| !case.flags.iter().any(|flag| flag == "NegInf" || flag == "Extreme"))
        .collect()
}

#[test]
fn right() {
    assert!(usual().len() > 20);
    for case in usual() {
        let answer = gspo(
            &case,
            case.setting_number("surrogate.eps_low"),
            case.setting_number("surrogate.eps_high"),
        );
        assert!(case.compare(&answer, 64.0).is_empty(), "{}", case.report(&answer, 64.0));
    }
}

#[test]
fn planted() {
    let case = &usual()[0];
    let low = case.setting_number("surrogate.eps_low");
    let answer = gspo(case, low, low);
    let report = case.report(&answer, 64.0);
    assert!(
        report.contains("known mistake CLIP-02a") && report.contains("The upper epsilon is not passed on"),
        "{}",
        report
    );
}

fn answer_of(expect: &Value, mistake: &Value) -> Answer {
    let mut answer = Answer::new();
    for (name, value) in expect.as_object().unwrap() {
        let value = mistake.get(name).filter(|wrong| !wrong.is_object()).unwrap_or(value);
        answer = match value {
            Value::Array(rows) if rows.iter().all(Value::is_array) => {
                let row = |row: &Value| {
                    row.as_array()
                        .unwrap()
                        .iter()
                        .map(|x| x.as_f64().unwrap_or_else(|| x.as_str().unwrap().parse().unwrap()))
                        .collect()
                };
                answer.rows(name, &rows.iter().map(row).collect::<Vec<_>>())
            }
            Value::Number(_) | Value::String(_) => answer.number(
                name,
                value.as_f64().unwrap_or_else(|| value.as_str().unwrap().parse().unwrap()),
            ),
            _ => answer,
        };
    }
    answer
}

fn expected(case: &Case, name: &str) -> Vec<Vec<f64>> {
    let rows = case.raw["expect"][name].as_array().unwrap().iter();
    rows.map(|row| row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect())
        .collect()
}

fn panics<T>(what: impl FnOnce() -> T + std::panic::UnwindSafe) -> bool {
    std::panic::catch_unwind(what).is_err()
}

#[test]
fn refused() {
    let case = &usual()[0];
    let dlogp = expected(case, "dlogp");
    let (cut, mut long): (Vec<_>, Vec<_>) = (dlogp.iter().map(|row| row[..1].to_vec()).collect(), dlogp.clone());
    long[0].push(1.0);
    let loss = || Answer::new().number("loss", case.raw["expect"]["loss"].as_f64().unwrap());
    let bad = vec![
        Answer::new(),
        Answer::new().number("Loss", 9.0).rows("dLogp", &dlogp),
        loss().rows("gradient", &dlogp),
        Answer::new().rows("loss", &dlogp),
        loss().rows("dlogp", &[]),
        loss().rows("dlogp", &cut),
        loss().rows("dlogp", &long),
        loss().list("dlogp", &dlogp.concat()),
        loss().number("dlogp", 0.0),
        loss().number("report.cilp_fraction", 0.0),
        loss().number("report", 0.0),
        loss().rows("report.clip_fraction", &[vec![0.0]]),
        loss().list("report.clip_fraction", &[]),
        Answer::new().rows("dlogits", &dlogp),
    ];
    for (n, answer) in bad.into_iter().enumerate() {
        let case = case.clone();
        assert!(panics(move || case.compare(&answer, 64.0)), "green: {}", n);
    }
    *long[0].last_mut().unwrap() = 0.0; // padding
    assert!(case.compare(&loss().rows("dlogp", &long), 64.0).is_empty());
}

#[test]
fn misspelt_row() {
    assert!(panics(|| cases("gspoo")));
}

#[test]
fn nan_is_no_evidence() {
    for case in ["gspo", "grpo", "dapo"].iter().flat_map(|row| cases(row)) {
        let found = case.diagnose(&Answer::new().number("loss", f64::NAN), 64.0);
        assert!(found.is_empty(), "{} {:?}", case.id, found);
    }
}

#[test]
fn every_mistake_in_full() {
    let mut named = 0;
    for case in variants().into_iter().flat_map(cases).filter(|case| case.kind == "objective") {
        assert!(
            case.compare(&answer_of(&case.raw["expect"], &Value::Null), 1.0).is_empty(),
            "{}",
            case.id
        );
        for (name, wrong) in case.raw["defects"].as_object().into_iter().flatten() {
            let answer = answer_of(&case.raw["expect"], wrong);
            if wrong.is_object() && !case.compare(&answer, 64.0).is_empty() {
                assert!(
                    case.diagnose(&answer, 64.0)
                        .iter()
                        .any(|finding| finding.in_full && finding.mistake == *name),
                    "{} {}",
                    case.id,
                    name
                );
                assert!(!mistake(name).unwrap().right.is_empty());
                named += 1;
            }
        }
    }
    assert!(named > 1000, "{}", named);
}
