/* The part of CUDA that the programs of examples/cuda use, on a machine without a GPU: blocks run in sequence, device memory is host
 * memory.  Tests results, not speed. */
#ifndef CUDA_ON_HOST_H
#define CUDA_ON_HOST_H

#include <pthread.h>
#include <ucontext.h>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __shared__ static                                              /* blocks run in sequence */
#define __launch_bounds__(...)

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned n = 1) : x(n), y(1), z(1) {}
};
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) uint4 { uint32_t x, y, z, w; };

static thread_local dim3 threadIdx, blockIdx;
static inline void __syncthreads();

static inline int atomicMin(int *x, int y) {
    int old = __atomic_load_n(x, __ATOMIC_RELAXED);
    while (y < old && !__atomic_compare_exchange_n(x, &old, y, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) { }
    return old;
}

static inline int atomicMax(int *x, int y) {
    int old = __atomic_load_n(x, __ATOMIC_RELAXED);
    while (y > old && !__atomic_compare_exchange_n(x, &old, y, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) { }
    return old;
}

typedef enum { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorInsufficientDriver = 35,
               cudaErrorNoDevice = 100 } cudaError_t;
typedef enum { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 } cudaMemcpyKind;
typedef struct cuda_on_host_stream *cudaStream_t;
typedef struct { dim3 gridDim, blockDim; size_t dynamicSmemBytes; cudaStream_t stream; void *attrs; unsigned numAttrs; } cudaLaunchConfig_t;

static inline const char *cudaGetErrorString(cudaError_t e) { return e == cudaSuccess ? "no error" : "an error"; }
static inline cudaError_t cudaGetDeviceCount(int *n) { *n = 1; return cudaSuccess; }
static inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
static inline cudaError_t cudaFree(void *p) { free(p); return cudaSuccess; }

/* fills the memory with NaN, so that reading unwritten elements is detected */
template <class T> static inline cudaError_t cudaMalloc(T **p, size_t bytes) {
    *p = (T *)aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (*p) memset((void *)*p, 0xff, bytes);
    return *p ? cudaSuccess : cudaErrorMemoryAllocation;
}

static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind) {
    memcpy(to, from, bytes);
    return cudaSuccess;
}

/* ---- a block -----------------------------------------------------------------------------------------------------------------------
 * Its threads are coroutines that switch at barriers, in alternating order, so that a missing barrier changes a value; with
 * CUDA_ON_HOST_THREADS they are threads, so that ThreadSanitizer detects data races. */

#ifdef CUDA_ON_HOST_THREADS
static pthread_barrier_t cuda_on_host_barrier;
static inline void __syncthreads() { pthread_barrier_wait(&cuda_on_host_barrier); }

static inline void cuda_on_host_run(unsigned threads, unsigned blocks, const std::function<void()> &kernel) {
    pthread_barrier_t between;
    std::vector<std::thread> all;
    pthread_barrier_init(&cuda_on_host_barrier, NULL, threads);
    pthread_barrier_init(&between, NULL, threads);
    for (unsigned t = 0; t < threads; t++)
        all.emplace_back([&, t] {
            threadIdx.x = t;
            for (unsigned b = 0; b < blocks; b++) {
                blockIdx.x = b;
                kernel();
                pthread_barrier_wait(&between);
            }
        });
    for (std::thread &t : all) t.join();
    pthread_barrier_destroy(&cuda_on_host_barrier);
    pthread_barrier_destroy(&between);
}
#else
enum { CUDA_ON_HOST_STACK = 1 << 16 };
struct cuda_on_host_thread { ucontext_t at; int ended; };
static std::vector<cuda_on_host_thread> cuda_on_host_threads;
static ucontext_t cuda_on_host_back;
static const std::function<void()> *cuda_on_host_kernel;

static inline void __syncthreads() {
    const unsigned t = threadIdx.x;
    swapcontext(&cuda_on_host_threads[t].at, &cuda_on_host_back);
}

static void cuda_on_host_begin() {
    (*cuda_on_host_kernel)();
    cuda_on_host_threads[threadIdx.x].ended = 1;
}

static inline void cuda_on_host_run(unsigned threads, unsigned blocks, const std::function<void()> &kernel) {
    static std::vector<char> stack;
    unsigned round = 0;
    stack.resize((size_t)threads * CUDA_ON_HOST_STACK);
    cuda_on_host_threads.resize(threads);
    cuda_on_host_kernel = &kernel;
    for (unsigned b = 0; b < blocks; b++) {
        unsigned left = threads;
        for (unsigned t = 0; t < threads; t++) {
            cuda_on_host_thread *x = &cuda_on_host_threads[t];
            x->ended = 0;
            getcontext(&x->at);
            x->at.uc_stack.ss_sp = stack.data() + (size_t)t * CUDA_ON_HOST_STACK;
            x->at.uc_stack.ss_size = CUDA_ON_HOST_STACK;
            x->at.uc_link = &cuda_on_host_back;
            makecontext(&x->at, cuda_on_host_begin, 0);
        }
        blockIdx.x = b;
        for (; left > 0; round++)                                      /* up to the next barrier, or the end */
            for (unsigned k = 0; k < threads; k++) {
                cuda_on_host_thread *x = &cuda_on_host_threads[threadIdx.x = round % 2 ? threads - 1 - k : k];
                if (x->ended) continue;
                swapcontext(&cuda_on_host_back, &x->at);
                left -= (unsigned)x->ended;
            }
    }
}
#endif

template <class... P, class... A>
static inline cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *how, void (*kernel)(P...), A &&...a) {
    cuda_on_host_run(how->blockDim.x, how->gridDim.x, [&] { kernel(a...); });
    return cudaSuccess;
}
#endif
