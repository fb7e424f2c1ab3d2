#define GSPO_IMPLEMENTATION
#include "gspo.h"
