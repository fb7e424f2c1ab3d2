/* curves FOLDER: computes the numbers of the pictures by the headers and writes a file for each; draw.sh compiles and runs it.
 * Every file has a line of names, then columns. */
#define GSPO_IMPLEMENTATION
#include "../../gspo.h"
#include <stdio.h>
#include <stdlib.h>

static const char *folder;

static FILE *open_file(const char *name) {
    char path[1024];
    FILE *f;
    snprintf(path, sizeof path, "%s/%s.txt", folder, name);
    f = fopen(path, "w");
    if (!f) { perror(path); exit(1); }
    return f;
}

static grpo_objective row(const char *name) {
    grpo_objective obj;
    if (grpo_objective_named(name, &obj)) { fprintf(stderr, "no row %s\n", name); exit(1); }
    return obj;
}

static void names_line(FILE *f, const char *first, const char *const *name, int n) {
    fprintf(f, "\"%s\"", first);
    for (int k = 0; k < n; k++) fprintf(f, " \"%s\"", name[k]);
    fputc('\n', f);
}

/* ---- surrogate and gradient against the log-ratio ---- */

enum { STEPS = 400 };
static const double logp_old = -1;

/* a response of one token at log-ratio y: the objective (to be maximised) and its derivative by the log-probability */
static void token_at(const grpo_objective *obj, double y, double advantage, double *value, double *slope) {
    const grpo_surrogate *s = &obj->surrogate;
    const grpo_term t = grpo_surrogate_term(s, grpo_clip_range(s->eps_low, s->eps_high), grpo_ratio_of(logp_old + y, logp_old), advantage,
                                            logp_old + y);
    *value = -t.value;
    *slope = -(t.d_log_ratio + t.d_logp);
}

static void write_surrogates(const char *file, const char *const *name, int n, double reach) {
    for (int sign = 1; sign >= -1; sign -= 2) {
        char full[64];
        FILE *f;
        snprintf(full, sizeof full, "%s_%s", file, sign > 0 ? "positive" : "negative");
        f = open_file(full);
        fprintf(f, "\"y\"");
        for (int k = 0; k < n; k++) fprintf(f, " \"%s\" \"%s\"", name[k], name[k]);
        fputc('\n', f);
        for (int x = 0; x <= STEPS; x++) {
            const double y = reach * (2.0 * x / STEPS - 1);
            fprintf(f, "%.6g", y);
            for (int k = 0; k < n; k++) {
                const grpo_objective obj = row(name[k]);
                double value, slope;
                token_at(&obj, y, sign, &value, &slope);
                fprintf(f, " %.6g %.6g", value, slope);
            }
            fputc('\n', f);
        }
        fclose(f);
    }
}

/* ---- one response with an outlier ---- */

enum { TOKENS = 16, OUTLIER = 9 };

static void write_outlier(const char *file, double advantage) {
    static const char *const name[] = { "grpo", "gspo", "gspo-token", "gmpo", "hybrid-ratio", "cispo" };
    enum { N = sizeof name / sizeof *name };
    static const double small[TOKENS] = { 1, -2, .5, 2, -1, -.5, 1.5, -1.5, 0, 0, .7, -2.2, 1.2, -.3, -1.1, .9 };
    const int64_t group_begin[] = { 0, 1 }, offset[] = { 0 }, length[] = { TOKENS };
    grpo_real l[TOKENS], old[TOKENS], A[TOKENS], dlogp[TOKENS];
    FILE *f = open_file(file);
    names_line(f, "t", name, N);
    for (int t = 0; t < TOKENS; t++) {
        old[t] = (grpo_real)-1.5;
        l[t] = (grpo_real)(-1.5 + (t == OUTLIER ? 1 : .00005 * small[t]));
        A[t] = (grpo_real)advantage;
    }
    for (int t = 0; t < TOKENS; t++) {
        fprintf(f, "%d", t + 1);
        for (int k = 0; k < N; k++) {
            const grpo_objective obj = row(name[k]);
            grpo_batch b;
            grpo_output out;
            grpo_report report;
            memset(&b, 0, sizeof b);
            memset(&out, 0, sizeof out);
            b.n_groups = 1; b.group_begin = group_begin; b.offset = offset; b.length = length; b.n_tokens = TOKENS;
            b.logp = l; b.logp_old = b.logp_ref = old;
            out.dlogp = dlogp;
            if (gspo_loss(&obj, &b, A, NULL, &out, &report)) exit(1);
            fprintf(f, " %.6g", -TOKENS * (double)dlogp[t]);
        }
        fputc('\n', f);
    }
    fclose(f);
}

/* ---- estimators of the KL ---- */

