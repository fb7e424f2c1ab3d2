#define GSPO_IMPLEMENTATION             /* what logits_loss.c and hidden_loss.c need of headers.c */
#include "../gspo.h"
#define GRPO_LOGITS_IMPLEMENTATION
#include "../extra/grpo_logits.h"
#define GRPO_HIDDEN_IMPLEMENTATION
#include "../extra/grpo_hidden.h"
