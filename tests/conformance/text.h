/* Text that grows, and JSON written so that every number reads back to the same binary64.  A text is an stb_ds array without a final 0;
 * start with NULL, end with arrfree. */
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

void text_number(char **t, double value);       /* "Infinity", "-Infinity", "NaN" for what JSON lacks */
void text_quoted(char **t, const char *string);
void text_json(char **t, const cJSON *item);

void text_escaped(char **t, const char *string);       /* for XML and HTML */

/* what is in a file: NULL where it is no JSON or cannot be opened, which *there tells apart */
cJSON *text_json_file(const char *path, int *there);

/* what a person may see of bytes from outside: one line, printable, at most `limit` of them */
void text_excerpt(char **t, const char *bytes, size_t count, size_t limit);

#endif