static void write_kl(void) {
    static const grpo_kl_kind kind[] = { GRPO_KL_K1, GRPO_KL_ABS, GRPO_KL_K2, GRPO_KL_K3 };
    FILE *f = open_file("kl");
    fprintf(f, "\"D\" \"k1\" \"k1\" \"abs\" \"abs\" \"k2\" \"k2\" \"k3\" \"k3\"\n");
    for (int x = 0; x <= STEPS; x++) {
        const double D = 2 * (2.0 * x / STEPS - 1);
        fprintf(f, "%.6g", D);
        for (int k = 0; k < 4; k++) {
            const grpo_kl_term t = grpo_kl_estimate(kind[k], grpo_two_diff(D, 0));
            fprintf(f, " %.6g %.6g", t.value, t.derivative);
        }
        fputc('\n', f);
    }
    fclose(f);
}

/* ---- advantage against success rate ---- */

enum { GROUP = 16 };

static void write_success(void) {
    static const char *const name[] = { "grpo", "dr-grpo", "rloo", "maxrl", "pass-at-k", "f-grpo" };
    enum { N = sizeof name / sizeof *name };
    int64_t group_begin[] = { 0, GROUP }, offset[GROUP], length[GROUP];
    grpo_real reward[GROUP], l[GROUP], A[GROUP];
    FILE *f = open_file("success");
    fprintf(f, "\"p\"");
    for (int k = 0; k < N; k++) fprintf(f, " \"%s\" \"%s\"", name[k], name[k]);
    fputc('\n', f);
    for (int good = 1; good < GROUP; good++) {
        fprintf(f, "%.6g", (double)good / GROUP);
        for (int k = 0; k < N; k++) {
            const grpo_objective obj = row(name[k]);
            grpo_batch b;
            memset(&b, 0, sizeof b);
            for (int i = 0; i < GROUP; i++) { offset[i] = i; length[i] = 1; reward[i] = i < good ? 1 : 0; l[i] = -1; }
            b.n_groups = 1; b.group_begin = group_begin; b.offset = offset; b.length = length; b.n_tokens = GROUP; b.reward = reward;
            b.logp = b.logp_old = b.logp_ref = l;
            if (grpo_advantages(&obj, &b, A)) exit(1);
            fprintf(f, " %.6g %.6g", (double)A[0], (double)A[GROUP - 1]);
        }
        fputc('\n', f);
    }
    fclose(f);
}

/* ---- errors of the usual formulas and of the headers, relative to the right answer in long double ---- */

enum { METHODS = 4 };
static const double no_answer = 1e9;          /* the error of an answer that is infinite or NaN */

static void note_errors(double worst[METHODS], const double found[METHODS], long double right) {
    for (int k = 0; k < METHODS; k++) {
        const double e = isfinite(found[k]) ? (double)fabsl(((long double)found[k] - right) / right) : no_answer;
        if (e > worst[k]) worst[k] = e;
    }
}

static void print_errors(FILE *f, double at, const double worst[METHODS]) {
    fprintf(f, "%.6g", at);
    for (int k = 0; k < METHODS; k++) fprintf(f, " %.4g", worst[k]);
    fputc('\n', f);
}

static uint32_t state = 1;
static double uniform(void) { state = state * 1664525u + 1013904223u; return (state >> 8) / 16777216.0; }

/* k3 = e^-D + D - 1 for two float log-probabilities that differ by about 10^x; double results are rounded to float at the end */
static void write_k3_error(void) {
    FILE *f = open_file("error_k3");
    fprintf(f, "\"D\" \"exp(-D) + D - 1 in float\" \"expm1(-D) + D in float\" \"exp(-D) + D - 1 in double\" \"grpo.h\"\n");
    for (int x = -24; x <= 4; x++) {
        double worst[METHODS] = { 0 };
        const double size = pow(10, x / 4.0);
        for (int n = 0; n < 2000; n++) {
            const float l = (float)(-20 * uniform() - size * 1.1), ref = (float)(l + size * (0.9 + .2 * uniform())), d = l - ref;
            const double D = (double)l - (double)ref;
            const float in_double = (float)(exp(-D) + D - 1);
            const float ours = (float)grpo_kl_estimate(GRPO_KL_K3, grpo_two_diff((double)l, (double)ref)).value;
            const double found[METHODS] = { expf(-d) + d - 1, expm1f(-d) + d, in_double, ours };
            if (D != 0) note_errors(worst, found, expm1l(-(long double)D) + (long double)D);
        }
        print_errors(f, size, worst);
    }
    fclose(f);
}

