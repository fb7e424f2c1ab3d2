/* The vectors (vectors/README.md says what they mean), read into batches.  A case owns all its arrays; they are packed. */
#ifndef CASE_H
#define CASE_H
#include "../grpo.h"

typedef struct { double *expect, *scale; } case_answer;             /* (tokens); both NULL when the case has none */
typedef struct { const char *key; double expect, scale; } case_metric;      /* one entry of the report */

/* the keys of a report, each a field of grpo_report: a double, or a count */
#define CASE_METRICS(METRIC, COUNT) \
    METRIC(policy_loss) METRIC(penalty_loss) \
    COUNT(tokens) COUNT(sequences) COUNT(groups) COUNT(masked_tokens) COUNT(rejected_tokens) COUNT(degenerate_groups) \
    METRIC(clip_fraction) METRIC(clip_fraction_low) METRIC(clip_fraction_high) METRIC(clip_fraction_dual) \
    METRIC(ratio_mean) METRIC(ratio_min) METRIC(ratio_max) METRIC(ess) \
    METRIC(approx_kl_k1) METRIC(approx_kl_k3) METRIC(kl_k1) METRIC(kl_k2) METRIC(kl_k3) METRIC(entropy) METRIC(rollout_is_mean)

typedef enum { CASE_OBJECTIVE, CASE_SPLIT, CASE_LOGITS, CASE_CALL, CASE_HIDDEN, CASE_REFUSE } case_kind;
extern const char *const case_kind_name[CASE_REFUSE + 1];

/* A part of a split: what one backward pass sees, and of which optimiser step.  Every token is in one part, or its response is filtered. */
typedef enum { CASE_PART_OF_GROUPS, CASE_PART_OF_RESPONSES, CASE_PART_OF_ROWS, CASE_PART_OF_TOKENS } case_part_kind;
typedef struct { int64_t sequence, begin, end; } case_range;        /* tokens begin to end - 1 of a response */
typedef struct { int64_t rank, step, n_ranges; case_range *range; case_part_kind kind; } case_part;

/* what a split has lists of: a number for each part, or each range of the parts of tokens */
typedef enum { CASE_PART_TOKENS, CASE_PART_SEQUENCES, CASE_PART_GROUPS, CASE_PART_SUM, CASE_PART_LOSS, CASE_SLICE_TOKENS,
               CASE_SLICE_LOG_RATIO, CASE_N_LISTS } case_list_kind;
extern const char *const case_list_name[CASE_N_LISTS];

/* Of CASE_LOGITS and CASE_HIDDEN: a row of logits for each token, or a hidden state and a projection with a row for each of the vocabulary.
 * What masked tokens have may be NaN. */
typedef struct {
    int64_t vocab, width;               /* width: of a hidden state */
    double temperature;
    const int64_t *target;              /* (tokens) in the vocabulary */
    const grpo_real *logits;            /* (tokens, vocab); NULL: CASE_HIDDEN */
    const grpo_real *hidden, *weight;   /* (tokens, width), (vocab, width); NULL: CASE_LOGITS */
    const uint8_t *kept;                /* (tokens, vocab) 0: banned; NULL: none is */
    const int64_t *shard, *chunk;       /* (n_shards) columns of the vocabulary, (n_chunks) tokens; NULL: all at once */
    int64_t n_shards, n_chunks;
    const grpo_real *dlogp, *dentropy;  /* (tokens) given from above; NULL: the objective's, or no gradient is asked for */
    int has_loss;                       /* there is an objective and a batch without logp and entropy */
} case_rows;

