/* Runs a harness on the given files and folders, for compilers without libFuzzer: gcc fuzz_objective.c replay.c ... */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static long files_run, files_failed;

static int replay_stream(FILE *f) {
    uint8_t *data = NULL, *grown;
    size_t size = 0, room = 0, n = 1;
    while (n > 0) {
        if (size == room) {
            room = room ? 2 * room : 4096;
            grown = (uint8_t *)realloc(data, room);
            if (!grown) { free(data); return 1; }
            data = grown;
        }
        size += n = fread(data + size, 1, room - size, f);
    }
    grown = (uint8_t *)malloc(size ? size : 1);                  /* of the exact size, for address sanitisers */
    if (grown) {
        memcpy(grown, data, size);
        LLVMFuzzerTestOneInput(grown, size);
    }
    free(grown);
    free(data);
    return !grown;
}

static void replay_file(const char *path) {
    FILE *f = fopen(path, "rb");
    files_run++;
    if (!f || replay_stream(f)) {
        perror(path);
        files_failed++;
    }
    if (f) fclose(f);
}

static void replay(const char *path) {
    char name[4096];
    struct dirent *entry;
    DIR *folder = opendir(path);
    if (!folder) { replay_file(path); return; }
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        replay(name);
    }
    closedir(folder);
}

int main(int argc, char **argv) {
    int k;
    for (k = 1; k < argc; k++) replay(argv[k]);
    printf("%ld passed, %ld failed\n", files_run - files_failed, files_failed);
    return files_failed || !files_run;
}
