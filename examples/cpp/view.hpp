// view.hpp - the C functions from C++17, a little safer: spans that know their length, scratch that frees itself, a status that is checked.
// Header only, over gspo.h; one source file, C or C++, has the implementation.  With -fno-exceptions a bad status ends the program.
#ifndef GRPO_VIEW_HPP
#define GRPO_VIEW_HPP
#if __has_include("gspo.h")
#include "gspo.h"                                   // copied beside the headers, or with their folder in the include path
#else
#include "../../gspo.h"
#endif
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace grpo {

[[noreturn]] inline void fail(const char *text) {
#ifdef __cpp_exceptions
    throw std::runtime_error(text);
#else
    std::fprintf(stderr, "%s\n", text);
    std::exit(1);
#endif
}

inline void check(grpo_status st) {
    char text[GRPO_MESSAGE_SIZE];
    if (st != GRPO_OK) fail(grpo_status_message(st, text, sizeof text));
}

template <class T> class span { // what std::span of C++20 is, as far as it is needed here
    T *data_;
    std::size_t size_;
public:
    span(T *data, std::size_t size) : data_(data), size_(size) {}
    template <class C> span(C &all) : data_(all.data()), size_(all.size()) {}      // a vector, an array, a std::span
    T *data() const { return data_; }
    std::size_t size() const { return size_; }
    T &operator[](std::size_t i) const { return data_[i]; }
    T *of(std::size_t n, const char *name) const { return size_ == n ? data_ : (fail(name), nullptr); }     // it must have n elements
};

inline grpo_objective objective(const char *name) {
    grpo_objective o;
    check(grpo_objective_named(name, &o));
    return o;
}

// what a loss writes and what it needs for that; dentropy: d loss / d entropy, where there is a bonus on it
class output {
    std::vector<double> scratch;
public:
    grpo_output out = {};
    output(const grpo_objective &o, const grpo_batch &batch, span<grpo_real> dlogp, span<grpo_real> dentropy)
        : scratch(static_cast<std::size_t>(gspo_scratch(&o, &batch))) {
        const std::size_t n = static_cast<std::size_t>(batch.n_tokens);
        out.dlogp = dlogp.of(n, "dlogp has not one element per token");
        if (o.penalty.entropy_coef != 0 || dentropy.size()) out.dentropy = dentropy.of(n, "dentropy has not one element per token");
        if (o.penalty.kl == GRPO_KL_EXTERNAL) fail("penalty.kl external: call gspo_loss, with out.ddivergence_ref");
        out.scratch = scratch.data(); out.scratch_size = static_cast<int64_t>(scratch.size());
    }
    output(const output &) = delete;
    output &operator=(const output &) = delete;
};

inline grpo_real *per_token(const grpo_batch &batch, span<grpo_real> advantage) {
    return advantage.of(static_cast<std::size_t>(batch.n_tokens), "advantage has not one element per token");
}

inline void advantages(const grpo_objective &o, const grpo_batch &batch, span<grpo_real> advantage) {
    check(grpo_advantages(&o, &batch, per_token(batch, advantage)));
}

// -> loss and its gradient.  advantage: filled from the rewards unless `given`
inline grpo_report evaluate(const grpo_objective &o, const grpo_batch &batch, span<grpo_real> advantage, span<grpo_real> dlogp,
                            bool given = false, span<grpo_real> dentropy = {nullptr, 0}) {
    grpo_report report;
    if (!given) advantages(o, batch, advantage);
    const output to(o, batch, dlogp, dentropy);
    check(gspo_loss(&o, &batch, per_token(batch, advantage), nullptr, &to.out, &report));
    return report;
}

// Micro-batches and ranks, of whole groups (../cuts.md: what else a part may be): the advantages of whole groups; count every part, add up
// the totals of ranks, set totals.ranks if gradients are averaged over them; then evaluate every part with the same totals, and merge.
inline void count(const grpo_objective &o, const grpo_batch &part, span<grpo_real> advantage, grpo_totals &totals) {
    check(grpo_totals_add(&o, &part, per_token(part, advantage), &totals));
}

inline void evaluate_part(const grpo_objective &o, const grpo_batch &part, span<grpo_real> advantage, const grpo_totals &totals,
                          span<grpo_real> dlogp, grpo_partial &partial, span<grpo_real> dentropy = {nullptr, 0}) {
    const output to(o, part, dlogp, dentropy);
    check(gspo_loss_add(&o, &part, per_token(part, advantage), &totals, &to.out, &partial));
}

inline void merge(grpo_partial &into, const grpo_partial &from) { check(grpo_partial_merge(&into, &from)); }

inline grpo_report report(const grpo_partial &partial) {
    grpo_report found;
    grpo_partial_report(&partial, &found);
    return found;
}

} // namespace grpo
#endif