typedef struct {
    char *id;
    case_kind kind;
    grpo_objective objective;
    grpo_batch batch;
    int64_t n_sequences;
    const grpo_real *given;             /* (tokens) advantages from outside; NULL: they are for the advantage axis to find */
    const uint8_t *dynamic_sampling_mask; /* (groups) or NULL */
    case_answer advantage, term, dlogp;
    case_answer ddivergence_ref;       /* where penalty.kl is external */
    case_answer dentropy;              /* where penalty.entropy_coef is not 0 */
    case_answer dlog_partition;        /* (groups) where surrogate.kind is balance */
    case_rows rows;                    /* of CASE_LOGITS and CASE_HIDDEN; their batch may have lengths and nothing else */
    case_answer logp, entropy;         /* of them, where there is no loss */
    case_answer dlogits, dhidden, dweight;     /* (tokens, vocab), (tokens, width), (vocab, width) */
    double loss, loss_scale;
    case_metric *report;                /* (n_report) */
    int64_t n_report;
    const case_part *parts;             /* (n_parts), of CASE_SPLIT */
    int64_t n_parts, ranks, context_ranks, n_slices;
    int added;                          /* are gradients added over ranks?  Else they are averaged */
    int all_at_once;                    /* is it one optimiser step, with nothing filtered out? */
    case_answer list[CASE_N_LISTS];     /* NULL where there is none */
    const char *function;               /* of CASE_CALL; its batch is there when the function reads one */
    const struct cJSON *arguments, *answers;    /* as they stand in the file; a request has no answers */
    case_answer call;                   /* (n_call) the answers' numbers and flags (0, 1) one after the other; without a scale: 0 */
    int64_t n_call;
    const char *field, *reason;         /* of CASE_REFUSE, where the answers are: what is at fault, such as "batch.reward", and in words */
    char *unread;                       /* of CASE_REFUSE: why it is no objective or no batch that this reader can hold; NULL: it is held */
    int unknown;                        /* it could not be read for a choice, an array or a kind that this reader does not know */
    const struct cJSON *json;           /* the case as it was read; the file owns it */
    void **memory;                      /* every array above */
} test_case;

typedef struct {
    char *variant, *paper, *equations, *evidence;    /* evidence: what a row is, and which of its settings rest on something weak; may be empty */
    test_case *cases;                   /* (n_cases) */
    int64_t n_cases;
    struct cJSON *json;
} case_file;

/* 0, or nonzero with a message that names the case and the key; *out then holds nothing.  Any bytes will do as text. */
int case_file_parse(const char *text, size_t size, case_file *out, char *error, size_t error_size);
int case_file_load(const char *path, case_file *out, char *error, size_t error_size);
void case_file_free(case_file *file);

/* what the conformance protocol asks of a program: a case without answers, whose advantage.expect is the exact advantages if they came.
 * CASE_UNKNOWN: there is a choice, an array or a kind that this reader does not know.  json must outlive the case.  A number of JSON is
 * finite or one of the strings "Infinity", "-Infinity", "NaN". */
enum { CASE_READ, CASE_WRONG, CASE_UNKNOWN };
int case_request_read(const struct cJSON *json, test_case *out, char *error, size_t error_size);
void case_free(test_case *c);
int case_has_loss(const test_case *c);          /* is it an objective on a batch of log-probabilities? */
int case_has_rows(const test_case *c);          /* is it CASE_LOGITS or CASE_HIDDEN? */
int64_t case_list_size(const test_case *c, int list);   /* of a case_list_kind */
int case_number(const struct cJSON *item, double *value);

/* Does a text say what is wrong with a CASE_REFUSE: its field, or another that its reason names, with or without axis or "batch."? */
int case_names_fault(const test_case *c, const char *text);

/* What stands in the place of a CASE_CALL's answers, given back by someone: an object whose members have the names, shapes and kinds of
 * the case's.  value, given: (n_call); a member that is absent is not given.  0, or nonzero with what is wrong. */
int case_call_read(const test_case *c, const struct cJSON *json, double *value, uint8_t *given, char *error, size_t error_size);
void case_call_where(const test_case *c, int64_t index, char *buffer, size_t size);     /* "selected[2][5]" */

const case_metric *case_metric_named(const test_case *c, const char *key);     /* or NULL */

/* the variants that a directory has files of, sorted; NULL if it cannot be read */
typedef struct { char **name; int64_t count; } case_list;
int case_list_read(const char *directory, case_list *out);
int case_list_load(const char *directory, const char *name, case_file *out, char *error, size_t error_size);
int case_list_has(const case_list *list, const char *name);
void case_list_free(case_list *list);

#endif
