//! GSPO on its cases: right, and with a mistake that is named; every mistake that is recorded in full; and judging.json.
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

fn number(value: &Value) -> f64 {
    match value {
        Value::String(word) => word.parse().unwrap(),
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        _ => value.as_f64().unwrap(),
    }
}

fn row(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(number).collect()
}

/// The outputs as in the file; those that the mistake has instead, and of a report single metrics.
fn answer_of(expect: &Value, mistake: &Value) -> Answer {
    let mut answer = Answer::new();
    for (name, value) in expect.as_object().unwrap() {
        answer = match mistake.get(name).filter(|wrong| !wrong.is_object()).unwrap_or(value) {
            Value::Array(rows) if rows.iter().any(|row| row.as_array().map_or(false, |row| row.iter().any(Value::is_array))) => answer,
            Value::Array(rows) if rows.iter().all(Value::is_array) => answer.rows(name, &rows.iter().map(row).collect::<Vec<_>>()),
            Value::Array(list) => answer.list(name, &list.iter().map(number).collect::<Vec<_>>()),
            Value::Object(report) => report.iter().fold(answer, |answer, (key, x)| {
                let x = mistake.get(name).and_then(|metrics| metrics.get(key)).unwrap_or(x);
                answer.number(&format!("report.{}", key), number(x))
            }),
            value => answer.number(name, number(value)),
        };
    }
    for (key, x) in mistake.get("report").and_then(Value::as_object).into_iter().flatten() {
        answer = answer.number(&format!("report.{}", key), number(x));
    }
    answer
}

/// What a report says of these numbers and mistakes, of each three at most.
fn reported(case: &Case, answer: &Answer) -> String {
    let wrong = case.compare(answer, 64.0);
    let mut lines = vec![format!("{}: {} numbers are wrong", case.id, wrong.len())];
    for d in wrong.iter().take(3) {
        lines.push(format!("    {}: found {:?}, expected {:?} (allowed: {:.2e})", d.place, d.found, d.expected, d.allowed));
    }
    for finding in case.diagnose(answer, 64.0).into_iter().take(3) {
        let what = ["the one number that is recorded of it is found", "every number is what it gives"][usize::from(finding.in_full)];
        let about = mistake(&finding.mistake).unwrap();
        let told = format!("wrong: {}; right: {}; seen in: {}", about.wrong, about.right, about.seen);
        lines.push(format!("    known mistake {}: {}; {}", finding.mistake, what, told));
    }
    lines.join("\n")
}

#[test]
fn report() {
    let case = &usual()[0];
    let low = case.setting_number("surrogate.eps_low");
    let answer = gspo(case, low, low);
    let wrong = case.compare(&answer, 64.0);
    assert_eq!((wrong.len(), wrong[0].place.as_str()), (1, "loss"));
    assert_eq!(wrong[0].expected, number(&case.raw["expect"]["loss"]));
    assert_eq!(wrong[0].allowed, 64.0 * f64::EPSILON * number(&case.raw["scale"]["loss"]));
    assert!(wrong[0].found != wrong[0].expected);
    let found = &case.diagnose(&answer, 64.0)[0];
    assert_eq!((found.mistake.as_str(), found.in_full), ("CLIP-02a", false));
    let twice: Vec<Vec<f64>> = expected(case, "dlogp").iter().map(|row| row.iter().map(|x| 2.0 * x).collect()).collect();
    let twice = Answer::new().rows("dlogp", &twice);
    assert!(case.compare(&twice, 64.0).len() > 3 && !case.diagnose(&twice, 64.0).is_empty());
    for one in [&answer, &twice] {
        assert_eq!(case.report(one, 64.0), reported(case, one));
    }
    let about = mistake("CLIP-02a").unwrap();
    assert!(about.wrong.starts_with("The upper epsilon is not passed on") && about.seen.starts_with("none known of this option"));
    assert_eq!(about.right, "the upper one above 1");
    for name in ["CLIP-0", "CLIP-02a |", "", "no"] {
        assert_eq!(mistake(name), None);
    }
}

#[test]
fn reads_cases() {
    let case = &usual()[0];
    assert_eq!((case.kind.as_str(), case.setting("surrogate.kind").as_str()), ("objective", Some("ppo_clip")));
    assert_eq!((case.setting_number("surrogate.eps_high"), case.setting_number("penalty.kl_coef")), (4e-4, 0.0));
    assert!(case.setting("penalty.kl").is_null() && case.rows("logp_ref").is_empty() && case.list("length")[2] == 6.0);
    assert_eq!(cases("split")[0].kind, "split");
}

#[test]
fn judging() {
    let file: Value = serde_json::from_str(include_str!("judging.json")).unwrap();
    let (compare, diagnose) = (file["compare"].as_array().unwrap(), file["diagnose"].as_array().unwrap());
    let case_of = |check: &Value| Case {
        id: check["case"].to_string(),
        kind: "objective".into(),
        flags: vec![],
        raw: file["cases"][check["case"].as_str().unwrap()].clone(),
    };
    assert!(compare.len() > 10 && diagnose.len() >= 20);
    for check in compare {
        let wrong = case_of(check).compare(&answer_of(&check["answer"], &Value::Null), 64.0);
        let places: Vec<_> = wrong.iter().map(|d| d.place.as_str()).collect();
        assert_eq!(places, check["wrong"].as_array().unwrap().iter().map(|x| x.as_str().unwrap()).collect::<Vec<_>>(), "{}", check["what"]);
    }
    for check in diagnose {
        let found = case_of(check).diagnose(&answer_of(&check["answer"], &Value::Null), 64.0);
        let found: Vec<Value> = found.into_iter().map(|f| Value::from(vec![Value::from(f.mistake), Value::from(f.in_full)])).collect();
        assert_eq!(&found, check["found"].as_array().unwrap(), "{}", check["what"]);
    }
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
