/* misbehaviour CONFORM MISBEHAVE VECTORS [WRAPPER...]: however a program misbehaves, the runner reports it for the case and goes on.
 * WRAPPER: a command under which CONFORM is run, such as "valgrind -q --error-exitcode=99". */
#include "../../support/check.h"
#include "command.h"
#include "../runner/text.h"
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 300 };

/* Which cases are run, and how many there are at least. The program misbehaves at the second case and skips the others "as usual", or
 * (everywhere) misbehaves at all. Where the kind of case does not matter, the first two requests are larger than the buffer of a pipe. */
typedef enum { SECOND, ALL, ALL_LONG, NUMBERS, FLAGS, INDICES, REFUSALS } scope;
static const struct { const char *only[3]; int everywhere, least; } asked[] = {
    [SECOND] = { { "grpo-long", "gspo-long", "gspo-token-full*" }, 0, 4 },
    [ALL] = { { "grpo-long", "gspo-long", "gspo-token-full*" }, 1, 4 },
    [ALL_LONG] = { { "grpo-long", "gspo-long" }, 1, 2 },
    [NUMBERS] = { { "calls-entropy_control-*" }, 0, 2 },
    [FLAGS] = { { "calls-reward_range_filter-*" }, 0, 2 },
    [INDICES] = { { "calls-resample-*" }, 0, 2 },
    [REFUSALS] = { { "refuse-reward-nan*" }, 0, 3 },
};

/* reason: part of the reason; for a wrong number its place, for a case that passes its note */
static const struct expectation { const char *mode; scope at; const char *timeout, *verdict, *reason; } expected[] = {
    { "hang", SECOND, "1", "failed", "no answer within 1 s" },
    { "exit", SECOND, "10", "failed", "exited with status 0" },
    { "crash", SECOND, "10", "failed", "killed by signal 6" },
    { "half", SECOND, "1", "failed", "only an incomplete line: {\"seq\":2,\"sk" },
    { "half-exit", SECOND, "10", "failed", "exited with status 3 after an incomplete line" },
    { "garbage", SECOND, "10", "failed", "not JSON: Traceback" },
    { "empty-line", SECOND, "10", "failed", "not JSON" },
    { "bare-nan", SECOND, "10", "failed", "NaN or Infinity as numbers" },
    { "array", SECOND, "10", "failed", "not an object" },
    { "two-objects", SECOND, "10", "failed", "more than one JSON object" },
    { "two-lines", SECOND, "10", "failed", "more than one line" },
    { "both", SECOND, "10", "failed", "exactly one of" },
    { "no-seq", SECOND, "10", "failed", "has no seq" },
    { "disorder", SECOND, "10", "failed", "answered seq 3 to the request with seq 2" },
    { "shape", SECOND, "10", "failed", "loss is neither a number" },
    { "word", SECOND, "10", "failed", "loss is neither a number" },
    { "output", SECOND, "10", "failed", "lose is not an output" },
    { "error", SECOND, "10", "failed", "no such thing" },
    { "nothing", SECOND, "10", "skipped", "nothing was returned" },
    { "flood", SECOND, "60", "failed", "more than 64 MiB" },
    { "deep", SECOND, "10", "failed", "not JSON" },
    { "numbers", SECOND, "60", "failed", "far more numbers" },
    { "deaf", SECOND, "1", "failed", "no answer within 1 s" },
    { "mute", SECOND, "10", "failed", "closed its output" },
    { "huge", SECOND, "60", "skipped", "xxxxxxxx" },
    { "noise", SECOND, "60", "skipped", "as usual" },
    { "child", SECOND, "1", "failed", "no answer within 1 s" },
    { "normal", SECOND, "10", "skipped", "as usual" },
    { "ignores-stop", SECOND, "1", "skipped", "as usual" },
    { "bad-end", SECOND, "10", "skipped", "as usual" },
    { "number", NUMBERS, "10", "passed", "" },
    { "number-wrong", NUMBERS, "10", "failed", "coef" },
    { "number-inexact", NUMBERS, "10", "failed", "coef" },
    { "number-nan", NUMBERS, "10", "failed", "used" },
    { "number-word", NUMBERS, "10", "failed", "coef is neither a number" },
    { "number-flag", NUMBERS, "10", "failed", "used is neither a number" },
    { "number-list", NUMBERS, "10", "failed", "coef is neither a number" },
    { "number-missing", NUMBERS, "10", "failed", "lacks an answer: used" },
    { "number-extra", NUMBERS, "10", "failed", "loss is not an answer of entropy_control" },
    { "number-twice", NUMBERS, "10", "failed", "used is there twice" },
    { "number-array", NUMBERS, "10", "failed", "not an object" },
    { "nothing", NUMBERS, "10", "failed", "lacks an answer: coef" },
    { "flags", FLAGS, "10", "passed", "" },
    { "flags-wrong", FLAGS, "10", "failed", "keep[1]" },
    { "flags-numbers", FLAGS, "10", "failed", "keep[0] is neither true nor false" },
    { "flags-short", FLAGS, "10", "failed", "keep is not an array of 3" },
    { "flags-deep", FLAGS, "10", "failed", "keep[2] is neither true nor false" },
    { "index", INDICES, "10", "passed", "" },
    { "index-wrong", INDICES, "10", "failed", "index[3]" },
    { "index-near", INDICES, "10", "failed", "index[3]" },
    { "loss", REFUSALS, "10", "failed", "it returned numbers for invalid input, which must be refused: batch.reward[2] is NaN" },
    { "error", REFUSALS, "10", "passed", "its error does not name batch.reward: no such thing" },
    { "nothing", REFUSALS, "10", "skipped", "nothing was returned" },
    { "crash", REFUSALS, "10", "failed", "killed by signal 6" },
    { "no-start", ALL, "10", "failed", "does not start: it exited with status 1" },
    { "hang-start", ALL, "1", "failed", "does not start: no answer within 1 s" },
    { "garbage-start", ALL, "10", "failed", "does not start: it answered with something that is not JSON: Loading model" },
    { "refuses", ALL, "10", "skipped", "answers start with an error: only on Sundays" },
    { "version", ALL, "10", "skipped", "must have \"version\": 1" },
    { "deaf-start", ALL_LONG, "1", "failed", "did not read the whole request" },
    { "no such mode", ALL, "10", "failed", "does not start: it exited with status 2" },
};

