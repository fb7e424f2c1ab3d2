/* The loss as tests/vectors/objective/ writes it, in __float128, and its slopes: what the headers are compared with.
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
 * A choice stands in the file of its axis: reference/{ratio,surrogate,group,penalty,weight,aggregation}.h; loss.h and report.h put them
 * together. Of the headers only their structs and enumerators are used. Advantages are an input here: reference/advantage.h has those.
 *
 * A slope is a central difference of the terms that l[t] enters, with `fixed` for the log-probabilities inside a stop-gradient, so every
 * objective has one.  An answer is not judged where the comparison would mean nothing: a log-probability infinite or beyond
 * REFERENCE_LARGEST_LOG, a number on the way whose products double may not hold to full precision, a band of the correction so near that
 * rounding may fall on either side, and for slopes a difference that does not resolve them or a comparison that turns nearby. */
#ifndef REFERENCE_H
#define REFERENCE_H
#include "reference/loss.h"
#include "reference/report.h"
#endif
