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

// -> loss and its gradient.  advantage: filled from the rewards unless `given`; dentropy: d loss / d entropy, where there is a bonus on it
inline grpo_report evaluate(const grpo_objective &o, const grpo_batch &batch, span<grpo_real> advantage, span<grpo_real> dlogp,
                            bool given = false, span<grpo_real> dentropy = {nullptr, 0}) {
    const std::size_t n = static_cast<std::size_t>(batch.n_tokens);
    grpo_output out = {};
    grpo_report report;
    if (!given) check(grpo_advantages(&o, &batch, advantage.of(n, "advantage has not one element per token")));
    std::vector<double> scratch(static_cast<std::size_t>(gspo_scratch(&o, &batch)));
    out.dlogp = dlogp.of(n, "dlogp has not one element per token");
    if (o.penalty.entropy_coef != 0 || dentropy.size()) out.dentropy = dentropy.of(n, "dentropy has not one element per token");
    if (o.penalty.kl == GRPO_KL_EXTERNAL) fail("penalty.kl external: call gspo_loss, with out.ddivergence_ref");
    out.scratch = scratch.data(); out.scratch_size = static_cast<int64_t>(scratch.size());
    check(gspo_loss(&o, &batch, advantage.of(n, "advantage has not one element per token"), nullptr, &out, &report));
    return report;
}

} // namespace grpo
#endif