static char **wrapper;
static const char *conform, *misbehave, *vectors;

static command_result run(const struct expectation *e) {
    const char **command = NULL;
    const char *const fixed[] = { "--format", "json", "--timeout", e->timeout, "--", misbehave, e->mode, NULL };
    command_result r;
    for (char **w = wrapper; *w; w++) arrput(command, *w);
    arrput(command, conform); arrput(command, "--vectors"); arrput(command, vectors);
    for (size_t k = 0; k < 3 && asked[e->at].only[k]; k++) { arrput(command, "--only"); arrput(command, asked[e->at].only[k]); }
    for (size_t k = 0; k < sizeof fixed / sizeof *fixed; k++) arrput(command, fixed[k]);
    r = command_run(command, LIMIT);
    arrfree(command);
    return r;
}

static void check_case(const char *mode, const cJSON *c, const char *verdict, const char *reason) {
    const cJSON *wrong = cJSON_GetArrayItem(json_get(c, "wrong"), 0);
    const char *id = json_string(c, "id", ""), *key = !strcmp(verdict, "passed") ? "note" : "reason";
    const char *found = json_string(wrong ? wrong : c, wrong ? "where" : key, ""), *judged = json_string(c, "verdict", "");
    check(!strcmp(judged, verdict), "%s: %s: expected %s, found %s", mode, id, verdict, judged);
    check(strstr(found, reason) != NULL, "%s: %s: expected \"%s\", found \"%s\"", mode, id, reason, found);
}

static void check_mode(const struct expectation *e) {
    const int everywhere = asked[e->at].everywhere, status = strcmp(e->verdict, "passed") != 0;
    command_result r = run(e);
    cJSON *json = cJSON_Parse(r.output);
    const cJSON *cases = json_get(json, "cases");
    int n = 0;
    check(r.status == status, "%s: exit status %d", e->mode, r.status);
    check(cJSON_GetArraySize(cases) >= asked[e->at].least, "%s: %d cases", e->mode, cJSON_GetArraySize(cases));
    for (const cJSON *c = cases ? cases->child : NULL; c; c = c->next, n++) {
        int here = everywhere || n == 1;
        check_case(e->mode, c, here ? e->verdict : "skipped", here ? e->reason : "as usual");
    }
    cJSON_Delete(json);
    free(r.output);
}

int main(int argc, char **argv) {
    if (argc < 4) return fputs("usage: misbehaviour CONFORM MISBEHAVE VECTORS [WRAPPER...]\n", stderr), 2;
    conform = argv[1];
    misbehave = argv[2];
    vectors = argv[3];
    wrapper = argv + 4;
    for (size_t k = 0; k < sizeof expected / sizeof *expected; k++) check_mode(&expected[k]);
    return check_summary();
}
