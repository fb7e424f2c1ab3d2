#define GSPO_IMPLEMENTATION             /* what logits_loss.c needs of headers.c */
#include "../gspo.h"
#define GRPO_LOGITS_IMPLEMENTATION
#include "../extra/grpo_logits.h"
