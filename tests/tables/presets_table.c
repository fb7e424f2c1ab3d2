/* presets_table FILE: prints the generated part of OBJECTIVES.md: ten rows beside each other, papers by family, then frameworks, each row
 * with its settings.  FILE has a line for each row, with tabs between: name, kind of claim, settings that a mark of it is about
 * (evidence/sources_check.py --table). */
#include "../../gspo.h"
#include "../support/field.h"
#include <stdio.h>
#include <stdlib.h>

enum { MAX_CELL = 300 };

/* ---- the source of a row -------------------------------------------------------------------------------------------------------- */

static int is_prefix_of_name(const char *framework, size_t length, const char *name) {   /* "TRL" of "trl-grpo" */
    size_t n;
    for (n = 0; n < length; n++) if ((framework[n] | 32) != name[n]) return 0;
    return name[length] == '-';
}

static int has_year(const char *paper) {               /* "1707.06347", "Williams 1992" */
    for (; *paper; paper++) if (strspn(paper, "0123456789") >= 4) return 1;
    return 0;
}

/* the framework whose code the row restates, from the row's text; NULL for a paper's objective, even if its numbers are from code */
static const char *framework_of(const grpo_preset *p) {
    const char *as = !strncmp(p->equations, "as ", 3) ? p->equations + 3 : NULL;
    if (as && is_prefix_of_name(as, strlen(as), p->name)) return as;
    return has_year(p->paper) ? NULL : p->paper;
}

/* ---- what a row is --------------------------------------------------------------------------------------------------------------- */

static char evidence[1 << 16];

static void read_evidence(const char *path) {
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(evidence, 1, sizeof evidence - 1, f) : 0;
    if (!n || n == sizeof evidence - 1) { fprintf(stderr, "%s: cannot be read\n", path); exit(1); }
    fclose(f);
}

/* column 1 of the row's line: the kind of claim; 2: what its mark is about */
static void write_evidence(char *cell, size_t size, const char *row, int column) {
    const size_t length = strlen(row);
    const char *line;
    for (line = evidence; *line; line += strcspn(line, "\n") + 1)
        if (!strncmp(line, row, length) && line[length] == '\t') {
            for (line += length + 1; column > 1; column--) line += strcspn(line, "\t") + 1;
            snprintf(cell, size, "%.*s", (int)strcspn(line, "\t\n"), line);
            return;
        }
    fprintf(stderr, "%s: no evidence\n", row);
    exit(1);
}

/* ---- families of papers ---------------------------------------------------------------------------------------------------------- */

static int has_critic(const grpo_objective *o) {
    return o->advantage.credit == GRPO_CREDIT_GAE || o->advantage.credit == GRPO_CREDIT_STEP_GAE;
}

static int has_teacher(const grpo_objective *o) {
    return o->advantage.teacher_coef != 0 || o->advantage.teacher_share != 0 ||
        o->penalty.nll_form == GRPO_NLL_FORM_TEACHER_GAP ||
        (o->penalty.kl && o->penalty.kl_reference == GRPO_KL_REFERENCE_TEACHER);
}

static int compares_responses(const grpo_objective *o) {
    switch (o->surrogate.kind) {
    case GRPO_SURROGATE_VARIANCE: case GRPO_SURROGATE_LOGISTIC_LSE: case GRPO_SURROGATE_TRAJECTORY_BALANCE:
    case GRPO_SURROGATE_PAIRWISE_LOGISTIC:
    case GRPO_SURROGATE_SOFTMAX_CROSS_ENTROPY: case GRPO_SURROGATE_DISCRIMINATIVE_MEAN: case GRPO_SURROGATE_DISCRIMINATIVE_LSE:
    case GRPO_SURROGATE_PAIRWISE_SOFT:
    case GRPO_SURROGATE_SOFTMAX_MSE: case GRPO_SURROGATE_SOFTMAX_JS: case GRPO_SURROGATE_STANDARDISED:
    case GRPO_SURROGATE_TILTED_CROSS_ENTROPY:
    case GRPO_SURROGATE_PAIRWISE_HINGE: case GRPO_SURROGATE_REGRESSION: case GRPO_SURROGATE_CONTRASTIVE:
    case GRPO_SURROGATE_SQUARED: case GRPO_SURROGATE_LOGISTIC:
        return 1;
    default:
        return o->penalty.preference != GRPO_PREFERENCE_NONE;
    }
}

