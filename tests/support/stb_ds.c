/* The implementation of stb_ds in a file of its own, which is compiled without this project's warnings. */
#define STB_DS_IMPLEMENTATION
#include <stb_ds.h>
