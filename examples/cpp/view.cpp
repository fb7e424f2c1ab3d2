// view.cpp - how to use view.hpp: GSPO, and GVPO, which needs scratch, on the batch of gspo.cpp; GSPO in two parts; then invalid
// calls, which are refused.
//
//     cc -std=c99 -O2 -c examples/library.c -o grpo.o
//     c++ -std=c++17 -O2 examples/cpp/view.cpp grpo.o -o view && ./view
#include "view.hpp"
#include <array>

int main() {
    const std::vector<int64_t> group_begin{0, 2, 4}, offset{0, 2, 5, 9}, length{2, 3, 4, 1};
    const std::array<float, 4> reward{1, 0, 0.5f, 0.25f};
    std::vector<float> logp{-1, -2, -0.5f, -3, -0.25f, -1.5f, -0.75f, -2.25f, -0.125f, -0.625f};
    const std::vector<float> logp_old{-1.125f, -1.875f, -0.5f, -2.5f, -0.5f, -1.5f, -0.875f, -2.25f, -0.25f, -0.625f};
    std::vector<float> advantage(logp.size()), dlogp(logp.size());

    grpo_batch batch = {};
    batch.n_groups = 2;
    batch.group_begin = group_begin.data();
    batch.offset = offset.data();
    batch.length = length.data();
    batch.n_tokens = static_cast<int64_t>(logp.size());
    batch.logp = logp.data();
    batch.logp_old = batch.logp_ref = logp_old.data();
    batch.reward = reward.data();

    for (const char *name : {"gspo", "gvpo"}) {
        const grpo_report report = grpo::evaluate(grpo::objective(name), batch, advantage, dlogp);
        std::printf("%s: loss %.9f, clipped %.0f %%, d loss / d logp of the last token %.9f\n", name, report.loss,
                    100 * report.clip_fraction, static_cast<double>(dlogp.back()));
    }

    // the same as two micro-batches of a prompt each: loss and gradient have the bits of the whole
    const grpo_objective gspo = grpo::objective("gspo");
    const double whole = grpo::evaluate(gspo, batch, advantage, dlogp).loss;
    std::vector<float> cut(dlogp.size());
    grpo_batch part[2] = {batch, batch};
    grpo_totals totals = {};
    grpo_partial partial = {};
    for (int k = 0; k < 2; k++) {
        part[k].n_groups = 1;
        part[k].group_begin += k;
        grpo::count(gspo, part[k], advantage, totals);
    }
    for (const grpo_batch &some : part) grpo::evaluate_part(gspo, some, advantage, totals, cut, partial);
    std::printf("in two parts: %s\n", grpo::report(partial).loss == whole && cut == dlogp ? "every bit" : "other numbers");
#ifdef __cpp_exceptions
    const auto refused = [&](auto &&call) {
        try { call(); } catch (const std::exception &e) { std::printf("refused: %s\n", e.what()); }
    };
    refused([] { grpo::objective("no such row"); });
    refused([&] { grpo::evaluate(grpo::objective("gspo"), batch, advantage, grpo::span<float>(dlogp.data(), 3)); });
    grpo_objective bonus = grpo::objective("gspo");
    bonus.penalty.entropy_coef = 0.01;
    refused([&] { grpo::evaluate(bonus, batch, advantage, dlogp); });
    logp[3] = NAN;
    refused([&] { grpo::evaluate(grpo::objective("gspo"), batch, advantage, dlogp); });
#endif
    return 0;
}