static int has_rollout_gap(const grpo_objective *o) {
    return o->weight.rollout_is || o->weight.rollout_rs || o->ratio.behaviour == GRPO_BEHAVIOUR_ROLLOUT ||
        o->weight.off_policy_mask == GRPO_OFF_POLICY_MASK_ROLLOUT;
}

static int has_long_unit(const grpo_objective *o) { return o->ratio.level != GRPO_LEVEL_TOKEN; }

static int credits_parts(const grpo_objective *o) { return o->advantage.credit != GRPO_CREDIT_OUTCOME; }

static int has_no_ratio(const grpo_objective *o) {
    return o->surrogate.kind == GRPO_SURROGATE_REINFORCE ||
        (o->surrogate.kind == GRPO_SURROGATE_RATIO && o->ratio.behaviour == GRPO_BEHAVIOUR_CURRENT);
}

static int is_clipped(const grpo_objective *o) {
    return o->surrogate.kind == GRPO_SURROGATE_PPO_CLIP || o->surrogate.kind == GRPO_SURROGATE_DUAL_CLIP;
}

static int has_other_surrogate(const grpo_objective *o) { return !is_clipped(o); }

static int has_other_weights(const grpo_objective *o) {
    return o->weight.selected || o->weight.trust || o->weight.fipo || o->weight.external;
}

/* a row belongs to the last family whose condition holds */
static const struct { const char *title, *summary; int (*holds)(const grpo_objective *); } families[] = {
    { "GRPO and its advantages", "PPO's clip of the token's ratio; rewards, advantages, penalties and divisors differ", is_clipped },
    { "Tokens chosen or weighted", "which tokens count, by entropy, covariance, trust or what follows", has_other_weights },
    { "Other surrogates of the token", "clipped weights, gates, parabolas in place of PPO's clip", has_other_surrogate },
    { "REINFORCE", "no ratio: the score of the token or the ratio of the policy to itself", has_no_ratio },
    { "Credit inside the response", "rewards or advantages of steps, turns, prefixes, tokens", credits_parts },
    { "Ratios of more than a token", "GSPO: responses, segments, prefixes", has_long_unit },
    { "The gap to the rollout engine",
      "the sampler's log-probabilities differ from the trainer's: weights, masks, rejection", has_rollout_gap },
    { "Responses compared with each other", "pairs, contrasts, matches and regressions over the group", compares_responses },
    { "A critic", "advantages from the values of a critic", has_critic },
    { "A teacher", "log-probabilities of a teacher in the advantage or the loss", has_teacher }
};
enum { FAMILIES = sizeof families / sizeof *families };

static int family_of(const grpo_preset *p) {
    grpo_objective obj = grpo_objective_from_preset(p);
    int k = FAMILIES - 1;
    while (k > 0 && !families[k].holds(&obj)) k--;
    return k;
}

/* ---- fields ---------------------------------------------------------------------------------------------------------------------- */

static int axis_length(const char *path) { return (int)strcspn(path, "."); }

static int same_axis(const char *a, const char *b) {
    int length = axis_length(a);
    return length == axis_length(b) && !strncmp(a, b, (size_t)length);
}

/* the axes on which two objectives differ, in the order of the objective */
static void write_number(char *text, size_t size, double x) {    /* the shortest decimals that read back as x */
    int digits;
    for (digits = 15; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, x);
        if (strtod(text, NULL) == x) return;
    }
}

/* "baseline group_mean", "eps_low 0.2"; for the field `kind` the choice alone */
static void write_setting(char *text, size_t size, const grpo_field *f, double value) {
    const char *name = f->path + axis_length(f->path) + 1, *choice;
    char number[32];
    int length, is_kind = !strcmp(name, "kind");
    if (!f->n_choices) { write_number(number, sizeof number, value); snprintf(text, size, "%s %s", name, number); return; }
    choice = field_choice(f, value, &length);
    snprintf(text, size, "%s%s%.*s", is_kind ? "" : name, is_kind ? "" : " ", length, choice);
}

