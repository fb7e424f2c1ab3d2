/* What both programs need: errors end them, arrays on the device, random numbers, times. */
#include <chrono>
#include <cstdio>
#include <cstdlib>

static void cuda(cudaError_t e) {
    if (e == cudaSuccess) return;
    fprintf(stderr, "%s\n", cudaGetErrorString(e));
    exit(1);
}

static void ask(grpo_status st) {
    char text[GRPO_MESSAGE_SIZE];
    if (!st) return;
    fprintf(stderr, "%s\n", grpo_status_message(st, text, sizeof text));
    exit(1);
}

static int64_t bytes_on_device;                                         /* asked for so far */

template <class T> static T *device(int64_t n) {
    T *p = NULL;
    cuda(cudaMalloc(&p, (size_t)(n > 0 ? n : 1) * sizeof(T)));
    bytes_on_device += n * (int64_t)sizeof(T);
    return p;
}

template <class T> static void to_device(T *to, const T *from, int64_t n) {
    cuda(cudaMemcpy(to, from, (size_t)n * sizeof(T), cudaMemcpyHostToDevice));
}

template <class T> static void to_host(T *to, const T *from, int64_t n) {
    cuda(cudaMemcpy(to, from, (size_t)n * sizeof(T), cudaMemcpyDeviceToHost));
}

static double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

static double unit() {
    static uint64_t state = 1;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(state >> 11) * 0x1p-53;
}

enum { TURNS = 9 };                                                     /* of what is timed, for the median */

/* ends the program where there is no GPU */
static void need_gpu() {
    int n = 0;
    if (cudaGetDeviceCount(&n) == cudaSuccess && n > 0) return;
    fprintf(stderr, "there is no GPU\n");
    exit(77);
}

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort_times(double *ms) { qsort(ms, TURNS, sizeof *ms, by_size); }
