/* Relations that add a constant to rewards or to log-probabilities, chosen so that every sum is exact. */
#include "relations_changes.h"
#include "request.h"
#include <math.h>
#include <string.h>

static int is_float(double x) { return (double)(float)x == x; }

static double number_at(const cJSON *list, int index) {
    const cJSON *item = cJSON_GetArrayItem(list, index);
    return cJSON_IsNumber(item) ? item->valuedouble : NAN;
}

/* ---- rewards -------------------------------------------------------------------------------------------------------------------- */

/* a constant with which every sum is exact in a float; 0: there is none */
static double reward_shift(const cJSON *reward) {
    static const double shifts[] = { 1, 2, 0.5, 4, 8 };
    for (size_t k = 0; k < sizeof shifts / sizeof *shifts; k++) {
        int fine = reward != NULL;
        for (const cJSON *r = fine ? reward->child : NULL; r && fine; r = r->next)
            fine = cJSON_IsNumber(r) && is_float(r->valuedouble + shifts[k]);
        if (fine) return shifts[k];
    }
    return 0;
}

int shift_rewards(cJSON *request) {
    cJSON *reward = json_get(json_get(request, "batch"), "reward");
    const double shift = reward_shift(reward);
    for (cJSON *r = shift != 0 ? reward->child : NULL; r; r = r->next) cJSON_SetNumberHelper(r, r->valuedouble + shift);
    return shift != 0;
}

/* |R| + |b| of a response; the baseline b is a mean or leave-one-out mean over the group, or (batch_mean) a mean over the batch */
static double size_of_item(const cJSON *request, int i) {
    const cJSON *reward = json_get(json_get(request, "batch"), "reward");
    const int whole = request_is(request, "advantage.baseline", "batch_mean");
    const int alone = request_is(request, "advantage.baseline", "leave_one_out");
    double sum = 0;
    int n = 0;
    for (int j = 0; j < request_sequences(request); j++) {
        if ((!whole && request_group(request, j) != request_group(request, i)) || (alone && j == i)) continue;
        sum += number_at(reward, j);
        n++;
    }
    return fabs(number_at(reward, i)) + (n ? fabs(sum / n) : 0);
}

static double scale_of_item(const cJSON *scale, int i) {
    double most = 0;
    const cJSON *row = cJSON_GetArrayItem(scale, i);
    for (const cJSON *x = row ? row->child : NULL; x; x = x->next) if (cJSON_IsNumber(x)) most = fmax(most, x->valuedouble);
    return most;
}

static void set_all(cJSON *row, double x) {
    for (cJSON *item = row ? row->child : NULL; item; item = item->next)
        if (cJSON_IsNumber(item) && item->valuedouble != 0) cJSON_SetNumberHelper(item, x);
}

/* The scale of an advantage is (|R| + |b|) over the deviation.  The deviation, the same for all responses of a group, follows from it, and
 * 2 shift over the deviation is added to the scale.  A scale of 0, of an advantage that is 0 by a rule, stays 0. */
void rewards_shifted(const cJSON *request, cJSON *answer, int is_scale) {
    cJSON *scale = json_get(answer, "advantage");
    const double shift = reward_shift(json_get(json_get(request, "batch"), "reward"));
    if (!is_scale || !scale) return;
    for (int g = 0; g < request_groups(request); g++) {
        double factor = 0;
        for (int i = 0; i < request_sequences(request); i++)
            if (request_group(request, i) == g && size_of_item(request, i) > 0)
                factor = fmax(factor, scale_of_item(scale, i) / size_of_item(request, i));
        for (int i = 0; i < request_sequences(request); i++)
            if (request_group(request, i) == g) set_all(cJSON_GetArrayItem(scale, i), factor * (size_of_item(request, i) + 2 * shift));
    }
}

/* ---- log-probabilities ---------------------------------------------------------------------------------------------------------- */

static const char *const log_probabilities[] = { "logp", "logp_old", "logp_ref", "logp_rollout", "logp_teacher" };
enum { N_LOG_PROBABILITIES = sizeof log_probabilities / sizeof *log_probabilities };

/* is every sum exact in a float, and still a log-probability? */
static int may_shift(const cJSON *const *x, double shift) {
    for (int k = 0; k < N_LOG_PROBABILITIES; k++) {
        if (!x[k] || cJSON_IsString(x[k])) continue;
        if (!is_float(x[k]->valuedouble + shift) || x[k]->valuedouble + shift > 0) return 0;
    }
    return 1;
}

static int shift_token(cJSON **x) {
    static const double shifts[] = { -0.5, 0.25, -1, 0.125 };
    int shifted = 0;
    for (size_t s = 0; s < sizeof shifts / sizeof *shifts && !shifted; s++) {
        if (!may_shift((const cJSON *const *)x, shifts[s])) continue;
        for (int k = 0; k < N_LOG_PROBABILITIES; k++)
            if (x[k] && cJSON_IsNumber(x[k])) { cJSON_SetNumberHelper(x[k], x[k]->valuedouble + shifts[s]); shifted = 1; }
    }
    return shifted;
}

int shift_log_probabilities(cJSON *request) {
    cJSON *batch = json_get(request, "batch"), *x[N_LOG_PROBABILITIES];
    int shifted = 0;
    for (int i = 0; i < request_sequences(request); i++) {
        for (int k = 0; k < N_LOG_PROBABILITIES; k++) {
            cJSON *row = cJSON_GetArrayItem(json_get(batch, log_probabilities[k]), i);
            x[k] = row ? row->child : NULL;
        }
        while (x[0]) {
            shifted += shift_token(x);
            for (int k = 0; k < N_LOG_PROBABILITIES; k++) x[k] = x[k] ? x[k]->next : NULL;
        }
    }
    return shifted;
}