/* the axis' kind and the fields that the objective sets; returns the length, 0 if there are none */
static size_t write_axis(char *cell, const grpo_objective *obj, const grpo_field *first, const grpo_field *end) {
    char setting[128];
    size_t length = 0, n;
    const grpo_field *f;
    cell[0] = 0;
    for (f = first; f < end && same_axis(first->path, f->path); f++) {
        double value = grpo_objective_get(obj, f);
        if (value == 0 && strcmp(f->path + axis_length(f->path), ".kind")) continue;
        write_setting(setting, sizeof setting, f, value);
        n = strlen(setting);
        if (length + n + 3 > MAX_CELL) { fprintf(stderr, "%s: a cell beyond %d characters\n", first->path, MAX_CELL); exit(1); }
        if (length) { memcpy(cell + length, ", ", 2); length += 2; }
        memcpy(cell + length, setting, n + 1);
        length += n;
    }
    return length;
}

/* ---- the page -------------------------------------------------------------------------------------------------------------------- */

typedef struct { const grpo_preset *row[512]; int count; } section;

static void print_cell(const char *text) {
    if (strlen(text) > MAX_CELL) { fprintf(stderr, "a cell beyond %d characters: %s\n", MAX_CELL, text); exit(1); }
    putchar(' ');
    for (; *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text);
    }
    fputs(" |", stdout);
}

static void print_paper(const char *paper) {
    char link[96];
    int is_arxiv = strlen(paper) == 10 && paper[4] == '.' && strspn(paper, ".0123456789") == 10;
    if (is_arxiv) snprintf(link, sizeof link, "[%s](https://arxiv.org/abs/%s)", paper, paper);
    print_cell(is_arxiv ? link : paper);
}

static void print_rows(const section *s) {
    char cell[MAX_CELL];
    int n;
    puts("| name | paper | equations | what it is | summary |\n|---|---|---|---|---|");
    for (n = 0; n < s->count; n++) {
        const grpo_preset *p = s->row[n];
        putchar('|');
        print_cell(p->name);
        print_paper(p->paper);
        print_cell(p->equations);
        write_evidence(cell, sizeof cell, p->name, 1);
        print_cell(cell);
        print_cell(p->summary);
        putchar('\n');
    }
}

static int is_axis_used(const section *s, const grpo_field *first, const grpo_field *end) {
    char cell[MAX_CELL];
    int n;
    for (n = 0; n < s->count; n++) {
        grpo_objective obj = grpo_objective_from_preset(s->row[n]);
        if (write_axis(cell, &obj, first, end)) return 1;
    }
    return 0;
}

static const grpo_field *next_axis(const grpo_field *f, const grpo_field *end) {
    const grpo_field *first = f;
    while (f < end && same_axis(first->path, f->path)) f++;
    return f;
}

/* a column for each axis that a row of the section sets */
static void print_settings(const section *s) {
    char cell[MAX_CELL];
    const grpo_field *axis[8], *f, *end;
    int n, k, n_axes = 0, n_fields;
    f = grpo_fields(&n_fields);
    for (end = f + n_fields; f < end; f = next_axis(f, end)) if (is_axis_used(s, f, end)) axis[n_axes++] = f;
    puts("\n<details><summary>What they set</summary>\n");
    printf("| name |");
    for (k = 0; k < n_axes; k++) printf(" %.*s |", axis_length(axis[k]->path), axis[k]->path);
    printf("\n|---|");
    for (k = 0; k < n_axes; k++) printf("---|");
    putchar('\n');
    for (n = 0; n < s->count; n++) {
        grpo_objective obj = grpo_objective_from_preset(s->row[n]);
        putchar('|');
        print_cell(s->row[n]->name);
        for (k = 0; k < n_axes; k++) print_cell(write_axis(cell, &obj, axis[k], end) ? cell : "-");
        putchar('\n');
    }
    puts("\n</details>");
}

static const char *const best_known[] = { "grpo", "dr-grpo", "dapo", "rloo", "reinforce++", "gspo", "gmpo", "cispo", "sapo", "tis" };
enum { BEST_KNOWN = sizeof best_known / sizeof *best_known };

