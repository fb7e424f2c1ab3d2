/* identify_test CONFORM ADAPTER_C [all]: --identify recognises every third published objective, and some with one change; with `all` every
 * one of both, which takes a minute more.  Presets that are identical in every field are named together. */
#include "../../../grpo.h"
#include "../../support/check.h"
#include "command.h"
#include "../runner/text.h"
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 300, FEW = 3, THIRD = 3 };

static const struct { const char *as, *set, *expected; } changed[] = {
    { "gdpo", "advantage.std=population", "it computes gdpo with advantage.std = population or trl-gdpo with advantage.std = population" },
    { "dapo", "advantage.eps=1e-3", "it computes dapo with advantage.eps = 0.001" },
    { "luspo", "ratio.gradient=token", "it computes luspo with ratio.gradient = token" },
    { "gspo", "surrogate.eps_high=3e-4", "it computes gspo with surrogate.eps_high = 0.0003" },
    { "prime-rl", "weight.trust_high=0.1", "it computes prime-rl with weight.trust_high = 0.1" },
    { "deepseek-v3.2", "weight.off_policy_mask=old", "it computes deepseek-v3.2 with weight.off_policy_mask = old" },
    { "grpo", "penalty.entropy_coef=0.01", "it computes grpo with penalty.entropy_coef = 0.01" },
    { "cispo", "surrogate.weight_max=3.5", "none of the published objectives, nor one of them with up to 3 changes" }
};

static char *last_line(char *text) {
    size_t length = strlen(text);
    char *line;
    if (length && text[length - 1] == '\n') text[length - 1] = 0;
    line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

static void check_identity(char **argv, const char *as, const char *set, const char *expected, int status) {
    const char *const command[] = { argv[1], "--identify", "--", argv[2], "--as", as, set ? "--set" : NULL, set, NULL };
    command_result r = command_run(command, LIMIT);
    char *found = last_line(r.output);
    check(r.status == status, "%s %s: exit status %d", as, set ? set : "", r.status);
    check(!strcmp(found, expected), "%s %s: expected \"%s\", found \"%s\" (identical presets are named together)",
          as, set ? set : "", expected, found);
    free(r.output);
}

/* --identify distinguishes a program that reads case.objective from one that ignores it */
static void check_heed(char **argv, const char *as, int heeds) {
    const char *const command[] = { argv[1], "--identify", "--", argv[2], as ? "--as" : NULL, as, NULL };
    command_result r = command_run(command, LIMIT);
    check(!strstr(r.output, "it seems to read case.objective") == !heeds, "%s: does it read case.objective?", as ? as : "adapter_c");
    free(r.output);
}

/* settings that the batches of --identify cannot distinguish: an undiscounted return of the outcome reward is the outcome, and whether
 * responses without tokens count shows only where there are such responses */
static void set_alike(grpo_objective *obj) {
    grpo_advantage *a = &obj->advantage;
    if (a->credit == GRPO_CREDIT_RETURN && a->gamma == 1 && !obj->reward.kl) a->credit = GRPO_CREDIT_OUTCOME;
    if (a->credit == GRPO_CREDIT_OUTCOME) a->gamma = 0;
    obj->aggregation.empty_sequences = GRPO_EMPTY_SEQUENCES_KEEP;
}

static int same_objective(grpo_objective a, grpo_objective b) {
    int count;
    const grpo_field *field = grpo_fields(&count);
    set_alike(&a);
    set_alike(&b);
    for (int n = 0; n < count; n++) if (grpo_objective_get(&a, &field[n]) != grpo_objective_get(&b, &field[n])) return 0;
    return 1;
}

/* the expected last line: the preset and those identical to it */
static char *names_of(const grpo_preset *preset, int count, int which) {
    grpo_objective own = grpo_objective_from_preset(&preset[which]);
    char *t = NULL;
    text_add(&t, "it computes ");
    for (int n = 0, named = 0; n < count; n++) {
        grpo_objective other = grpo_objective_from_preset(&preset[n]);
        if (same_objective(own, other)) text_format(&t, "%s%s", named++ ? " or " : "", preset[n].name);
    }
    return text_string(&t);
}

int main(int argc, char **argv) {
    int count;
    const grpo_preset *preset = grpo_presets(&count);
    const int all = argc == 4 && !strcmp(argv[3], "all");
    if (argc != 3 && !all) return fputs("usage: identify_test CONFORM ADAPTER_C [all]\n", stderr), 2;
    for (int n = 0; n < count; n += all ? 1 : THIRD) {
        char *expected = names_of(preset, count, n);
        check_identity(argv, preset[n].name, NULL, expected, 0);
        free(expected);
    }
    for (size_t k = 0; k < (all ? sizeof changed / sizeof *changed : FEW); k++)
        check_identity(argv, changed[k].as, changed[k].set, changed[k].expected, !strncmp(changed[k].expected, "none", 4));
    check_heed(argv, NULL, 1);
    check_heed(argv, "grpo", 0);
    return check_summary();
}
