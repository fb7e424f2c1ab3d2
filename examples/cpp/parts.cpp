// parts.cpp - a batch split as trainers split it: responses of all prompts packed by length into micro-batches with a budget of tokens, the
// prompts' own tokens between them, on two ranks, from logits in bfloat16; advantages per token; truncated importance sampling (TIS).
// Loss, report and d loss / d logits have the bits of the unsplit batch.
//
//     c++ -std=c++17 -O2 examples/cpp/parts.cpp -o parts && ./parts
#define GRPO_CONTEXT_IMPLEMENTATION
#include "../../extra/grpo_context.h"
#define GRPO_LOGITS_IMPLEMENTATION
#include "../../extra/grpo_logits.h"
#include "view.hpp"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

enum { PROMPTS = 7, RESPONSES = 4, ALL = PROMPTS * RESPONSES, VOCAB = 40, BUDGET = 160, RANKS = 2 };

struct sequence { // a prompt and a response to it; token p + 1 was sampled from row p of the logits
    std::size_t prompt_length, length;
    std::vector<int64_t> token;
    std::vector<uint16_t> logits, dlogits;                  // bfloat16
    std::vector<float> logp_old, logp_rollout, advantage;   // of the response's tokens
    float reward;
};

static uint16_t bfloat16(float x) {
    uint32_t bits;
    std::memcpy(&bits, &x, sizeof bits);
    return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static std::vector<sequence> sample() {
    std::mt19937 random(1);
    const auto unit = [&] { return static_cast<float>(random() % 4096) / 4096; };
    std::vector<sequence> all(ALL);
    for (std::size_t i = 0; i < ALL; i++) {
        sequence &s = all[i];
        s.prompt_length = 3 + i / RESPONSES;
        s.length = 2 + random() % 18;
        s.reward = unit() < 0.5f ? 1.0f : 0.0f;
        for (std::size_t p = 0; p < s.prompt_length + s.length; p++) {
            s.token.push_back(static_cast<int64_t>(random() % VOCAB));
            for (int v = 0; v < VOCAB; v++) s.logits.push_back(bfloat16(4 * unit()));
        }
        for (std::size_t t = 0; t < s.length; t++) {
            s.logp_old.push_back(-5 * unit());
            s.logp_rollout.push_back(s.logp_old[t] + (unit() < 0.1f ? -2 * unit() : 0.02f * unit()));
        }
    }
    return all;
}

// sequences with their prompts, one after the other; token arrays have a slot for every row of logits
struct buffer {
    std::vector<sequence *> held;
    std::vector<int64_t> group_begin, offset, length, target;
    std::vector<uint16_t> logits, dlogits;
    std::vector<float> logp_old, logp_rollout, advantage, reward, logp, entropy, dlogp, dentropy;
    std::vector<grpo_logits_part> part;

    void add(sequence &s, bool new_group) {
        const std::size_t first = target.size(), rows = s.prompt_length + s.length;
        if (new_group) group_begin.push_back(static_cast<int64_t>(held.size()));
        held.push_back(&s);
        offset.push_back(static_cast<int64_t>(first + s.prompt_length - 1));         // the row that gave the response's first token
        length.push_back(static_cast<int64_t>(s.length));
        reward.push_back(s.reward);
        logits.insert(logits.end(), s.logits.begin(), s.logits.end());
        for (std::size_t p = 1; p <= rows; p++) target.push_back(p < rows ? s.token[p] : -1);
        const auto put = [&](std::vector<float> &array, const std::vector<float> &from) {
            array.resize(target.size(), NAN);                                       // slots outside the responses are not read
            std::copy(from.begin(), from.end(), array.begin() + offset.back());
        };
        put(logp_old, s.logp_old);
        put(logp_rollout, s.logp_rollout);
        put(advantage, s.advantage);
    }

    grpo_batch view() {
        grpo_batch b = {};
        if (group_begin.back() < static_cast<int64_t>(held.size())) group_begin.push_back(static_cast<int64_t>(held.size()));
        b.n_groups = static_cast<int64_t>(group_begin.size()) - 1;
        b.group_begin = group_begin.data(); b.offset = offset.data(); b.length = length.data();
        b.n_tokens = static_cast<int64_t>(target.size());
        b.logp_old = logp_old.data(); b.logp_rollout = logp_rollout.data(); b.reward = reward.data();
        return b;
    }

    grpo_status loss_add(const grpo_objective &o, const grpo_totals *totals, grpo_partial &partial) {
        const grpo_batch b = view();
        const std::size_t n = target.size();
        for (auto *array : {&logp, &entropy, &dlogp, &dentropy}) array->assign(n, 0);
        part.resize(n);
        dlogits.assign(logits.size(), 0);
        grpo_logits_batch rows = {};
        rows.logits.type = GRPO_LOGITS_BFLOAT16;
        rows.logits.logits = logits.data(); rows.logits.target = target.data();
        rows.logits.rows = b.n_tokens; rows.logits.vocab = rows.logits.stride = VOCAB; rows.logits.temperature = 1;
        rows.part = part.data(); rows.logp = logp.data(); rows.entropy = entropy.data(); rows.dlogits = dlogits.data();
        std::vector<double> scratch(static_cast<std::size_t>(gspo_scratch(&o, &b)));
        grpo_output out = {};
        out.dlogp = dlogp.data(); out.dentropy = dentropy.data();
        out.scratch = scratch.data(); out.scratch_size = static_cast<int64_t>(scratch.size());
        const grpo_status st = grpo_logits_loss_add(&o, &b, advantage.data(), totals, &rows, &out, &partial);
        const uint16_t *from = dlogits.data();
        for (sequence *s : held) { s->dlogits.assign(from, from + s->logits.size()); from += s->logits.size(); }
        return st;
    }
};

// packs sequences into buffers: by length, as many as the budget allows; or whole_groups: prompt by prompt
static std::vector<buffer> pack(std::vector<sequence> &all, bool whole_groups) {
    std::vector<std::size_t> order(ALL);
    for (std::size_t k = 0; k < ALL; k++) order[k] = k;
    const auto shorter = [&](std::size_t a, std::size_t b) { return all[a].length < all[b].length; };
    if (!whole_groups) std::stable_sort(order.begin(), order.end(), shorter);
    const std::size_t together = whole_groups ? RESPONSES : 1;
    std::vector<buffer> parts(1);
    for (std::size_t k = 0; k < ALL; k += together) {
        std::size_t more = 0;
        for (std::size_t j = k; j < k + together; j++) more += all[order[j]].prompt_length + all[order[j]].length;
        if (k && parts.back().target.size() + more > BUDGET) parts.emplace_back();
        for (std::size_t j = k; j < k + together; j++) parts.back().add(all[order[j]], j == k);
    }
    return parts;
}

static grpo_report whole(const grpo_objective &o, std::vector<sequence> &all) {
    buffer one;
    grpo_partial partial = {};
    grpo_totals totals = {};
    grpo_report report;
    for (std::size_t i = 0; i < ALL; i++) one.add(all[i], i % RESPONSES == 0);
    const grpo_batch b = one.view();
    grpo::check(grpo_totals_add(&o, &b, one.advantage.data(), &totals));
    grpo::check(one.loss_add(o, &totals, partial));
    grpo_partial_report(&partial, &report);
    return report;
}

// the evaluation in parts; comments name the communication between ranks
static grpo_report in_parts(const grpo_objective &o, std::vector<buffer> &parts) {
    grpo_totals counted[RANKS] = {}, totals = {};
    grpo_partial partial[RANKS] = {}, merged = {};
    grpo_report report;
    for (std::size_t k = 0; k < parts.size(); k++) {        // totals of all parts: need no logits
        const grpo_batch b = parts[k].view();
        grpo::check(grpo_totals_add(&o, &b, parts[k].advantage.data(), &counted[k % RANKS]));
    }
    for (const grpo_totals &of_rank : counted) grpo::check(grpo_totals_merge(&totals, &of_rank));       // MPI_Allgather, each rank
    // here gradients are summed over ranks; for a framework that averages them set totals.ranks = RANKS
    for (std::size_t k = 0; k < parts.size(); k++) grpo::check(parts[k].loss_add(o, &totals, partial[k % RANKS]));
    for (const grpo_partial &of_rank : partial) grpo::check(grpo_partial_merge(&merged, &of_rank));         // MPI_Allgather, each rank
    grpo_partial_report(&merged, &report);
    return report;
}

static double mean_of_means(const grpo_objective &o, std::vector<buffer> &parts) { // wrong: each part divides by its own tokens
    double mean = 0;
    for (buffer &p : parts) {
        grpo_totals totals = {};
        grpo_partial partial = {};
        grpo_report report;
        const grpo_batch b = p.view();
        grpo::check(grpo_totals_add(&o, &b, p.advantage.data(), &totals));
        grpo::check(p.loss_add(o, &totals, partial));
        grpo_partial_report(&partial, &report);
        mean += report.loss / static_cast<double>(parts.size());
    }
    return mean;
}

// advantages of the whole batch, before it is split: from the rewards of each prompt, times a weight of the caller's for each token
static void make_advantages(const grpo_objective &o, std::vector<sequence> &all) {
    buffer one;
    for (std::size_t i = 0; i < ALL; i++) one.add(all[i], i % RESPONSES == 0);
    const grpo_batch b = one.view();
    one.advantage.resize(one.target.size());
    grpo::check(grpo_advantages(&o, &b, one.advantage.data()));
    for (std::size_t i = 0; i < ALL; i++) {
        const float *A = &one.advantage[static_cast<std::size_t>(one.offset[i])];
        const float n = static_cast<float>(all[i].length);
        all[i].advantage.assign(A, A + all[i].length);
        for (std::size_t t = 0; t < all[i].length; t++) all[i].advantage[t] *= 0.5f + 0.5f * static_cast<float>(t + 1) / n;
    }
}

int main() {
    int failed = 0;
    for (const char *divisor : {"token_mean", "group_mean_token_mean"}) {
        grpo_objective o = grpo::objective("tis");
        grpo::check(grpo_objective_choose(&o, "aggregation.kind", divisor));
        const bool whole_groups = grpo_context_needs_groups(&o) != 0;
        std::vector<sequence> all = sample();
        make_advantages(o, all);
        std::vector<sequence> uncut = all;
        const grpo_report one = whole(o, uncut);
        std::vector<buffer> parts = pack(all, whole_groups);
        const double wrong = mean_of_means(o, parts);
        const grpo_report cut = in_parts(o, parts);
        int rows = 0;
        for (std::size_t i = 0; i < ALL; i++) rows += all[i].dlogits == uncut[i].dlogits;
        const bool same = rows == ALL && std::memcmp(&one.loss, &cut.loss, sizeof one.loss) == 0 && one.clip_fraction == cut.clip_fraction;
        failed += !same;
        const char *of = whole_groups ? "whole prompts" : "any responses";
        std::printf("%s: %zu micro-batches of %s, %d ranks\n", divisor, parts.size(), of, RANKS);
        std::printf("  in one piece        %.9f\n  in parts            %.9f, %s\n", one.loss, cut.loss, same ? "every bit" : "OTHER");
        std::printf("  mean of the parts'  %.9f\n", wrong);
    }
    return failed;
}
