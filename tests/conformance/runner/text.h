/* Builds text, and JSON in which every number reads back to the same binary64.  A text is an stb_ds array without a final 0: it starts as
 * NULL and is freed with arrfree.  Also reads files and members of JSON, and adds to lists of indices. */
#ifndef TEXT_H
#define TEXT_H
#include <cJSON.h>
#include <stddef.h>
#include <stb_ds.h>

void text_bytes(char **t, const char *bytes, size_t count);
void text_add(char **t, const char *string);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void text_format(char **t, const char *format, ...);
char *text_string(char **t);                    /* the text with its final 0, for the caller to free; *t is NULL again */
char *text_copy(const char *string);            /* for the caller to free; of NULL: "" */

void text_number(char **t, double value);       /* infinities and NaN as strings */
void text_quoted(char **t, const char *string);
void text_json(char **t, const cJSON *item);

void text_escaped(char **t, const char *string);       /* with the escapes of XML and HTML */

char *text_file(const char *directory, const char *name);       /* with a final 0, for the caller to free; NULL: it cannot be opened */
/* reads a JSON file; NULL if it cannot be opened (*there = 0) or is not JSON (*there = 1) */
cJSON *text_json_file(const char *path, int *there);
cJSON *json_get(const cJSON *object, const char *key);                  /* NULL if there is none, or no object */
const char *json_string(const cJSON *object, const char *key, const char *otherwise);       /* otherwise: where there is no string */

void list_add_once(int **list, int value);      /* to an stb_ds array, unless it is there */

/* adds at most `limit` bytes from outside for display: one line, with unprintable bytes as dots */
void text_excerpt(char **t, const char *bytes, size_t count, size_t limit);

#endif
