/* grpo_layout.h - sizes and offsets of the structs, for programs in other languages that redeclare them.
 * An optional part of grpo.h.  In one source file write
 *
 *     #define GRPO_LAYOUT_IMPLEMENTATION
 *     #include "extra/grpo_layout.h"
 *
 * (a file of its own, or behind the implementation of grpo.h) and include it plainly elsewhere.  No objective needs it.
 *
 * A foreign declaration of grpo_batch that lacks a member still runs, but reads one array in place of another.  So before its first call a
 * program passes what it has declared to grpo_layout_check, and stops if that does not return 0 (examples/python, examples/rust).  Structs
 * that are only passed on and never accessed (grpo_objective, grpo_totals, grpo_partial, grpo_moments) need no declaration at all:
 * grpo_sizeof bytes, aligned to 8, all 0, will do. */
#ifndef GRPO_LAYOUT_H
#define GRPO_LAYOUT_H

#include "../grpo.h"

#if GRPO_VERSION_NUMBER != 400
#error "extra/grpo_layout.h and grpo.h are of different versions"
#endif

#ifdef GRPO_DOUBLE
#define grpo_version grpo_version_f64
#define grpo_sizeof grpo_sizeof_f64
#define grpo_layouts grpo_layouts_f64
#define grpo_layout_check grpo_layout_check_f64
#endif

GRPO_C_BEGIN_

/* a member of a struct; or the struct itself, with member "" and offset 0.  Offset and size in bytes */
typedef struct {
    const char *structure;      /* "grpo_batch"; the same name for both element types */
    const char *member;         /* "logp_old"; for grpo_objective also the path of a field, "surrogate.eps_high" */
    int64_t offset, size;
} grpo_layout;

int grpo_version(void);                             /* of the compiled implementation: its GRPO_VERSION_NUMBER */
int64_t grpo_sizeof(const char *structure);         /* 0: there is no struct of this name.  "grpo_real" is the element type */

/* all structs that callers pass or receive, and the members that they access; *count entries, in static memory; for the fields of
 * grpo_objective see grpo_fields */
const grpo_layout *grpo_layouts(int *count);

/* checks that each of `declared` (n >= 0) has this layout here.  The index of the status is the first one that differs: GRPO_NULL, it has
 * no name; GRPO_UNKNOWN, there is no such struct or member; GRPO_OUT_OF_RANGE, its offset or size differs */
grpo_status grpo_layout_check(const grpo_layout *declared, int64_t n);

GRPO_C_END_
#endif /* GRPO_LAYOUT_H */

#if defined(GRPO_LAYOUT_IMPLEMENTATION) && !defined(GRPO_LAYOUT_IMPLEMENTED)
#define GRPO_LAYOUT_IMPLEMENTED

GRPO_C_BEGIN_

#define GRPO_LAYOUT_AT_(name, type, member) { name, #member, (int64_t)offsetof(type, member), (int64_t)sizeof(((type *)0)->member) },
#define GRPO_LAYOUT_BATCH_(member) GRPO_LAYOUT_AT_("grpo_batch", grpo_batch, member)
#define GRPO_LAYOUT_ARRAY_(member, ...) GRPO_LAYOUT_BATCH_(member)
#define GRPO_LAYOUT_OUTPUT_(member) GRPO_LAYOUT_AT_("grpo_output", grpo_output, member)
#define GRPO_LAYOUT_REPORT_(member) GRPO_LAYOUT_AT_("grpo_report", grpo_report, member)
#define GRPO_LAYOUT_TOTALS_(member) GRPO_LAYOUT_AT_("grpo_totals", grpo_totals, member)

