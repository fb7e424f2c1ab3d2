#define GSPO_IMPLEMENTATION             /* the implementation for logits_loss.c and hidden_loss.c */
#include "../../gspo.h"
#define GRPO_LOGITS_IMPLEMENTATION
#include "../../extra/grpo_logits.h"
#define GRPO_HIDDEN_IMPLEMENTATION
#include "../../extra/grpo_hidden.h"
#define GRPO_MESSAGES_IMPLEMENTATION
#include "../../extra/grpo_messages.h"
