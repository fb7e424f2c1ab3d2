/* Starts and restarts the program, writes requests, and checks the form of its answers. */
#include "session.h"
#include "answer.h"
#include "text.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, MAX_STARTS = 3, EXCERPT = 60, MOST_WORDS = 200 };       /* the last two: in characters */

/* ---- reading a line ------------------------------------------------------------------------------------------------------------- */

static int occurs(const char *line, size_t size, const char *word) {
    size_t length = strlen(word);
    for (size_t k = 0; k + length <= size; k++) if (!memcmp(line + k, word, length)) return 1;
    return 0;
}

static int has_bare_number(const char *line, size_t size) {
    static const char *const before[] = { "[", ",", ":", " ", "-" }, *const word[] = { "NaN", "nan", "Infinity", "inf" };
    char text[16];
    for (int j = 0; j < 5; j++)
        for (int k = 0; k < 4; k++) {
            snprintf(text, sizeof text, "%s%s", before[j], word[k]);
            if (occurs(line, size, text)) return 1;
        }
    return 0;
}

static int only_space(const char *from, const char *end) {
    while (from < end && strchr(" \t\r\n", *from)) from++;
    return from == end;
}

static size_t count_of(const char *line, size_t size, char wanted) {
    size_t n = 0;
    for (size_t k = 0; k < size; k++) n += line[k] == wanted;
    return n;
}

/* the JSON object on the line; NULL if it is not exactly one, with the reason in *wrong.  A parsed number takes many times the memory of
 * its text, so a line with more numbers than any valid answer is not parsed. */
static cJSON *object_of(const char *line, size_t size, size_t most_numbers, char **wrong) {
    const char *end = line;
    cJSON *json = NULL;
    char *t = NULL;
    int too_many = count_of(line, size, ',') > most_numbers;
    if (!too_many) json = cJSON_ParseWithLengthOpts(line, size, &end, 0);
    if (json && cJSON_IsObject(json) && only_space(end, line + size)) return json;
    if (too_many) text_format(&t, "its answer has far more numbers than the case: ");
    else if (json && cJSON_IsObject(json)) text_add(&t, "it wrote more than one JSON object on the line: ");
    else if (json) text_add(&t, "it answered with JSON that is not an object: ");
    else if (has_bare_number(line, size))
        text_add(&t, "it wrote NaN or Infinity as numbers, which are not JSON; they must be strings, as \"NaN\": ");
    else text_add(&t, "it answered with something that is not JSON: ");
    text_excerpt(&t, line, size, EXCERPT);
    *wrong = text_string(&t);
    cJSON_Delete(json);
    return NULL;
}

/* ---- start ---------------------------------------------------------------------------------------------------------------------- */

void session_open(session *s, char *const *command, const char *precision, double timeout) {
    memset(s, 0, sizeof *s);
    s->command = command;
    s->precision = precision;
    s->timeout = timeout;
}

static void end_session(session *s, char *why, int refused) {
    program_kill(&s->p);
    s->over = why;
    s->refused = refused;
}

static void note_word(char **into, const cJSON *json, const char *key) {
    const char *word = json_string(json, key, NULL);
    if (*into) return;
    *into = text_copy(word ? word : "?");
}

/* reads the answer to start; ends the session if it is an error, or of another version or precision */
static void read_start(session *s, const cJSON *json) {
    const cJSON *version = json_get(json, "version");
    const char *error = json_string(json, "error", NULL), *precision = json_string(json, "precision", NULL);
    char *t = NULL;
    note_word(&s->name, json, "name");
    note_word(&s->language, json, "language");
    note_word(&s->release, json, "release");
    if (error) text_format(&t, "the program answers start with an error: %s", error);
    else if (!cJSON_IsNumber(version) || version->valuedouble != VERSION)
        text_format(&t, "the program's answer to start must have \"version\": %d, that of the protocol", VERSION);
    else if (precision && strcmp(precision, s->precision))
        text_format(&t, "the program computes in %.40s, not in %s", precision, s->precision);
    if (t) end_session(s, text_string(&t), 1);
}

/* NULL, or why the program does not start, for the caller to free */
static char *try_start(session *s) {
    char *line = NULL, *wrong = NULL;
    const char *text, *failure = program_start(&s->p, s->command);
    size_t size;
    cJSON *json;
    if (failure) return text_copy(failure);
    text_format(&line, "{\"cmd\":\"start\",\"version\":%d,\"precision\":\"%s\"}\n", VERSION, s->precision);
    failure = program_ask(&s->p, line, (size_t)arrlen(line), s->timeout, &text, &size);
    arrfree(line);
    if (failure) return text_copy(failure);
    json = object_of(text, size, 10000, &wrong);
    if (json) read_start(s, json);
    else program_kill(&s->p);
    cJSON_Delete(json);
    return wrong;
}

int session_start(session *s) {
    while (!s->over && !s->p.pid) {
        char *t = NULL, *wrong = try_start(s);
        if (!wrong) { s->failed_starts = 0; break; }
        if (++s->failed_starts == MAX_STARTS) {
            text_format(&t, "the program does not start: %s", wrong);
            end_session(s, text_string(&t), 0);
        }
        free(wrong);
    }
    return !s->over;
}

/* ---- run ------------------------------------------------------------------------------------------------------------------------ */

/* keys of a case in the vectors that the program does not get */
static int is_withheld(const char *key) {
    static const char *const keys[] = { "comment", "flags", "expect", "scale", "defects", "kind", "advantage", "field", "reason" };
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) if (!strcmp(keys[k], key)) return 1;
    return 0;
}

