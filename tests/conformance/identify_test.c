/* identify_test CONFORM ADAPTER_C: every published objective is recognised, and so are some that are changed in one place. */
#include "../../grpo.h"
#include "../check.h"
#include "command.h"
#include <stdlib.h>
#include <string.h>

enum { LIMIT = 60 };

static const struct { const char *as, *set, *expected; } changed[] = {
    { "grpo", "advantage.std=population", "it computes grpo with advantage.std = population" },
    { "gspo", "surrogate.eps_high=3e-4", "it computes gspo with surrogate.eps_high = 0.0003" },
    { "dapo", "advantage.eps=1e-8", "it computes dapo with advantage.eps = 1e-08 or trl-dapo with advantage.eps = 1e-08" },
    { "luspo", "ratio.gradient=token", "it computes luspo with ratio.gradient = token" },
    { "cispo", "surrogate.weight_max=3.5", "none of the published objectives, nor a few changes away from them" }
};

static char *last_line(char *text)
{
    size_t length = strlen(text);
    char *line;
    if (length && text[length - 1] == '\n') text[length - 1] = 0;
    line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

static void check_identity(char **argv, const char *as, const char *set, const char *expected, int status)
{
    const char *const command[] = { argv[1], "--identify", "--", argv[2], "--as", as, set ? "--set" : NULL, set, NULL };
    command_result r = command_run(command, LIMIT);
    char *found = last_line(r.output);
    check(r.status == status, "%s %s: exit status %d", as, set ? set : "", r.status);
    check(!strcmp(found, expected), "%s %s: expected \"%s\", found \"%s\"", as, set ? set : "", expected, found);
    free(r.output);
}

int main(int argc, char **argv)
{
    int n, count;
    const grpo_preset *preset = grpo_presets(&count);
    char expected[120];
    if (argc != 3) return fputs("usage: identify_test CONFORM ADAPTER_C\n", stderr), 2;
    for (n = 0; n < count; n++) {
        snprintf(expected, sizeof expected, "it computes %s", preset[n].name);
        check_identity(argv, preset[n].name, NULL, expected, 0);
    }
    for (size_t k = 0; k < sizeof changed / sizeof *changed; k++)
        check_identity(argv, changed[k].as, changed[k].set, changed[k].expected, !strncmp(changed[k].expected, "none", 4));
    return check_summary();
}
