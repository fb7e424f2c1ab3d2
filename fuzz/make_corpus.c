/* make_corpus OUT VECTORS: writes seeds for the harnesses, the same in every run.
 * OUT/batches: objectives and batches as bytes (bytes.h); OUT/json: the short cases of the vectors, one to a file. */
#define _POSIX_C_SOURCE 200809L
#include "bytes.h"
#include "../tests/support/random_objective.h"
#include <dirent.h>
#include <sys/stat.h>

enum { MAX_SEED = 8192, MAX_CASE = 3000, MAX_CASES_OF_A_FILE = 6 };

static int seeds;

static void save(const char *folder, const void *data, size_t size) {
    char path[4096];
    FILE *f;
    snprintf(path, sizeof path, "%s/seed-%04d", folder, seeds++);
    f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f)) { perror(path); exit(1); }
}

/* ---- batches ------------------------------------------------------------------------------------------------------------------- */

static void save_batch(const char *folder, const grpo_objective *obj, const rollouts *b, rng *r) {
    static uint8_t data[MAX_SEED];
    writer out = { NULL, 0, MAX_SEED };
    int64_t i, t;
    int given = rng_chance(r, 50);
    out.data = data;
    write_objective(&out, obj);
    write_batch(&out, b);
    write_u8(&out, given);
    for (i = 0; i < b->n_sequences; i++) {
        for (t = 0; t < b->length[i]; t++) write_number(&out, given ? (double)rng_below(r, 64) / 16 - 2 : 0);
    }
    write_u8(&out, rng_below(r, 4));
    save(folder, data, out.size);
}

static void make_batch(const char *folder, const grpo_objective *obj, rng *r) {
    static const int kinds[] = { 0, 0, RANDOM_EXTREME, RANDOM_NEG_INF };
    rollouts b;
    rollouts_random(r, RANDOM_SMALL | kinds[seeds % 4], &b);
    save_batch(folder, obj, &b, r);
    rollouts_free(&b);
}

static void make_batches(const char *folder) {
    int count, k;
    const grpo_preset *preset = grpo_presets(&count);
    grpo_objective obj;
    rng r = { 5 };
    for (k = 0; k < count; k++) {
        obj = grpo_objective_from_preset(&preset[k]);
        make_batch(folder, &obj, &r);
    }
    for (k = 0; k < 80; k++) {
        random_objective(&r, &obj);
        make_batch(folder, &obj, &r);
    }
}

/* ---- vectors: a line per case -------------------------------------------------------------------------------------------------- */

static char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    char *text;
    long end;
    if (!f || fseek(f, 0, SEEK_END) || (end = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) { perror(path); exit(1); }
    text = (char *)test_alloc(end + 1, 1);
    *size = fread(text, 1, (size_t)end, f);
    text[*size] = 0;
    fclose(f);
    return text;
}

static void save_case(const char *folder, const char *head, size_t head_size, const char *line, size_t size) {
    char text[2 * MAX_CASE];
    if (head_size + size + 2 > sizeof text) return;
    memcpy(text, head, head_size);
    memcpy(text + head_size, line, size);
    memcpy(text + head_size + size, "]}", 2);
    save(folder, text, head_size + size + 2);
}

static void cut_file(const char *folder, const char *path) {
    size_t size, head_size;
    char *text = read_file(path, &size), *line = strchr(text, '\n'), *end;
    int saved = 0;
    head_size = line ? (size_t)(line - text) + 1 : 0;
    for (; line && saved < MAX_CASES_OF_A_FILE; line = end) {
        end = strchr(++line, '\n');
        if (!end || end - line > MAX_CASE || strncmp(line, "{\"id\"", 5)) continue;
        save_case(folder, text, head_size, line, (size_t)(end - line) - (end[-1] == ','));
        saved++;
    }
    free(text);
}

static int by_name(const void *a, const void *b) { return strcmp((const char *)a, (const char *)b); }

static void cut_vectors(const char *folder, const char *vectors) {
    static char name[512][256];
    char path[4096];
    struct dirent *entry;
    DIR *d = opendir(vectors);
    size_t n = 0, k;
    if (!d) { perror(vectors); exit(1); }
    while ((entry = readdir(d)) != NULL && n < 512) {
        size_t length = strlen(entry->d_name);
        if (length > 5 && length < 256 && !strcmp(entry->d_name + length - 5, ".json")
            && strcmp(entry->d_name, "schema.json")) strcpy(name[n++], entry->d_name);
    }
    closedir(d);
    qsort(name, n, sizeof *name, by_name);
    for (k = 0; k < n; k++) {
        snprintf(path, sizeof path, "%s/%s", vectors, name[k]);
        cut_file(folder, path);
    }
}

int main(int argc, char **argv) {
    char folder[4096];
    if (argc != 3) { fputs("make_corpus OUT VECTORS\n", stderr); return 2; }
    mkdir(argv[1], 0777);
    snprintf(folder, sizeof folder, "%s/batches", argv[1]);
    mkdir(folder, 0777);
    make_batches(folder);
    snprintf(folder, sizeof folder, "%s/json", argv[1]);
    mkdir(folder, 0777);
    cut_vectors(folder, argv[2]);
    printf("%d seeds\n", seeds);
    return 0;
}
