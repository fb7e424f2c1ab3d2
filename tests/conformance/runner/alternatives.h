/* The objectives that differ from a given one in one field, or in one axis taken from a preset. */
#ifndef ALTERNATIVES_H
#define ALTERNATIVES_H
#include "answer.h"

typedef struct {
    const grpo_field *field;        /* the changed field; NULL: a whole axis is changed */
    double value;                   /* the new value of the field */
    const grpo_preset *like;        /* of a whole axis: the preset that it is taken from */
    const grpo_field *axis_from, *axis_to;      /* the fields of the axis; axis_to: one past the last */
    char name[96];                  /* "advantage.std = population", "surrogate as in cispo" */
} change;

/* an stb_ds array of all changes; each gives another objective, none gives `asked` */
change *changes_of(const grpo_objective *asked, stage_kind stage);
grpo_objective change_made(const grpo_objective *asked, const change *made);
const char *change_remark(const char *name);        /* an explanation of the change; NULL: its name is enough */
/* "surrogate as in x: surrogate.kind = ratio, surrogate.eps_high = 0.2": the fields of an axis taken from a preset that are not 0 or
 * their first choice; to be freed.  Empty for the change of one field */
char *change_fields(const change *made);
int same_objective(const grpo_objective *a, const grpo_objective *b);
int same_in_stage(const grpo_objective *a, const grpo_objective *b, stage_kind stage);
const grpo_objective *preset_objective(int n);      /* of grpo_presets()[n] */
int preset_first(int n, stage_kind stage);          /* the first preset that is identical to preset n in the stage */
grpo_objective with_stage_of(const grpo_objective *asked, int preset, stage_kind stage);
stage_kind stage_of_field(const grpo_field *field);

#endif
