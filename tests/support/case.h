/* Reads the vectors (format: vectors/README.md) into batches.  A case owns all its arrays; they are packed. */
#ifndef CASE_H
#define CASE_H
#include "../../grpo.h"

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

/* A part of a split: the tokens of one backward pass, with its optimiser step.  Every token is in one part, or its response is filtered. */
typedef enum { CASE_PART_OF_GROUPS, CASE_PART_OF_RESPONSES, CASE_PART_OF_ROWS, CASE_PART_OF_TOKENS } case_part_kind;
typedef struct { int64_t sequence, begin, end; } case_range;        /* tokens begin to end - 1 of a response */
typedef struct { int64_t rank, step, n_ranges; case_range *range; case_part_kind kind; } case_part;

/* the lists of a split: a number for each part, or for each range of parts of tokens */
typedef enum { CASE_PART_TOKENS, CASE_PART_SEQUENCES, CASE_PART_GROUPS, CASE_PART_SUM, CASE_PART_LOSS, CASE_SLICE_TOKENS,
               CASE_SLICE_LOG_RATIO, CASE_N_LISTS } case_list_kind;
extern const char *const case_list_name[CASE_N_LISTS];

/* CASE_LOGITS: a row of logits for each token.  CASE_HIDDEN: a hidden state for each token, and a projection with a row for each entry of
 * the vocabulary.  Masked tokens may have NaN. */
typedef struct {
    int64_t vocab, width;               /* width: of a hidden state */
    double temperature;
    const int64_t *target;              /* (tokens) index into the vocabulary */
    const grpo_real *logits;            /* (tokens, vocab); NULL: CASE_HIDDEN */
    const grpo_real *hidden, *weight;   /* (tokens, width), (vocab, width); NULL: CASE_LOGITS */
    const uint8_t *kept;                /* (tokens, vocab) 0: banned; NULL: none is */
    const int64_t *shard, *chunk;       /* (n_shards) columns of the vocabulary, (n_chunks) tokens; NULL: all at once */
    int64_t n_shards, n_chunks;
    const grpo_real *dlogp, *dentropy;  /* (tokens) gradients given by the case; NULL: the objective's, or no gradient is expected */
    int has_loss;                       /* 1: the case has an objective, and a batch without logp and entropy */
} case_rows;

typedef struct {
    char *id;
    case_kind kind;
    grpo_objective objective;
    grpo_batch batch;
    int64_t n_sequences;
    const grpo_real *given;             /* (tokens) advantages given by the case; NULL: computed by the advantage axis */
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
    int added;                          /* 1: gradients are added over ranks, 0: averaged */
    int all_at_once;                    /* 1: one optimiser step, nothing filtered out */
    case_answer list[CASE_N_LISTS];     /* NULL where there is none */
    const char *function;               /* of CASE_CALL, which has a batch if the function reads one */
    const struct cJSON *arguments, *answers;    /* the JSON of the file; a request has no answers */
    case_answer call;                   /* (n_call) the answers' numbers and flags (0, 1) one after the other; without a scale: 0 */
    int64_t n_call;
    const char *field, *reason;         /* of CASE_REFUSE, if it has answers: what is invalid, such as "batch.reward", and why */
    char *unread;                       /* of CASE_REFUSE: why this reader cannot represent the objective or the batch; NULL: it can */
    int unknown;                        /* 1: not read, because of a choice, an array or a kind that this reader does not know */
    const struct cJSON *json;           /* the case as it was read; the file owns it */
    void **memory;                      /* every array above */
} test_case;

typedef struct {
    char *variant, *paper, *equations, *evidence;    /* evidence: kind of claim, settings with weak sources; may be empty */
    test_case *cases;                   /* (n_cases) */
    int64_t n_cases;
    struct cJSON *json;
} case_file;

/* returns 0, or nonzero with a message that names the case and the key, and *out is empty.  Text may be any bytes. */
int case_file_parse(const char *text, size_t size, case_file *out, char *error, size_t error_size);
int case_file_load(const char *path, case_file *out, char *error, size_t error_size);
void case_file_free(case_file *file);

/* reads a request of the conformance protocol: a case without answers; advantage.expect holds the exact advantages if the request has them.
 * CASE_UNKNOWN: the request has a choice, an array or a kind that this reader does not know.  json must outlive the case.  A number in JSON
 * is finite or one of the strings "Infinity", "-Infinity", "NaN". */
enum { CASE_READ, CASE_WRONG, CASE_UNKNOWN };
int case_request_read(const struct cJSON *json, test_case *out, char *error, size_t error_size);
void case_free(test_case *c);
int case_has_flag(const test_case *c, const char *flag);        /* is it among the flags of the case? */
int case_has_loss(const test_case *c);          /* 1: an objective on a batch of log-probabilities */
int case_has_rows(const test_case *c);          /* 1: CASE_LOGITS or CASE_HIDDEN */
int64_t case_list_size(const test_case *c, int list);   /* of a case_list_kind */
int case_number(const struct cJSON *item, double *value);
int64_t case_leaves(const struct cJSON *json);  /* how many items that are no array or object: numbers, flags */

/* 1 if the text names what is wrong with a CASE_REFUSE: its field, or another one in its reason, with or without axis or "batch." */
int case_names_fault(const test_case *c, const char *text);

/* reads a program's answers to a CASE_CALL: an object whose members have the names, shapes and kinds of the case's answers.  value, given:
 * (n_call); given is 0 for members that are absent.  Returns 0, or nonzero with what is wrong. */
int case_call_read(const test_case *c, const struct cJSON *json, double *value, uint8_t *given, char *error, size_t error_size);
void case_call_where(const test_case *c, int64_t index, char *buffer, size_t size);     /* "selected[2][5]" */

const case_metric *case_metric_named(const test_case *c, const char *key);     /* or NULL */

/* an array of zeros, with room for one element more, so that an empty one is not NULL; it is added to an stb_ds array of all to be freed */
void *case_memory(void ***all, int64_t count, size_t size);
void case_memory_free(void ***all);

/* the variants whose files are in a directory, sorted; name is NULL if it cannot be read */
typedef struct { char **name; int64_t count; } case_list;
int case_list_read(const char *directory, case_list *out);
int case_list_load(const char *directory, const char *name, case_file *out, char *error, size_t error_size);
int case_list_has(const case_list *list, const char *name);
void case_list_free(case_list *list);

/* calls the function with each file of a directory; nonzero if one cannot be read, which is printed, or there is none */
typedef void case_file_visitor(void *user, const char *name, const case_file *file);
int case_each_file(const char *directory, case_file_visitor *visit, void *user);

#endif
