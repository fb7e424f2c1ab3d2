// gspo.swift - one evaluation of GSPO from Swift (6.0): two prompts with two responses each, as first.c in README.md.
//
//     cc -std=c99 -O2 -c examples/library.c -o grpo.o
//     swiftc -O -I examples/swift examples/swift/gspo.swift grpo.o -lm -o gspo && ./gspo
import Foundation
import grpo  // module.modulemap: what the headers declare; checkLayout compares it with what was compiled

func check(_ status: grpo_status, _ what: String = "") {
    if status == 0 { return }
    var text = [CChar](repeating: 0, count: Int(GRPO_MESSAGE_SIZE))
    FileHandle.standardError.write(Data((what + String(cString: grpo_status_message(status, &text, text.count)) + "\n").utf8))
    exit(1)
}

func at<S, M>(_ path: KeyPath<S, M>, _ structure: String, _ member: String) -> grpo_layout {
    let (offset, size) = (MemoryLayout<S>.offset(of: path)!, MemoryLayout<M>.size)
    return grpo_layout(structure: strdup(structure), member: strdup(member), offset: Int64(offset), size: Int64(size))
}

func checkLayout() {  // the members used here, and each struct as a whole
    let declared = [
        at(\grpo_batch.n_groups, "grpo_batch", "n_groups"), at(\grpo_batch.group_begin, "grpo_batch", "group_begin"),
        at(\grpo_batch.offset, "grpo_batch", "offset"), at(\grpo_batch.length, "grpo_batch", "length"),
        at(\grpo_batch.n_tokens, "grpo_batch", "n_tokens"), at(\grpo_batch.logp, "grpo_batch", "logp"),
        at(\grpo_batch.logp_old, "grpo_batch", "logp_old"), at(\grpo_batch.reward, "grpo_batch", "reward"),
        at(\grpo_batch.self, "grpo_batch", ""), at(\grpo_output.dlogp, "grpo_output", "dlogp"), at(\grpo_output.self, "grpo_output", ""),
        at(\grpo_report.loss, "grpo_report", "loss"), at(\grpo_report.clip_fraction, "grpo_report", "clip_fraction"),
        at(\grpo_report.self, "grpo_report", ""), at(\grpo_objective.self, "grpo_objective", ""),
        at(\grpo_objective.surrogate.eps_high, "grpo_objective", "surrogate.eps_high"),
    ]
    let status = grpo_layout_check(declared, Int64(declared.count))
    if status == 0 { return }
    let wrong = declared[Int(grpo_status_index(status))]
    check(status, String(cString: wrong.structure) + " " + String(cString: wrong.member) + " is not declared as in grpo.h: ")
}

func array<T>(_ numbers: [T]) -> UnsafePointer<T> {  // for C, in one place until deallocate()
    let copy = UnsafeMutableBufferPointer<T>.allocate(capacity: numbers.count)
    _ = copy.initialize(from: numbers)
    return UnsafePointer(copy.baseAddress!)
}

checkLayout()
var batch = grpo_batch(), out = grpo_output(), report = grpo_report(), objective = grpo_objective()  // all 0
(batch.n_groups, batch.n_tokens) = (2, 10)
batch.group_begin = array([0, 2, 4])  // the first response of each prompt, and the end
(batch.offset, batch.length, batch.reward) = (array([0, 3, 5, 8]), array([3, 2, 3, 2]), array([1, 0, 0, 1]))
batch.logp = array([-0.5, -1, -2, -0.1, -3, -1, -1, -0.7, -2, -0.25])
batch.logp_old = array([-0.5001, -1, -2.0002, -0.1, -3.0001, -1, -1, -0.7003, -2.01, -0.2505])
out.dlogp = .allocate(capacity: 10)  // d loss / d logp
var advantage = [Float](repeating: 0, count: 10)
check(grpo_objective_named("gspo", &objective))
objective.surrogate.eps_high = 5e-4  // any choice or number can be changed
check(grpo_advantages(&objective, &batch, &advantage))
check(gspo_loss(&objective, &batch, advantage, nil, &out, &report))
print(String(format: "loss %.6f, %.0f %% of the tokens clipped", report.loss, 100 * report.clip_fraction))
for i in 0..<4 {
    let first = Int(batch.offset[i]), line = "response %ld: advantage %+.4f, d loss / d logp %+.6f per token"
    print(String(format: line, i, advantage[first], out.dlogp[first]))
}
