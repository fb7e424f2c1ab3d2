/* Builds text and JSON. */
#include "text.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_bytes(char **t, const char *bytes, size_t count) {
    if (count) memcpy(arraddnptr(*t, count), bytes, count);
}

void text_add(char **t, const char *string) { text_bytes(t, string, strlen(string)); }

void text_format(char **t, const char *format, ...) {
    va_list args;
    int length;
    va_start(args, format);
    length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length <= 0) return;
    va_start(args, format);
    vsnprintf(arraddnptr(*t, (size_t)length + 1), (size_t)length + 1, format, args);
    va_end(args);
    arrsetlen(*t, (size_t)arrlen(*t) - 1);
}

char *text_string(char **t) {
    size_t length = (size_t)arrlen(*t);
    char *s = malloc(length + 1);
    if (!s) abort();
    if (length) memcpy(s, *t, length);
    s[length] = 0;
    arrfree(*t);
    return s;
}

char *text_copy(const char *string) {
    char *t = NULL;
    text_add(&t, string ? string : "");
    return text_string(&t);
}

void text_number(char **t, double value) {
    char digits[32];
    if (value - value != 0) {
        text_add(t, value != value ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        return;
    }
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        if (strtod(digits, NULL) == value) break;
    }
    text_add(t, digits);
}

static int plain(unsigned char c) { return c >= 0x20 && c != '"' && c != '\\' && c != 0x7f; }

void text_quoted(char **t, const char *string) {
    text_add(t, "\"");
    for (; *string; string++) {
        unsigned char c = (unsigned char)*string;
        if (plain(c)) arrput(*t, *string);
        else if (c == '"' || c == '\\') text_format(t, "\\%c", c);
        else text_format(t, "\\u%04x", (unsigned)c);
    }
    text_add(t, "\"");
}

static void list(char **t, const cJSON *parent, char open, char close) {
    arrput(*t, open);
    for (const cJSON *item = parent->child; item; item = item->next) {
        if (item != parent->child) arrput(*t, ',');
        if (open == '{') { text_quoted(t, item->string); arrput(*t, ':'); }
        text_json(t, item);
    }
    arrput(*t, close);
}

void text_json(char **t, const cJSON *item) {
    if (cJSON_IsObject(item)) list(t, item, '{', '}');
    else if (cJSON_IsArray(item)) list(t, item, '[', ']');
    else if (cJSON_IsNumber(item)) text_number(t, item->valuedouble);
    else if (cJSON_IsString(item)) text_quoted(t, item->valuestring);
    else text_add(t, cJSON_IsTrue(item) ? "true" : cJSON_IsFalse(item) ? "false" : "null");
}

void text_excerpt(char **t, const char *bytes, size_t count, size_t limit) {
    for (size_t k = 0; k < count && k < limit; k++) arrput(*t, bytes[k] >= 0x20 && bytes[k] < 0x7f ? bytes[k] : '.');
    if (count > limit) text_add(t, "...");
}

static int add_file(char **t, const char *path) {
    FILE *f = fopen(path, "rb");
    char block[4096];
    size_t got;
    if (!f) return 0;
    while ((got = fread(block, 1, sizeof block, f)) > 0) text_bytes(t, block, got);
    fclose(f);
    return 1;
}

char *text_file(const char *directory, const char *name) {
    char path[4096], *t = NULL;
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return add_file(&t, path) ? text_string(&t) : NULL;
}

cJSON *text_json_file(const char *path, int *there) {
    char *t = NULL;
    cJSON *json = (*there = add_file(&t, path)) != 0 ? cJSON_ParseWithLength(t, (size_t)arrlen(t)) : NULL;
    arrfree(t);
    return json;
}

void text_escaped(char **t, const char *s) {
    for (; *s; s++) {
        if (*s == '<') text_add(t, "&lt;");
        else if (*s == '>') text_add(t, "&gt;");
        else if (*s == '&') text_add(t, "&amp;");
        else if (*s == '"') text_add(t, "&quot;");
        else if ((unsigned char)*s >= 0x20 || *s == '\n') text_bytes(t, s, 1);
        else text_add(t, "?");
    }
}

cJSON *json_get(const cJSON *object, const char *key) { return cJSON_GetObjectItemCaseSensitive(object, key); }

const char *json_string(const cJSON *object, const char *key, const char *otherwise) {
    const cJSON *item = json_get(object, key);
    return cJSON_IsString(item) ? item->valuestring : otherwise;
}

void list_add_once(int **list, int value) {
    for (ptrdiff_t k = 0; k < arrlen(*list); k++) if ((*list)[k] == value) return;
    arrput(*list, value);
}