/* GSPO's ratio e^(mean d) of a response of T tokens */
static void write_mean_error(void) {
    enum { LONGEST = 65536, TIMES = 20 };
    static grpo_real l[LONGEST], old[LONGEST];
    FILE *f = open_file("error_mean");
    fprintf(f, "\"T\" \"difference of float sums\" \"float sum of differences\" \"difference of double sums\" \"gspo.h\"\n");
    for (int length = 16; length <= LONGEST; length *= 2) {
        double worst[METHODS] = { 0 };
        for (int n = 0; n < TIMES; n++) {
            float sum = 0, sum_l = 0, sum_old = 0;
            double long_l = 0, long_old = 0;
            long double exact = 0;
            for (int t = 0; t < length; t++) {
                l[t] = (grpo_real)(-3 * uniform());
                old[t] = (grpo_real)(l[t] + .02 * uniform() - .01);
                sum += (float)l[t] - (float)old[t];
                sum_l += (float)l[t]; sum_old += (float)old[t];
                long_l += (double)l[t]; long_old += (double)old[t];
                exact += (long double)l[t] - (long double)old[t];
            }
            {
                const float in_double = (float)exp((long_l - long_old) / length);
                const float ours = (float)grpo_ratio_exp(gspo_log_ratio(l, old, NULL, length)).value;
                const double found[METHODS] = { expf((sum_l - sum_old) / (float)length), expf(sum / (float)length), in_double, ours };
                note_errors(worst, found, expl(exact / length));
            }
        }
        print_errors(f, length, worst);
    }
    fclose(f);
}

/* the advantages (r - mean)/std of 8 rewards by float sums: one pass over the rewards, two passes; by doubles, rounded to float */
static void usual_advantages(const float r[8], float one_pass[8], float two_pass[8], float in_double[8]) {
    float sum = 0, squares = 0, around = 0, mean;
    double m = 0, v = 0;
    for (int i = 0; i < 8; i++) { sum += r[i]; squares += r[i] * r[i]; m += (double)r[i] / 8; }
    mean = sum / 8;
    for (int i = 0; i < 8; i++) { around += (r[i] - mean) * (r[i] - mean); v += ((double)r[i] - m) * ((double)r[i] - m) / 7; }
    for (int i = 0; i < 8; i++) {
        one_pass[i] = (r[i] - mean) / sqrtf(fabsf(squares - sum * mean) / 7);
        two_pass[i] = (r[i] - mean) / sqrtf(around / 7);
        in_double[i] = (float)(((double)r[i] - m) / sqrt(v));
    }
}

/* advantages of a group of 8 rewards: an offset plus a number below 1; those of at least 0.05 */
static void write_advantage_error(void) {
    const grpo_objective obj = row("grpo");
    int64_t group_begin[] = { 0, 8 }, offset[8], length[8];
    FILE *f = open_file("error_advantage");
    fprintf(f, "\"offset\" \"one-pass variance in float\" \"two-pass variance in float\" \"two-pass variance in double\" \"grpo.h\"\n");
    for (int i = 0; i < 8; i++) { offset[i] = i; length[i] = 1; }
    for (int x = -4; x <= 20; x++) {
        const double shift = pow(10, x / 4.0);
        double worst[METHODS] = { 0 };
        for (int n = 0; n < 300; n++) {
            grpo_real reward[8], A[8];
            float r[8], one_pass[8], two_pass[8], in_double[8];
            long double m = 0, v = 0;
            grpo_batch b;
            memset(&b, 0, sizeof b);
            for (int i = 0; i < 8; i++) reward[i] = (grpo_real)(r[i] = (float)(shift + uniform()));
            b.n_groups = 1; b.group_begin = group_begin; b.offset = offset; b.length = length; b.n_tokens = 8; b.reward = reward;
            if (grpo_advantages(&obj, &b, A)) exit(1);
            usual_advantages(r, one_pass, two_pass, in_double);
            for (int i = 0; i < 8; i++) m += (long double)r[i] / 8;
            for (int i = 0; i < 8; i++) v += ((long double)r[i] - m) * ((long double)r[i] - m) / 7;
            for (int i = 0; i < 8; i++) {
                const long double right = ((long double)r[i] - m) / sqrtl(v);
                const double found[METHODS] = { one_pass[i], two_pass[i], in_double[i], (float)A[i] };
                if (fabsl(right) >= .05L) note_errors(worst, found, right);
            }
        }
        print_errors(f, shift, worst);
    }
    fclose(f);
}

int main(int argc, char **argv) {
    static const char *const clips[] = { "ppo", "dapo", "ppo-dual-clip", "ce-gppo" }, *const soft[] = { "grpo", "sapo", "vespo", "cfpo" };
    static const char *const weights[] = { "reinforce", "cispo", "topr", "aspo" };
    if (argc != 2) return fputs("usage: curves FOLDER\n", stderr), 2;
    folder = argv[1];
    write_surrogates("clips", clips, 4, 1.5);
    write_surrogates("soft", soft, 4, 1.5);
    write_surrogates("weights", weights, 4, 2.2);
    write_outlier("outlier_positive", 1);
    write_outlier("outlier_negative", -1);
    write_kl();
    write_success();
    write_k3_error();
    write_mean_error();
    write_advantage_error();
    return 0;
}
