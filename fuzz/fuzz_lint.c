/* Fuzzes extra/grpo_lint.h, grpo_lint_objective.h and grpo_messages.h with batches and objectives, valid or not, and any number as a
 * status.  An error is reported if and only if a function refuses the input; locations are inside the batch and those of the elements they
 * name; nothing is written beyond the buffers. */
#include "../extra/grpo_lint_objective.h"
#include "../extra/grpo_messages.h"
#include "bytes.h"

/* the location of a fault is consistent, for a batch with a valid layout */
static void require_place(const grpo_batch *b, const grpo_fault *at) {
    int64_t i = at->sequence;
    require(at->group < b->n_groups && at->column < GRPO_MAX_REWARDS, "a group beyond the last");
    require((at->response < 0) == (i < 0) && (at->token < 0 || i >= 0), "half a place");
    if (i < 0) return;
    require(at->group >= 0 && i == b->group_begin[at->group] + at->response, "another response");
    require(i < b->group_begin[at->group + 1], "a response of another group");
    if (at->token < 0) return;
    require(at->token < b->length[i], "a token behind the response");
    require(at->index == b->offset[i] + at->token, "a token of another element");
}

/* the text in a buffer of that size must be the beginning of the whole text; frees the buffer */
static void require_text(const char *all, char *buffer, size_t size) {
    const size_t n = strlen(buffer);
    require(n < size && !strncmp(all, buffer, n) && (n == size - 1 || !all[n]), "a message that is cut is another");
    free(buffer);
}

static void require_call_message(grpo_status st, size_t size) {
    static const char *const functions[] = { "grpo_prefix_trust_region", "distill_divergence", "grpo_value_loss", "grpo_layout_check",
                                             "grpo_context_backward", NULL };
    const char *function = functions[(uint64_t)st % (sizeof functions / sizeof *functions)];
    char all[GRPO_LINT_MESSAGE_SIZE], *some = (char *)test_alloc((int64_t)size, 1);
    grpo_call_message(function, st, all, sizeof all);
    require(strlen(all) < sizeof all - 1, "a message without end");
    require_text(all, (char *)(uintptr_t)grpo_call_message(function, st, some, size), size);
}

static void require_messages(const grpo_finding *finding, grpo_status st, const fuzz_case *c, const grpo_batch *batch, size_t size) {
    char all[GRPO_LINT_MESSAGE_SIZE], *some;
    if (finding) {
        grpo_finding_message(finding, all, sizeof all);
        some = (char *)test_alloc((int64_t)size, 1);
        require(strlen(all) < sizeof all - 1, "a finding without end");
        require_text(all, (char *)(uintptr_t)grpo_finding_message(finding, some, size), size);
        return;
    }
    grpo_fault_message(st, &c->objective, batch, c->advantage, all, sizeof all);
    some = (char *)test_alloc((int64_t)size, 1);
    require(strlen(all) < sizeof all - 1, "a message without end");
    require_text(all, (char *)(uintptr_t)grpo_fault_message(st, &c->objective, batch, c->advantage, some, size), size);
    require_call_message(st, size);
}

static void require_error(const grpo_finding *finding, int n, grpo_status st, const char *what) {
    const int error = n > 0 && finding[0].rule == GRPO_LINT_REFUSED;
    require(error == (st != 0), what);
    require(!error || finding[0].level == GRPO_LINT_ERROR, "an error that is none");
}

static void require_findings(const fuzz_case *c, const grpo_batch *batch, const grpo_real *advantage, const grpo_output *out,
                             grpo_status st) {
    static const grpo_finding none;
    grpo_finding finding[GRPO_LINT_MOST], some[GRPO_LINT_MOST];
    grpo_totals totals;
    int k, n, room;
    memset(&totals, 0, sizeof totals);
    if (grpo_totals_add(&c->objective, batch, advantage, &totals)) memset(&totals, 0x81, sizeof totals);
    n = grpo_lint(&c->objective, batch, advantage, st ? NULL : &totals, out, finding, GRPO_LINT_MOST);
    require(n >= 0 && n <= GRPO_LINT_MOST, "more findings than there are");
    require_error(finding, n, st, advantage ? "the loss" : "the advantages");
    for (k = 0; k < n; k++) {
        require(k == 0 || finding[k].level <= finding[k - 1].level, "the worst first");
        require(finding[k].rule != GRPO_LINT_OTHER_TOTALS, "the totals are this batch's");
        if (finding[k].rule != GRPO_LINT_REFUSED) require_place(batch, &finding[k].at);
        require_messages(&finding[k], 0, c, batch, 1 + (size_t)(c->ranks * 40));
    }
    room = n / 2;
    memset(some, 0, sizeof some);
    require(grpo_lint(&c->objective, batch, advantage, st ? NULL : &totals, out, some, room) == n, "the number depends on the room");
    for (k = 0; k < room; k++)
        require(some[k].rule == finding[k].rule && some[k].at.index == finding[k].at.index, "other findings in less room");
    require(!memcmp(&some[room], &none, sizeof none), "written past the room");
}

