/* extra/grpo_layout.h: its sizes and offsets are those of the compiler, it lists every member, and a declaration that differs in any entry
 * is refused with the index of that entry. */
#include "../../gspo.h"
#include "../../extra/grpo_layout.h"
#include "../support/check.h"

static void test_sizes(void) {
    check(grpo_version() == GRPO_VERSION_NUMBER, "version %d", grpo_version());
    check(grpo_sizeof("grpo_real") == (int64_t)sizeof(grpo_real), "grpo_real");
    check(grpo_sizeof("grpo_objective") == (int64_t)sizeof(grpo_objective), "grpo_objective");
    check(grpo_sizeof("grpo_batch") == (int64_t)sizeof(grpo_batch), "grpo_batch");
    check(grpo_sizeof("grpo_output") == (int64_t)sizeof(grpo_output), "grpo_output");
    check(grpo_sizeof("grpo_report") == (int64_t)sizeof(grpo_report), "grpo_report");
    check(grpo_sizeof("grpo_totals") == (int64_t)sizeof(grpo_totals), "grpo_totals");
    check(grpo_sizeof("grpo_partial") == (int64_t)sizeof(grpo_partial), "grpo_partial");
    check(grpo_sizeof("grpo_moments") == (int64_t)sizeof(grpo_moments), "grpo_moments");
    check(grpo_sizeof("grpo_nothing") == 0 && grpo_sizeof("") == 0 && grpo_sizeof(NULL) == 0, "a size of nothing");
}

static int is(const grpo_layout *x, const char *structure, const char *member) {
    return !strcmp(x->structure, structure) && !strcmp(x->member, member);
}

/* a batch and a report, written at the table's offsets and read through the structs */
static void test_offsets(void) {
    int n;
    const grpo_layout *layout = grpo_layouts(&n);
    grpo_batch b;
    grpo_report r;
    const void *const address = &b;
    const double loss = 0.25;
    const int64_t tokens = 77;
    memset(&b, 0, sizeof b);
    memset(&r, 0, sizeof r);
    for (int k = 0; k < n; k++) {
        const grpo_layout *x = &layout[k];
        if (is(x, "grpo_batch", "logp_old")) memcpy((char *)&b + x->offset, &address, (size_t)x->size);
        if (is(x, "grpo_batch", "n_tokens")) memcpy((char *)&b + x->offset, &tokens, (size_t)x->size);
        if (is(x, "grpo_report", "loss")) memcpy((char *)&r + x->offset, &loss, (size_t)x->size);
    }
    check((const void *)b.logp_old == address && !b.logp && !b.logp_ref && b.n_tokens == 77 && r.loss == 0.25, "written by name");
}

/* the table's members cover the struct without a gap other than alignment, so none is missing */
static void test_members_fill(const char *structure) {
    int n;
    int64_t end = 0, size = grpo_sizeof(structure);
    const grpo_layout *layout = grpo_layouts(&n);
    for (int found = 1; found; ) {
        found = 0;
        for (int k = 0; k < n && !found; k++)
            if (!strcmp(layout[k].structure, structure) && *layout[k].member && layout[k].offset == end) {
                end += layout[k].size;
                found = 1;
            }
    }
    check(size > 0 && end <= size && end > size - 8, "%s: its members reach %d of %d bytes", structure, (int)end, (int)size);
}

static void expect(grpo_layout declared, grpo_rule rule) {
    grpo_layout list[2] = { { "grpo_real", "", 0, (int64_t)sizeof(grpo_real) }, { 0, 0, 0, 0 } };
    grpo_status st;
    list[1] = declared;
    st = grpo_layout_check(list, 2);
    check(st == (rule == GRPO_NO_RULE ? GRPO_OK : GRPO_STATUS_ARGUMENT_(rule, 1, 1)), "%s.%s (%d, %d): rule %d at %d",
          declared.structure ? declared.structure : "?", declared.member ? declared.member : "?", (int)declared.offset, (int)declared.size,
          grpo_status_rule(st), (int)grpo_status_index(st));
}

static void test_each(const char *structure, const char *member, int64_t offset, int64_t size) {
    expect((grpo_layout){ structure, member, offset, size }, GRPO_NO_RULE);
    expect((grpo_layout){ structure, member, offset + 8, size }, GRPO_OUT_OF_RANGE);
    expect((grpo_layout){ structure, member, offset, size + 4 }, GRPO_OUT_OF_RANGE);
}

static void test_checks(void) {
    int n;
    const grpo_layout *layout = grpo_layouts(&n);
    const grpo_field *field;
    check(grpo_layout_check(layout, n) == GRPO_OK && grpo_layout_check(NULL, 0) == GRPO_OK, "the table itself");
    for (int k = 0; k < n; k++) test_each(layout[k].structure, layout[k].member, layout[k].offset, layout[k].size);
    field = grpo_fields(&n);
    for (int k = 0; k < n; k++)
        test_each("grpo_objective", field[k].path, field[k].offset, (int64_t)(field[k].choices ? sizeof(grpo_kl_kind) : sizeof(double)));
    expect((grpo_layout){ "grpo_objective", "surrogate.eps_high", offsetof(grpo_objective, surrogate.eps_high), 8 }, GRPO_NO_RULE);
    /* the last members are as small as the padding that test_members_fill permits */
    expect((grpo_layout){ "grpo_field", "n_choices", offsetof(grpo_field, n_choices), (int64_t)sizeof(((grpo_field *)0)->n_choices) },
           GRPO_NO_RULE);
    expect((grpo_layout){ "grpo_field", "domain", offsetof(grpo_field, domain), (int64_t)sizeof(((grpo_field *)0)->domain) }, GRPO_NO_RULE);
    expect((grpo_layout){ "grpo_batch", "logprob", 0, 8 }, GRPO_UNKNOWN);
    expect((grpo_layout){ "batch", "logp", offsetof(grpo_batch, logp), 8 }, GRPO_UNKNOWN);
    expect((grpo_layout){ "grpo_objective", "surrogate", 0, 8 }, GRPO_UNKNOWN);
    expect((grpo_layout){ NULL, "", 0, 8 }, GRPO_NULL);
    expect((grpo_layout){ "grpo_batch", NULL, 0, 8 }, GRPO_NULL);
    for (int64_t k = 0; k < 2; k++) {                   /* the first that differs, wherever it is */
        const grpo_layout two[] = { { "grpo_batch", k ? "logp" : "logprob", offsetof(grpo_batch, logp), 8 }, { "batch", "logp", 0, 8 } };
        check(grpo_layout_check(two, 2) == GRPO_STATUS_ARGUMENT_(GRPO_UNKNOWN, 1, k), "the first that differs, %d", (int)k);
    }
    check(grpo_layout_check(layout, -1) == GRPO_STATUS_ARGUMENT_(GRPO_NEGATIVE, 2, -1), "a negative count");
    check(grpo_layout_check(NULL, 1) == GRPO_STATUS_ARGUMENT_(GRPO_NULL, 1, -1), "no list");
}

int main(void) {
    static const char *const read[] = {
        "grpo_batch", "grpo_output", "grpo_report", "grpo_totals", "grpo_field", "grpo_preset", "grpo_layout"
    };
    test_sizes();
    test_offsets();
    for (size_t k = 0; k < sizeof read / sizeof *read; k++) test_members_fill(read[k]);
    test_checks();
    return check_summary();
}
