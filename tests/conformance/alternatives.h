/* Objectives one change away from an objective: what a program computes that made another choice. */
#ifndef ALTERNATIVES_H
#define ALTERNATIVES_H
#include "answer.h"

typedef struct {
    const grpo_field *field;        /* of one changed field: its new value; NULL: a whole axis */
    double value;
    const grpo_preset *like;        /* of a whole axis: the row that it is taken from */
    const grpo_field *axis_from, *axis_to;      /* its fields; axis_to: one past the last */
    char name[96];                  /* "advantage.std = population", "surrogate as in cispo" */
} change;

/* an stb_ds array; no two give the same objective, none gives `asked` */
change *changes_of(const grpo_objective *asked, stage_kind stage);
grpo_objective change_made(const grpo_objective *asked, const change *made);
const char *change_remark(const char *name);        /* in other words; NULL where the name is plain enough */
int same_objective(const grpo_objective *a, const grpo_objective *b);
int same_in_stage(const grpo_objective *a, const grpo_objective *b, stage_kind stage);
const grpo_objective *preset_objective(int n);      /* of grpo_presets()[n] */
int preset_first(int n, stage_kind stage);          /* the first preset whose stage is that of preset n */
grpo_objective with_stage_of(const grpo_objective *asked, int preset, stage_kind stage);
stage_kind stage_of_field(const grpo_field *field);

#endif
