/* misbehave MODE: a program that implements the protocol and skips every case, but misbehaves at the second one as MODE says. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WHEN = 2, MANY = 60 << 20 };

static void say(const char *text) {
    fputs(text, stdout);
    fflush(stdout);
}

static void skip(long seq) {
    printf("{\"seq\":%ld,\"skip\":\"as usual\"}\n", seq);
    fflush(stdout);
}

static void fill(FILE *f, char c, long count) {
    static char block[1 << 16];
    memset(block, c, sizeof block);
    for (; count > 0; count -= (long)sizeof block)
        if (fwrite(block, 1, sizeof block, f) < sizeof block) return;
}

static void hang(long seq) { (void)seq; for (;;) pause(); }
static void leave(long seq) { (void)seq; exit(0); }
static void crash(long seq) { (void)seq; abort(); }
static void half(long seq) { (void)seq; say("{\"seq\":2,\"sk"); hang(seq); }
static void half_exit(long seq) { (void)seq; say("{\"seq\":2,\"sk"); exit(3); }
static void garbage(long seq) { (void)seq; say("Traceback (most recent call last):\001\377\n"); }
static void empty_line(long seq) { (void)seq; say("\n"); }
static void array(long seq) { (void)seq; say("[]\n"); }
static void two_objects(long seq) { printf("{\"seq\":%ld,\"skip\":\"one\"} {}\n", seq); fflush(stdout); }
static void two_lines(long seq) { printf("{\"seq\":%ld,\"skip\":\"one\"}\n{\"seq\":%ld,\"skip\":\"two\"}\n", seq, seq); fflush(stdout); }
static void both(long seq) { printf("{\"seq\":%ld,\"skip\":\"one\",\"error\":\"two\"}\n", seq); fflush(stdout); }
static void no_seq(long seq) { (void)seq; say("{\"skip\":\"one\"}\n"); }
static void disorder(long seq) { skip(seq + 1); }
static void error(long seq) { printf("{\"seq\":%ld,\"error\":\"no such thing\"}\n", seq); fflush(stdout); }
static void flood(long seq) { (void)seq; for (;;) fill(stdout, 'x', 1L << 30); }
static void deep(long seq) { (void)seq; fill(stdout, '[', 1 << 20); say("\n"); }
static void numbers(long seq) {
    printf("{\"seq\":%ld,\"result\":{\"loss\":[", seq);
    for (long k = 0; k < 3000000; k++) fputs("0,", stdout);
    say("0]}}\n");
}
static void deaf(long seq) { (void)seq; close(0); hang(seq); }
static void mute(long seq) { (void)seq; close(1); hang(seq); }
static void huge(long seq) { printf("{\"seq\":%ld,\"skip\":\"", seq); fill(stdout, 'x', MANY); say("\"}\n"); }
static void noise(long seq) { fill(stderr, 'x', 1 << 23); fputs("\n", stderr); skip(seq); }
static void child(long seq) { if (fork() == 0) hang(seq); exit(0); }
static void normal(long seq) { skip(seq); }

static const struct { const char *name; void (*act)(long seq); } modes[] = {
    { "hang", hang }, { "exit", leave }, { "crash", crash }, { "half", half }, { "half-exit", half_exit }, { "garbage", garbage },
    { "empty-line", empty_line }, { "array", array }, { "two-objects", two_objects }, { "two-lines", two_lines },
    { "both", both }, { "no-seq", no_seq }, { "disorder", disorder }, { "error", error }, { "flood", flood },
    { "deep", deep }, { "numbers", numbers }, { "deaf", deaf }, { "mute", mute }, { "huge", huge }, { "noise", noise },
    { "child", child }, { "normal", normal },
    { "no-start", normal }, { "refuses", normal }, { "version", normal }, { "garbage-start", normal }, { "hang-start", normal },
    { "deaf-start", normal }, { "ignores-stop", normal }, { "bad-end", normal }
};

/* Modes that answer the second case with a result. The numbers are for the second cases of the functions tested: entropy_control-above,
 * reward_range_filter-bounds, resample-zeros. */
