// gspo.zig - one evaluation of GSPO from Zig (0.15 to 0.17): two prompts with two responses each, as first.c in README.md.
//
//     cc -std=c99 -O2 -c examples/library.c -o grpo.o
//     zig translate-c -lc gspo.h >grpo.zig
//     zig build-exe -lc grpo.o --dep grpo -Mroot=examples/zig/gspo.zig -Mgrpo=grpo.zig -femit-bin=gspo && ./gspo
const std = @import("std");
const c = @import("grpo"); // what gspo.h declares; checkLayout compares it with what was compiled

const Layout = extern struct { structure: [*:0]const u8, member: [*:0]const u8, offset: i64, size: i64 };
extern fn grpo_layout_check(declared: [*]const Layout, n: i64) c.grpo_status;
extern fn printf(format: [*:0]const u8, ...) c_int;

fn check(status: c.grpo_status) void {
    var text: [c.GRPO_MESSAGE_SIZE]u8 = undefined;
    if (status == 0) return;
    std.debug.print("{s}\n", .{std.mem.span(c.grpo_status_message(status, &text, text.len))});
    std.process.exit(1);
}

fn checkLayout() void {
    comptime var all: []const Layout = &.{};
    inline for (.{ "grpo_objective", "grpo_batch", "grpo_output", "grpo_report" }, 0..) |name, k| {
        const T = @field(c, name);
        inline for (if (k == 0) .{} else comptime std.meta.fieldNames(T)) |x|
            all = all ++ .{Layout{ .structure = name, .member = x, .offset = @offsetOf(T, x), .size = @sizeOf(@FieldType(T, x)) }};
        all = all ++ .{Layout{ .structure = name, .member = "", .offset = 0, .size = @sizeOf(T) }};
    }
    const status = grpo_layout_check(all.ptr, all.len);
    if (status == 0) return;
    const wrong = all[@intCast(c.grpo_status_index(status))];
    std.debug.print("{s} {s} is not declared as in grpo.h: ", .{ wrong.structure, wrong.member });
    check(status);
}

pub fn main() void {
    const group_begin = [_]i64{ 0, 2, 4 }; // the first response of each prompt, and the end
    const offset, const length = .{ [_]i64{ 0, 3, 5, 8 }, [_]i64{ 3, 2, 3, 2 } };
    const reward = [_]f32{ 1, 0, 0, 1 };
    const logp = [_]f32{ -0.5, -1, -2, -0.1, -3, -1, -1, -0.7, -2, -0.25 };
    const logp_old = [_]f32{ -0.5001, -1, -2.0002, -0.1, -3.0001, -1, -1, -0.7003, -2.01, -0.2505 };
    var advantage: [logp.len]f32, var dlogp: [logp.len]f32 = .{ undefined, undefined };
    checkLayout();

    var batch: c.grpo_batch = .{ .n_groups = 2, .group_begin = &group_begin, .offset = &offset, .length = &length }; // the rest is 0
    batch.n_tokens = logp.len;
    batch.logp = &logp;
    batch.logp_old = &logp_old;
    batch.reward = &reward;
    const out: c.grpo_output = .{ .dlogp = &dlogp }; // d loss / d logp
    var objective: c.grpo_objective, var report: c.grpo_report = .{ undefined, undefined };
    check(c.grpo_objective_named("gspo", &objective));
    objective.surrogate.eps_high = 5e-4; // any choice or number can be changed
    check(c.grpo_advantages(&objective, &batch, &advantage));
    check(c.gspo_loss(&objective, &batch, &advantage, null, &out, &report));
    _ = printf("loss %.6f, %.0f %% of the tokens clipped\n", report.loss, 100 * report.clip_fraction);
    for (0.., offset) |i, first| {
        const at: usize = @intCast(first);
        _ = printf("response %zu: advantage %+.4f, d loss / d logp %+.6f per token\n", i, @as(f64, advantage[at]), @as(f64, dlogp[at]));
    }
}
