/* The fields of an objective, by path and by number. */
#ifndef FIELD_H
#define FIELD_H
#include "../../grpo.h"

/* the field of this path, or NULL */
static inline const grpo_field *field_named(const char *path) {
    int n, count;
    const grpo_field *field = grpo_fields(&count);
    for (n = 0; n < count; n++) if (!strcmp(field[n].path, path)) return &field[n];
    return NULL;
}

/* as grpo_objective_set, without a check of the value */
static inline void field_set(grpo_objective *obj, const grpo_field *field, double value) {
    const int choice = (int)(field->n_choices ? value : 0);
    if (field->n_choices) memcpy((char *)obj + field->offset, &choice, sizeof choice);
    else memcpy((char *)obj + field->offset, &value, sizeof value);
}

/* the name of a choice, which does not end with 0: for "%.*s" with *length */
static inline const char *field_choice(const grpo_field *field, double choice, int *length) {
    const char *name = field->choices;
    int k;
    for (k = 0; k < (int)choice; k++) name += strcspn(name, "|") + 1;
    *length = (int)strcspn(name, "|");
    return name;
}
#endif
