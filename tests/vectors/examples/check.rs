// Tests loss_of, an implementation of GRPO and GSPO, on every case whose objective it knows:
// rustc --edition 2021 -O check.rs -o check && ./check
use std::{iter::Peekable, ops::Index, str::Chars};

const KNOWN: [&str; 5] = ["level token", "level sequence_mean", "kind ppo_clip", "kl k3", "kind seq_mean_token_mean"];
const NUMBERS: [&str; 3] = ["eps_low", "eps_high", "kl_coef"];

// As much JSON as these files need: numbers, true, false and strings (without escapes) are words.
enum Json {
    Word(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}
static ABSENT: Json = Json::Word(String::new());

fn read(text: &mut Peekable<Chars>) -> Json {
    match after_space(text) {
        '"' => Json::Word(text.by_ref().skip(1).take_while(|&c| c != '"').collect()),
        '[' => Json::List(items(text, ']', read)),
        '{' => Json::Map(items(text, '}', |text| (read(text).word().to_string(), read(text)))),
        c if in_word(&c) => Json::Word(std::iter::from_fn(|| text.next_if(in_word)).collect()),
        c => panic!("{c} is not JSON"),
    }
}

fn in_word(c: &char) -> bool {
    c.is_alphanumeric() || "+-.".contains(*c)
}

fn after_space(text: &mut Peekable<Chars>) -> char {
    while text.next_if(|&c| c.is_whitespace() || c == ',' || c == ':').is_some() {}
    *text.peek().expect("more text")
}

fn items<T>(text: &mut Peekable<Chars>, end: char, item: impl Fn(&mut Peekable<Chars>) -> T) -> Vec<T> {
    text.next();
    let list = std::iter::from_fn(|| (after_space(text) != end).then(|| item(text))).collect();
    text.next();
    list
}

impl Index<&str> for Json {
    type Output = Json;
    fn index(&self, key: &str) -> &Json {
        self.map().iter().find(|(name, _)| name == key).map_or(&ABSENT, |(_, value)| value)
    }
}

impl Json {
    fn map(&self) -> &[(String, Json)] {
        if let Json::Map(map) = self { map } else { &[] }
    }
    fn list(&self) -> &[Json] {
        if let Json::List(list) = self { list } else { &[] }
    }
    fn word(&self) -> &str {
        if let Json::Word(word) = self { word } else { "" }
    }
    fn number(&self) -> f64 {
        self.word().parse().unwrap_or(0.0) // also "Infinity", "-Infinity", "NaN"; 0 if absent
    }
    fn at(&self, i: usize, t: usize) -> f64 {
        self.list()[i].list()[t].number()
    }
}

// What an objective does not name is at its default; -inf log-probabilities need a rule of their own.
fn known(case: &Json) -> bool {
    let usual = |(name, x): &(String, Json)| NUMBERS.contains(&&name[..]) || KNOWN.contains(&&format!("{name} {}", x.word())[..]);
    let mut axes = case["objective"].map().iter().filter(|(axis, _)| axis != "reward" && axis != "advantage");
    let finite = case["flags"].list().iter().all(|flag| flag.word() != "NegInf");
    case["kind"].word().is_empty() && finite && axes.all(|(_, fields)| fields.map().iter().all(usual))
}

// In pairs: adding 4096 numbers one after the other loses too much.
fn sum(x: &[f64]) -> f64 {
    let (left, right) = x.split_at(x.len() / 2);
    if x.len() < 2 { x.iter().sum() } else { sum(left) + sum(right) }
}

// Your implementation goes here.
fn loss_of(objective: &Json, batch: &Json, advantage: &Json) -> (f64, Vec<Vec<f64>>) {
    let (sequence, beta) = (objective["ratio"]["level"].word() == "sequence_mean", objective["penalty"]["kl_coef"].number());
    let (low, high) = (1.0 - objective["surrogate"]["eps_low"].number(), 1.0 + objective["surrogate"]["eps_high"].number());
    let (mut terms, mut dlogp, rows) = (vec![], vec![], batch["length"].list());
    for (i, length) in rows.iter().enumerate() {
        let mut row = vec![0.0; length.number() as usize];
        let counts = |t: &usize| batch["mask"].list().get(i).map_or(true, |mask| mask.list()[*t].word() == "true");
        let active: Vec<usize> = (0..row.len()).filter(counts).collect(); // other slots may hold "NaN"
        let ratios: Vec<f64> = active.iter().map(|&t| batch["logp"].at(i, t) - batch["logp_old"].at(i, t)).collect();
        let n = active.len().max(1) as f64;
        let (mean, mut through) = (sum(&ratios) / n, vec![]);
        for (&t, &ratio) in active.iter().zip(&ratios) {
            let (a, w) = (advantage.at(i, t), if sequence { mean } else { ratio }.exp());
            let (plain, clipped) = (if a == 0.0 { 0.0 } else { -w * a }, -w.max(low).min(high) * a); // 0 times infinity is 0
            let d = if beta == 0.0 { 0.0 } else { batch["logp"].at(i, t) - batch["logp_ref"].at(i, t) };
            terms.push((plain.max(clipped) + beta * ((-d).exp_m1() + d)) / n / rows.len() as f64);
            through.push(if clipped > plain { 0.0 } else { plain / n / rows.len() as f64 });
            row[t] = -beta * (-d).exp_m1() / n / rows.len() as f64;
        }
        let shared = sum(&through) / n;
        active.iter().zip(&through).for_each(|(&t, own)| row[t] += if sequence { shared } else { *own });
        dlogp.push(row);
    }
    (sum(&terms), dlogp)
}

fn right(found: f64, expected: f64, scale: f64) -> bool {
    let allowed = 64.0 * f64::EPSILON * scale + 5e-324;
    found == expected || allowed < f64::INFINITY && (found - expected).abs() <= allowed
}

// The first number that is wrong, with its place.
fn wrong(case: &Json) -> Option<String> {
    let (expect, scale, given) = (&case["expect"], &case["scale"], &case["batch"]["advantage"]);
    let (loss, dlogp) = loss_of(&case["objective"], &case["batch"], if given.list().is_empty() { &expect["advantage"] } else { given });
    if !right(loss, expect["loss"].number(), scale["loss"].number()) {
        return Some(format!("loss {loss:?}, expected {}", expect["loss"].word()));
    }
    let mut places = (0..dlogp.len()).flat_map(|i| (0..dlogp[i].len()).map(move |t| (i, t)));
    let (i, t) = places.find(|&(i, t)| !right(dlogp[i][t], expect["dlogp"].at(i, t), scale["dlogp"].at(i, t)))?;
    Some(format!("dlogp[{i}][{t}] {:?}, expected {:?}", dlogp[i][t], expect["dlogp"].at(i, t)))
}

fn main() {
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for file in std::fs::read_dir("..").expect("the vectors").flatten().filter(|file| file.path().extension() == Some("json".as_ref())) {
        let text = std::fs::read_to_string(file.path()).expect("a readable file");
        for case in read(&mut text.chars().peekable())["cases"].list() {
            match known(case).then(|| wrong(case)) {
                None => skipped += 1,
                Some(None) => passed += 1,
                Some(Some(text)) => { println!("{}: {text}", case["id"].word()); failed += 1 }
            }
        }
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    std::process::exit((failed > 0 || passed == 0) as i32);
}