static void write_rows(char **t, const test_case *c, const double *value) {
    text_add(t, "[");
    for (int64_t i = 0; i < c->n_sequences; i++) {
        text_add(t, i ? ",[" : "[");
        for (int64_t k = 0; k < c->batch.length[i]; k++) {
            if (k) text_add(t, ",");
            text_number(t, value[c->batch.offset[i] + k]);
        }
        text_add(t, "]");
    }
    text_add(t, "]");
}

static void write_advantage(char **t, const test_case *c) {
    const cJSON *given = json_get(json_get(c->json, "batch"), "advantage");
    answer own;
    if (given) text_json(t, given);
    else if (c->advantage.expect) write_rows(t, c, c->advantage.expect);
    else if (answer_evaluate(c, &c->objective, STAGE_ADVANTAGE, NULL, &own)) {
        write_rows(t, c, own.of[OUT_ADVANTAGE].value);
        answer_free(&own);
    } else text_add(t, "null");
}

char *session_case(const test_case *c) {
    const cJSON *batch = json_get(c->json, "batch");
    char *t = NULL;
    text_format(&t, "{\"kind\":\"%s\"", case_kind_name[c->kind]);
    for (const cJSON *item = c->json->child; item; item = item->next) {
        if (is_withheld(item->string)) continue;
        text_add(&t, ",");
        text_quoted(&t, item->string);
        text_add(&t, ":");
        text_json(&t, item);
    }
    if (case_has_loss(c) || json_get(batch, "advantage")) {
        text_add(&t, ",\"advantage\":");
        write_advantage(&t, c);
    }
    text_add(&t, "}");
    return text_string(&t);
}

static reply broken(session *s, char *why) {
    reply r = { REPLY_BROKEN, NULL, NULL, NULL };
    program_kill(&s->p);
    s->restarts++;
    r.text = why;
    return r;
}

static char *wrong_seq(const session *s, const cJSON *seq) {
    char *t = NULL;
    if (cJSON_IsNumber(seq)) text_format(&t, "it answered seq %.17g to the request with seq %d", seq->valuedouble, s->asked);
    else text_format(&t, "its answer has no seq; that of the request is %d", s->asked);
    return text_string(&t);
}

/* the reason of a skip, or an error with its status, cut to MOST_WORDS characters */
static char *words_of(const cJSON *json, const cJSON *item) {
    const char *words = cJSON_IsString(item) ? item->valuestring : "no reason given", *status = json_string(json, "status", NULL);
    char *t = NULL;
    text_excerpt(&t, words, strlen(words), MOST_WORDS);
    if (status) {
        text_add(&t, " (");
        text_excerpt(&t, status, strlen(status), EXCERPT);
        text_add(&t, ")");
    }
    return text_string(&t);
}

static reply read_reply(session *s, cJSON *json) {
    static const char *const keys[] = { "result", "skip", "error" };
    reply r = { REPLY_RESULT, NULL, NULL, NULL };
    const cJSON *seq = json_get(json, "seq");
    int found = 0;
    if (!cJSON_IsNumber(seq) || seq->valuedouble != s->asked) {
        char *why = wrong_seq(s, seq);
        cJSON_Delete(json);
        return broken(s, why);
    }
    for (int k = 0; k < 3; k++) {
        const cJSON *item = json_get(json, keys[k]);
        if (!item) continue;
        found++;
        r.kind = (reply_kind)(REPLY_RESULT + k);
        r.result = item;
        if (k > 0) { free(r.text); r.text = words_of(json, item); }
    }
    r.json = json;
    if (found == 1) return r;
    reply_free(&r);
    return broken(s, text_copy("its answer must have exactly one of the keys result, skip and error"));
}

reply session_ask_json(session *s, const char *case_json, const test_case *c) {
    reply r = { REPLY_NONE, NULL, NULL, NULL };
    char *line = NULL, *wrong = NULL;
    const char *text, *failure;
    size_t size;
    cJSON *json;
    if (!session_start(s)) return r;
    text_format(&line, "{\"cmd\":\"run\",\"seq\":%d,\"case\":", ++s->asked);
    text_add(&line, case_json);
    text_add(&line, "}\n");
    failure = program_ask(&s->p, line, (size_t)arrlen(line), s->timeout, &text, &size);
    arrfree(line);
    if (failure) return broken(s, text_copy(failure));
    json = object_of(text, size, 100000 + 100 * (size_t)c->batch.n_tokens, &wrong);
    return json ? read_reply(s, json) : broken(s, wrong);
}

reply session_ask(session *s, const test_case *c) {
    char *json = session_case(c);
    reply r = session_ask_json(s, json, c);
    free(json);
    return r;
}

void reply_free(reply *r) {
    free(r->text);
    cJSON_Delete(r->json);
    memset(r, 0, sizeof *r);
}

/* ---- stop ----------------------------------------------------------------------------------------------------------------------- */

char *session_close(session *s) {
    const char *wrong = program_end(&s->p, "{\"cmd\":\"stop\"}\n", s->timeout < 5 ? s->timeout : 5);
    char *text = wrong ? text_copy(wrong) : NULL;
    program_free(&s->p);
    free(s->name);
    free(s->language);
    free(s->release);
    free(s->over);
    s->name = s->language = s->release = s->over = NULL;
    return text;
}