/* findings of the settings alone, and with the batch */
static void require_objective_findings(const fuzz_case *c, const grpo_batch *batch, size_t size) {
    static const grpo_objective_finding none;
    grpo_objective_finding finding[GRPO_LINT_OBJECTIVE_MOST], some[GRPO_LINT_OBJECTIVE_MOST];
    const grpo_status st = grpo_objective_check(&c->objective);
    const int n = grpo_lint_objective(&c->objective, batch, finding, GRPO_LINT_OBJECTIVE_MOST), room = n / 2;
    int k;
    require(n >= 0 && n <= GRPO_LINT_OBJECTIVE_MOST, "more findings of settings than there are");
    require((n > 0 && finding[0].rule == GRPO_OBJECTIVE_REFUSED) == (st != 0), "the objective");
    require(!st || (n == 1 && finding[0].level == GRPO_LINT_ERROR && finding[0].status == st), "another error");
    for (k = 0; k < n; k++) {
        char all[GRPO_LINT_MESSAGE_SIZE], *cut = (char *)test_alloc((int64_t)size, 1);
        grpo_objective_finding_message(&finding[k], all, sizeof all);
        require(k == 0 || finding[k].level <= finding[k - 1].level, "the worst of settings first");
        require(finding[k].what[0] && strlen(all) < sizeof all - 1, "a finding of settings without a name or an end");
        require_text(all, (char *)(uintptr_t)grpo_objective_finding_message(&finding[k], cut, size), size);
    }
    memset(some, 0, sizeof some);
    require(grpo_lint_objective(&c->objective, batch, some, room) == n, "the number of settings depends on the room");
    for (k = 0; k < room; k++)
        require(some[k].rule == finding[k].rule && some[k].status == finding[k].status, "other settings in less room");
    require(!memcmp(&some[room], &none, sizeof none), "settings written past the room");
}

/* else the index is that of the name nearest to a misspelt one */
static int is_of_element(grpo_status st) {
    const int what = (int)(st >> 8 & 1023), other = (int)(st >> 18 & 1023);
    if (what <= GRPO_AT_LAST_FIELD_) return other > GRPO_AT_LAST_FIELD_ && other != GRPO_AT_name_ && other != GRPO_AT_path_;
    return what != GRPO_AT_name_ && what != GRPO_AT_path_;
}

/* locates an arbitrary status, and statuses of every array with indices in and around the batch */
static void require_faults(const fuzz_case *c, const grpo_batch *batch, grpo_status any, int sound) {
    const int64_t index = (int64_t)((uint64_t)any >> 40) % (2 * c->b.n_tokens + 4);
    grpo_fault f = grpo_fault_of(any, &c->objective, batch, c->advantage);
    require_messages(NULL, any, c, batch, 33);
    for (int what = 0; what < 1024; what += 1 + (int)((uint64_t)any & 15)) {
        const grpo_status st = (any & 31) | (grpo_status)what << 8 | (any >> 7 & 1023) << 18 | index << 28;
        f = grpo_fault_of(st, &c->objective, batch, c->advantage);
        require(f.index == grpo_status_index(st) || st == 0 || (f.index == -1 && !is_of_element(st)), "another index");
        if (sound) require_place(batch, &f);
    }
    f = grpo_fault_of(any, NULL, NULL, NULL);
    require(f.group < 0 && f.sequence < 0 && f.token < 0 && !f.has_value, "a place in nothing");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const grpo_status any = (grpo_status)(hash_bytes(HASH_START, data, size) >> (size % 50));
    fuzz_case c;
    grpo_batch batch;
    grpo_moments moments;
    grpo_report report;
    grpo_output out;
    grpo_status before, after;
    grpo_real *written;
    fuzz_case_read(data, size, &c);
    batch = fuzz_view(&c, &c.b);
    written = unwritten(c.b.n_tokens);
    memset(&moments, 0, sizeof moments);
    out = output_with_scratch(&c.objective, &batch);
    before = grpo_moments_add(&c.objective, &batch, &moments);
    after = gspo_loss(&c.objective, &batch, c.advantage, NULL, &out, &report);
    require_objective_findings(&c, NULL, 1 + (size_t)(c.ranks * 40));
    require_objective_findings(&c, &batch, 1 + (size_t)(c.ranks * 40));
    require_findings(&c, &batch, NULL, NULL, before);
    out.dlogp = out.dentropy = out.ddivergence_ref = written;
    require_findings(&c, &batch, c.advantage, &out, after);
    require(all_unwritten(written, c.b.n_tokens), "an output was written to");
    require_faults(&c, &batch, any, after == 0 || before == 0);
    free(out.scratch);
    free(written);
    fuzz_case_free(&c);
    return 0;
}
