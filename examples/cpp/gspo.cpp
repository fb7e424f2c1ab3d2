// gspo.cpp - one evaluation of GSPO from C++11: two prompts with two responses each.
//
//     cc -std=c99 -O2 -c examples/library.c -o grpo.o
//     c++ -std=c++11 -O2 examples/cpp/gspo.cpp grpo.o -o gspo && ./gspo
//
// Or without library.c: #define GSPO_IMPLEMENTATION before the include, in this file alone.
#include "../../gspo.h"
#include <cstdio>
#include <stdexcept>
#include <vector>

static void check(grpo_status st) {
    char text[GRPO_MESSAGE_SIZE];
    if (st != GRPO_OK) throw std::runtime_error(grpo_status_message(st, text, sizeof text));
}

int main() try {
    const std::vector<int64_t> group_begin{0, 2, 4}, offset{0, 2, 5, 9}, length{2, 3, 4, 1};
    const std::vector<float> reward{1, 0, 0.5f, 0.25f};
    const std::vector<float> logp{-1, -2, -0.5f, -3, -0.25f, -1.5f, -0.75f, -2.25f, -0.125f, -0.625f};
    const std::vector<float> logp_old{-1.125f, -1.875f, -0.5f, -2.5f, -0.5f, -1.5f, -0.875f, -2.25f, -0.25f, -0.625f};
    std::vector<float> advantage(logp.size()), dlogp(logp.size());

    grpo_objective objective;
    check(grpo_objective_named("gspo", &objective));

    grpo_batch batch = {};
    batch.n_groups = (int64_t)group_begin.size() - 1;
    batch.group_begin = group_begin.data();
    batch.offset = offset.data();
    batch.length = length.data();
    batch.n_tokens = (int64_t)logp.size();
    batch.logp = logp.data();
    batch.logp_old = logp_old.data();
    batch.reward = reward.data();

    grpo_output out = {};
    grpo_report report;
    out.dlogp = dlogp.data();
    check(grpo_advantages(&objective, &batch, advantage.data()));
    check(gspo_loss(&objective, &batch, advantage.data(), nullptr, &out, &report));

    for (size_t i = 0; i < reward.size(); i++) {
        const size_t first = (size_t)offset[i], last = first + (size_t)length[i];
        std::printf("reward %.2f  advantage %7.4f  d loss / d logp", (double)reward[i], (double)advantage[first]);
        for (size_t t = first; t < last; t++) std::printf(" %9.6f", (double)dlogp[t]);
        std::printf("\n");
    }
    std::printf("loss %.9f, clipped %.0f %%, KL to the old policy %.6f\n", report.loss, 100 * report.clip_fraction, report.approx_kl_k3);
} catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
}