/* the element type and the structs, with their names */
#define GRPO_LAYOUT_TYPES_(X) \
    X("grpo_real", grpo_real) X("grpo_dd", grpo_dd) X("grpo_objective", grpo_objective) X("grpo_reward", grpo_reward) \
    X("grpo_advantage", grpo_advantage) X("grpo_ratio_axis", grpo_ratio_axis) X("grpo_surrogate", grpo_surrogate) \
    X("grpo_penalty", grpo_penalty) X("grpo_weight", grpo_weight) X("grpo_aggregation", grpo_aggregation) X("grpo_batch", grpo_batch) \
    X("grpo_output", grpo_output) X("grpo_report", grpo_report) X("grpo_totals", grpo_totals) X("grpo_partial", grpo_partial) \
    X("grpo_moments", grpo_moments) X("grpo_field", grpo_field) X("grpo_domain", grpo_domain) X("grpo_layout", grpo_layout)
#define GRPO_LAYOUT_TYPE_(name, type) { name, "", 0, (int64_t)sizeof(type) },

static const grpo_layout grpo_layouts_table_[] = {
    GRPO_LAYOUT_TYPES_(GRPO_LAYOUT_TYPE_)
    GRPO_LAYOUT_AT_("grpo_layout", grpo_layout, structure) GRPO_LAYOUT_AT_("grpo_layout", grpo_layout, member)
    GRPO_LAYOUT_AT_("grpo_layout", grpo_layout, offset) GRPO_LAYOUT_AT_("grpo_layout", grpo_layout, size)
    GRPO_LAYOUT_AT_("grpo_field", grpo_field, path) GRPO_LAYOUT_AT_("grpo_field", grpo_field, choices)
    GRPO_LAYOUT_AT_("grpo_field", grpo_field, offset) GRPO_LAYOUT_AT_("grpo_field", grpo_field, n_choices)
    GRPO_LAYOUT_AT_("grpo_field", grpo_field, domain)
#ifndef GRPO_NO_ROWS
    GRPO_LAYOUT_TYPE_("grpo_preset", grpo_preset)
    GRPO_LAYOUT_AT_("grpo_preset", grpo_preset, name) GRPO_LAYOUT_AT_("grpo_preset", grpo_preset, paper)
    GRPO_LAYOUT_AT_("grpo_preset", grpo_preset, equations) GRPO_LAYOUT_AT_("grpo_preset", grpo_preset, summary)
#endif
    GRPO_ARRAYS_(GRPO_LAYOUT_ARRAY_)
    GRPO_LAYOUT_BATCH_(n_groups) GRPO_LAYOUT_BATCH_(group_begin) GRPO_LAYOUT_BATCH_(offset) GRPO_LAYOUT_BATCH_(length)
    GRPO_LAYOUT_BATCH_(n_tokens) GRPO_LAYOUT_BATCH_(mask) GRPO_LAYOUT_BATCH_(n_rewards) GRPO_LAYOUT_BATCH_(excluded)
    GRPO_LAYOUT_OUTPUT_(dlogp) GRPO_LAYOUT_OUTPUT_(dentropy) GRPO_LAYOUT_OUTPUT_(term) GRPO_LAYOUT_OUTPUT_(dlog_partition)
    GRPO_LAYOUT_OUTPUT_(ddivergence_ref) GRPO_LAYOUT_OUTPUT_(scratch) GRPO_LAYOUT_OUTPUT_(scratch_size)
    GRPO_LAYOUT_REPORT_(loss) GRPO_LAYOUT_REPORT_(policy_loss) GRPO_LAYOUT_REPORT_(penalty_loss) GRPO_LAYOUT_REPORT_(tokens)
    GRPO_LAYOUT_REPORT_(sequences) GRPO_LAYOUT_REPORT_(groups) GRPO_LAYOUT_REPORT_(masked_tokens) GRPO_LAYOUT_REPORT_(rejected_tokens)
    GRPO_LAYOUT_REPORT_(degenerate_groups) GRPO_LAYOUT_REPORT_(clip_fraction) GRPO_LAYOUT_REPORT_(clip_fraction_low)
    GRPO_LAYOUT_REPORT_(clip_fraction_high) GRPO_LAYOUT_REPORT_(clip_fraction_dual) GRPO_LAYOUT_REPORT_(ratio_mean)
    GRPO_LAYOUT_REPORT_(ratio_min) GRPO_LAYOUT_REPORT_(ratio_max) GRPO_LAYOUT_REPORT_(ess) GRPO_LAYOUT_REPORT_(approx_kl_k1)
    GRPO_LAYOUT_REPORT_(approx_kl_k3) GRPO_LAYOUT_REPORT_(kl_k1) GRPO_LAYOUT_REPORT_(kl_k2) GRPO_LAYOUT_REPORT_(kl_k3)
    GRPO_LAYOUT_REPORT_(entropy) GRPO_LAYOUT_REPORT_(rollout_is_mean) GRPO_LAYOUT_REPORT_(overflow)
    GRPO_LAYOUT_TOTALS_(tokens) GRPO_LAYOUT_TOTALS_(sequences) GRPO_LAYOUT_TOTALS_(sequences_nonempty) GRPO_LAYOUT_TOTALS_(groups)
    GRPO_LAYOUT_TOTALS_(groups_nonempty) GRPO_LAYOUT_TOTALS_(ranks) GRPO_LAYOUT_TOTALS_(positive_tokens)
    GRPO_LAYOUT_TOTALS_(positive_sequences) GRPO_LAYOUT_TOTALS_(nonzero_std_tokens) GRPO_LAYOUT_TOTALS_(nll_tokens)
    GRPO_LAYOUT_TOTALS_(preference_pairs) GRPO_LAYOUT_TOTALS_(rollout_is_count) GRPO_LAYOUT_TOTALS_(rollout_is_sum)
};
#define GRPO_LAYOUTS_ ((int)(sizeof grpo_layouts_table_ / sizeof *grpo_layouts_table_))

