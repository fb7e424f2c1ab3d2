/* The loss as tests/vectors/objective/ defines it, evaluated in binary128, and its derivatives: the tests compare the headers with these.
 *
 *     reference ref;
 *     reference_alloc(&ref, &objective, &batch, advantage, ranks);
 *     reference_answer loss = reference_loss(&ref), slope = reference_slope(&ref, i, t);      token t of sequence i
 *     if (loss.judged) check(reference_agrees(&loss, report.loss));
 *     if (slope.judged) check(reference_agrees(&slope, dlogp[t]));
 *     reference_free(&ref);
 *
 * and likewise reference_term, reference_entropy_slope, reference_divergence_slope, reference_log_z_slope (of a group), and
 * reference_count for what the report counts.
 * A choice is in the file of its axis: reference/{ratio,surrogate,group,penalty,weight,aggregation}.h; loss.h and report.h combine them.
 * Of the library only structs and enumerators are used.  Advantages are an input here; reference/advantage.h and credit.h compute them.
 *
 * A slope is a central difference of the terms that depend on l[t]; `fixed` holds the log-probabilities inside a stop-gradient, so every
 * objective has slopes.  `judged` is 0 where a comparison would mean nothing: a log-probability is infinite or beyond
 * REFERENCE_LARGEST_LOG, an intermediate number may overflow or underflow in double, or rounding may decide whether a token is accepted;
 * for slopes also where the difference is too inaccurate, or a branch changes near l[t]. */
#ifndef REFERENCE_H
#define REFERENCE_H
#include "loss.h"
#include "report.h"
#endif
