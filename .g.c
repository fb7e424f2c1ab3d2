#define GRPO_CONTEXT_IMPLEMENTATION
#include "extra/grpo_context.h"
