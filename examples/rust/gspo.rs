// gspo.rs - one evaluation of GSPO from Rust (1.56 or later): two prompts with two responses each.
//
//     cc -std=c99 -O2 -c examples/library.c -o grpo.o
//     rustc --edition 2021 -O -C link-arg=grpo.o -C link-arg=-lm examples/rust/gspo.rs -o gspo && ./gspo
//
// bindgen extra/grpo_declarations.h writes what stands here by hand.
use std::ffi::{c_void, CStr};
use std::os::raw::{c_char, c_int};
use std::ptr::null;

// ---- what grpo.h declares; check_layout compares it with what was compiled

#[repr(C)]
struct Layout { structure: *const c_char, member: *const c_char, offset: i64, size: i64 }

macro_rules! structs { // each with its layout, which grpo_layout_check compares
    ($($name:literal $kind:ident { $($member:ident: $type:ty,)* })*) => {
        $(#[repr(C)] struct $kind { $($member: $type,)* })*

        fn declared() -> Vec<Layout> {
            fn text(s: &'static str) -> *const c_char { s.as_ptr() as *const c_char }
            let mut all = vec![];
            $(
                let whole = std::mem::MaybeUninit::<$kind>::zeroed();
                let start = whole.as_ptr();
                let structure = text(concat!($name, "\0"));
                $(
                    let at = unsafe { std::ptr::addr_of!((*start).$member) } as usize - start as usize;
                    all.push(Layout { structure, member: text(concat!(stringify!($member), "\0")), offset: at as i64,
                                      size: std::mem::size_of::<$type>() as i64 });
                )*
                all.push(Layout { structure, member: text("\0"), offset: 0, size: std::mem::size_of::<$kind>() as i64 });
            )*
            all
        }
    };
}

structs! {
    "grpo_batch" Batch {
        n_groups: i64, group_begin: *const i64, offset: *const i64, length: *const i64, n_tokens: i64,
        logp: *const f32, logp_old: *const f32, logp_ref: *const f32, logp_rollout: *const f32, logp_teacher: *const f32,
        entropy: *const f32, value: *const f32, step_reward: *const f32, step_end: *const u8, segment_end: *const u8, mask: *const u8,
        selected: *const u8, kl_mask: *const u8, nll_mask: *const u8, marked: *const u8, shaping_mask: *const u8, state: *const i64,
        token_id: *const i64, sum_pi_squared: *const f32, reward: *const f32, rewards: *const f32, n_rewards: i64,
        reward_weight: *const f32, truncated: *const u8, excluded: *const u8, baseline: *const f32, log_partition: *const f32,
        external_weight: *const f32, eps_low: *const f32, eps_high: *const f32, divergence_ref: *const f32, divergence_old: *const f32,
    }
    "grpo_output" Output {
        dlogp: *mut f32, dentropy: *mut f32, term: *mut f32, ddivergence_ref: *mut f32, dlog_partition: *mut f32, scratch: *mut f64, scratch_size: i64,
    }
    "grpo_report" Report {
        loss: f64, policy_loss: f64, penalty_loss: f64,
        tokens: i64, sequences: i64, groups: i64, masked_tokens: i64, rejected_tokens: i64, degenerate_groups: i64,
        clip_fraction: f64, clip_fraction_low: f64, clip_fraction_high: f64, clip_fraction_dual: f64,
        ratio_mean: f64, ratio_min: f64, ratio_max: f64, ess: f64, approx_kl_k1: f64, approx_kl_k3: f64, kl_k1: f64, kl_k2: f64, kl_k3: f64,
        entropy: f64, rollout_is_mean: f64, overflow: c_int,
    }
}

extern "C" {
    fn grpo_objective_named(name: *const c_char, objective: *mut c_void) -> i64;
    fn grpo_advantages(objective: *const c_void, batch: *const Batch, advantage: *mut f32) -> i64;
    fn gspo_loss(objective: *const c_void, batch: *const Batch, advantage: *const f32, totals: *const c_void, out: *const Output,
                 report: *mut Report) -> i64;
    fn grpo_status_message(status: i64, buffer: *mut c_char, size: usize) -> *const c_char;
    fn grpo_sizeof(structure: *const c_char) -> i64;
    fn grpo_layout_check(declared: *const Layout, n: i64) -> i64;
}

fn check(status: i64) -> Result<(), String> {
    let mut buffer = [0; 160];
    if status == 0 { return Ok(()) }
    Err(unsafe { CStr::from_ptr(grpo_status_message(status, buffer.as_mut_ptr(), buffer.len())) }.to_string_lossy().into_owned())
}

fn check_layout() -> Result<(), String> {
    let all = declared();
    let status = unsafe { grpo_layout_check(all.as_ptr(), all.len() as i64) };
    check(status).map_err(|why| {
        let wrong = &all[(status >> 28) as usize - 1];
        let (structure, member) = unsafe { (CStr::from_ptr(wrong.structure), CStr::from_ptr(wrong.member)) };
        format!("{} {} is not declared as in grpo.h: {}", structure.to_string_lossy(), member.to_string_lossy(), why)
    })
}

// ---- the example

fn main() -> Result<(), String> {
    let (group_begin, offset, length) = ([0i64, 2, 4], [0i64, 2, 5, 9], [2i64, 3, 4, 1]);
    let reward = [1f32, 0.0, 0.5, 0.25];
    let logp = [-1f32, -2.0, -0.5, -3.0, -0.25, -1.5, -0.75, -2.25, -0.125, -0.625];
    let logp_old = [-1.125f32, -1.875, -0.5, -2.5, -0.5, -1.5, -0.875, -2.25, -0.25, -0.625];
    let (mut advantage, mut dlogp) = ([0f32; 10], [0f32; 10]);
    check_layout()?;

    let mut objective = vec![0u64; unsafe { grpo_sizeof(b"grpo_objective\0".as_ptr() as *const c_char) } as usize / 8];
    let objective = objective.as_mut_ptr() as *mut c_void;
    check(unsafe { grpo_objective_named(b"gspo\0".as_ptr() as *const c_char, objective) })?;

    let mut batch: Batch = unsafe { std::mem::zeroed() };
    batch.n_groups = group_begin.len() as i64 - 1;
    batch.group_begin = group_begin.as_ptr();
    batch.offset = offset.as_ptr();
    batch.length = length.as_ptr();
    batch.n_tokens = logp.len() as i64;
    batch.logp = logp.as_ptr();
    batch.logp_old = logp_old.as_ptr();
    batch.reward = reward.as_ptr();

    let mut out: Output = unsafe { std::mem::zeroed() };
    let mut report: Report = unsafe { std::mem::zeroed() };
    out.dlogp = dlogp.as_mut_ptr();
    check(unsafe { grpo_advantages(objective, &batch, advantage.as_mut_ptr()) })?;
    check(unsafe { gspo_loss(objective, &batch, advantage.as_ptr(), null(), &out, &mut report) })?;

    for i in 0..reward.len() {
        let tokens = offset[i] as usize..(offset[i] + length[i]) as usize;
        let gradient: String = dlogp[tokens.clone()].iter().map(|x| format!(" {:9.6}", x)).collect();
        println!("reward {:.2}  advantage {:7.4}  d loss / d logp{}", reward[i], advantage[tokens.start], gradient);
    }
    println!("loss {:.9}, clipped {:.0} %, KL to the old policy {:.6}", report.loss, 100.0 * report.clip_fraction, report.approx_kl_k3);
    Ok(())
}