static const struct { const char *name, *result; } results[] = {
    { "bare-nan", "{\"loss\":NaN}" }, { "shape", "{\"loss\":[[1]]}" }, { "word", "{\"loss\":\"minus one\"}" },
    { "output", "{\"lose\":1}" }, { "nothing", "{}" }, { "loss", "{\"loss\":0.5}" },
    { "number", "{\"coef\":0.0024,\"used\":0}" }, { "number-wrong", "{\"coef\":0.0026,\"used\":0}" },
    { "number-inexact", "{\"coef\":0.002400001,\"used\":0}" }, { "number-nan", "{\"coef\":0.0024,\"used\":\"NaN\"}" },
    { "number-word", "{\"coef\":\"small\",\"used\":0}" }, { "number-flag", "{\"coef\":0.0024,\"used\":false}" },
    { "number-list", "{\"coef\":[0.0024],\"used\":0}" }, { "number-missing", "{\"coef\":0.0024}" },
    { "number-extra", "{\"coef\":0.0024,\"used\":0,\"loss\":1}" }, { "number-twice", "{\"coef\":0.0024,\"used\":0,\"used\":0}" },
    { "number-array", "[0.0024,0]" },
    { "flags", "{\"keep\":[false,false,true]}" }, { "flags-wrong", "{\"keep\":[false,true,true]}" },
    { "flags-numbers", "{\"keep\":[0,0,1]}" }, { "flags-short", "{\"keep\":[false,false]}" },
    { "flags-deep", "{\"keep\":[false,false,[true]]}" },
    { "index", "{\"index\":[1,1,3,3]}" }, { "index-wrong", "{\"index\":[1,1,3,4]}" },
    { "index-near", "{\"index\":[1,1,3,3.0000000000000004]}" },
};

/* the answer to start, or what the program does instead */
static void start(const char *mode) {
    if (!strcmp(mode, "no-start")) exit(1);
    if (!strcmp(mode, "hang-start")) hang(0);
    if (!strcmp(mode, "garbage-start")) { say("Loading model...\n"); return; }
    if (!strcmp(mode, "refuses")) { say("{\"error\":\"only on Sundays\"}\n"); return; }
    if (!strcmp(mode, "version")) { say("{\"version\":2,\"name\":\"newer\"}\n"); return; }
    say("{\"version\":1,\"name\":\"misbehave\",\"language\":\"C\",\"release\":\"1\",\"precision\":\"f64\",\"outputs\":[]}\n");
    if (!strcmp(mode, "deaf-start")) hang(0);
}

static void stop(const char *mode) {
    if (!strcmp(mode, "ignores-stop")) hang(0);
    exit(!strcmp(mode, "bad-end"));
}

static void run(const char *mode, long seq) {
    if (seq != WHEN) { skip(seq); return; }
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) if (!strcmp(modes[k].name, mode)) modes[k].act(seq);
    for (size_t k = 0; k < sizeof results / sizeof *results; k++)
        if (!strcmp(results[k].name, mode)) printf("{\"seq\":%ld,\"result\":%s}\n", seq, results[k].result);
    fflush(stdout);
}

static int is_mode(const char *name) {
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) if (!strcmp(modes[k].name, name)) return 1;
    for (size_t k = 0; k < sizeof results / sizeof *results; k++) if (!strcmp(results[k].name, name)) return 1;
    return 0;
}

int main(int argc, char **argv) {
    char *line = NULL;
    size_t room = 0;
    if (argc != 2 || !is_mode(argv[1])) {
        fputs("usage: misbehave MODE\nmodes:", stderr);
        for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) fprintf(stderr, " %s", modes[k].name);
        for (size_t k = 0; k < sizeof results / sizeof *results; k++) fprintf(stderr, " %s", results[k].name);
        return fputs("\n", stderr), 2;
    }
    while (getline(&line, &room, stdin) > 0) {
        const char *seq = strstr(line, "\"seq\":");
        if (strstr(line, "\"cmd\":\"start\"")) start(argv[1]);
        else if (strstr(line, "\"cmd\":\"stop\"")) stop(argv[1]);
        else if (seq) run(argv[1], strtol(seq + 6, NULL, 10));
    }
    return 0;
}
