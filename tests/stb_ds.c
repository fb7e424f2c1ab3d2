/* Apart, so that the warnings of this code need not hold for that one. */
#define STB_DS_IMPLEMENTATION
#include <stb_ds.h>