static void print_about_the_first(void) {
    char cell[MAX_CELL];
    int n;
    printf("## The best known, side by side\n\nAn empty cell: as in `%s`. A filled cell replaces all of `%s`'s cell, so "
           "`baseline group_mean` alone means: no division by\nthe deviation. A dagger (†): settings rest on a restatement or were "
           "chosen here:\n\n", best_known[0], best_known[0]);
    for (n = 0; n < BEST_KNOWN; n++) {
        write_evidence(cell, sizeof cell, best_known[n], 2);
        if (*cell) printf("- `%s`: %s\n", best_known[n], cell);
    }
    puts("");
}

/* the best-known objectives, axis by axis; a cell is empty where the axis has the settings of the first of them */
static void print_beside_the_first(void) {
    static const char *const *const name = best_known;
    char cell[MAX_CELL], of_first[MAX_CELL];
    const grpo_field *f, *end, *fields;
    grpo_objective first, obj;
    int n, n_fields;
    fields = grpo_fields(&n_fields);
    end = fields + n_fields;
    print_about_the_first();
    printf("| |");
    for (f = fields; f < end; f = next_axis(f, end)) printf(" %.*s |", axis_length(f->path), f->path);
    printf("\n|---|");
    for (f = fields; f < end; f = next_axis(f, end)) printf("---|");
    putchar('\n');
    for (n = 0; n < BEST_KNOWN; n++) {
        if (grpo_objective_named(name[0], &first) || grpo_objective_named(name[n], &obj)) exit(1);
        write_evidence(cell, sizeof cell, name[n], 1);
        printf("| `%s`%s |", name[n], strstr(cell, "†") ? " †" : "");
        for (f = fields; f < end; f = next_axis(f, end)) {
            write_axis(of_first, &first, f, end);
            write_axis(cell, &obj, f, end);
            if (n && !strcmp(cell, of_first)) print_cell("");
            else print_cell(*cell ? cell : same_axis(f->path, "ratio.level") ? "level token" : "none");
        }
        putchar('\n');
    }
    putchar('\n');
}

static void print_section(const char *title, const char *summary, const section *s) {
    if (!s->count) return;
    printf("\n### %s\n\n", title);
    if (summary) printf("%c%s.\n\n", summary[0] >= 'a' && summary[0] <= 'z' ? summary[0] - 32 : summary[0], summary + 1);
    print_rows(s);
    print_settings(s);
}

static void print_papers(const grpo_preset *preset, int count) {
    static section s;
    int n, k;
    puts("## Papers");
    for (k = 0; k < FAMILIES; k++) {
        for (s.count = n = 0; n < count; n++) if (!framework_of(&preset[n]) && family_of(&preset[n]) == k) s.row[s.count++] = &preset[n];
        print_section(families[k].title, families[k].summary, &s);
    }
}

/* frameworks with fewer rows share the last section */
enum { ROWS_FOR_A_SECTION = 3 };

static void rows_of_framework(const grpo_preset *preset, int count, const char *framework, section *s) {
    int n;
    for (s->count = n = 0; n < count; n++) {
        const char *f = framework_of(&preset[n]);
        if (f && !strcmp(f, framework)) s->row[s->count++] = &preset[n];
    }
}

static void print_frameworks(const grpo_preset *preset, int count) {
    static section own, others;
    int n;
    puts("\n## Frameworks");
    for (n = 0; n < count; n++) {
        const char *framework = framework_of(&preset[n]);
        if (!framework) continue;
        rows_of_framework(preset, count, framework, &own);
        if (own.count < ROWS_FOR_A_SECTION) others.row[others.count++] = &preset[n];
        else if (own.row[0] == &preset[n]) print_section(framework, NULL, &own);
    }
    print_section("Others", NULL, &others);
}

int main(int argc, char **argv) {
    int count;
    const grpo_preset *preset = grpo_presets(&count);
    if (argc != 2) return fputs("usage: presets_table FILE\n", stderr), 2;
    read_evidence(argv[1]);
    print_beside_the_first();
    print_papers(preset, count);
    print_frameworks(preset, count);
    return 0;
}