int grpo_version(void) { return GRPO_VERSION_NUMBER; }

const grpo_layout *grpo_layouts(int *count) {
    *count = GRPO_LAYOUTS_;
    return grpo_layouts_table_;
}

/* the entry of a struct's member, or of the struct (""); size 0 if there is none of this name */
static grpo_layout grpo_layout_find_(const char *structure, const char *member) {
    grpo_layout none = { structure, member, 0, 0 };
    for (int k = 0; k < GRPO_LAYOUTS_; k++)
        if (!strcmp(grpo_layouts_table_[k].structure, structure) && !strcmp(grpo_layouts_table_[k].member, member))
            return grpo_layouts_table_[k];
#ifndef GRPO_NO_PATHS_
    if (!strcmp(structure, "grpo_objective")) {
        int n;
        const grpo_field *field = grpo_fields(&n);
        for (int k = 0; k < n; k++)
            if (!strcmp(field[k].path, member)) {
                none.offset = field[k].offset;
                none.size = field[k].n_choices ? (int64_t)sizeof(grpo_rule) : (int64_t)sizeof(double);      /* all enums have the same
                                                                                                               size */
            }
    }
#endif
    return none;
}

int64_t grpo_sizeof(const char *structure) { return structure ? grpo_layout_find_(structure, "").size : 0; }

grpo_status grpo_layout_check(const grpo_layout *declared, int64_t n) {
    if (n < 0) return GRPO_STATUS_ARGUMENT_(GRPO_NEGATIVE, 2, -1);
    if (n > 0 && !declared) return GRPO_STATUS_ARGUMENT_(GRPO_NULL, 1, -1);
    for (int64_t k = 0; k < n; k++) {
        grpo_layout here;
        if (!declared[k].structure || !declared[k].member) return GRPO_STATUS_ARGUMENT_(GRPO_NULL, 1, k);
        here = grpo_layout_find_(declared[k].structure, declared[k].member);
        if (!here.size) return GRPO_STATUS_ARGUMENT_(GRPO_UNKNOWN, 1, k);
        if (here.offset != declared[k].offset || here.size != declared[k].size) return GRPO_STATUS_ARGUMENT_(GRPO_OUT_OF_RANGE, 1, k);
    }
    return GRPO_OK;
}

GRPO_C_END_
#endif /* GRPO_LAYOUT_IMPLEMENTATION */
