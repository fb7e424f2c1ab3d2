/* Enough of CUDA's declarations for clang to compile kernels without CUDA.  Unlike a compiler for the host it detects a kernel that calls a
 * host function.  Declares the C library's functions that kernels use; nothing is linked. */
#ifndef CUDA_BY_CLANG_H
#define CUDA_BY_CLANG_H
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

__device__ double exp(double);
__device__ double expm1(double);
__device__ double log(double);
__device__ double log1p(double);
__device__ double sqrt(double);
__device__ double floor(double);
__device__ double ceil(double);
__device__ double fabs(double);
__device__ double fmax(double, double);
__device__ double fma(double, double, double);
__device__ double ldexp(double, int);
__device__ double frexp(double, int *);
__device__ float ceilf(float);
__device__ float fmaf(float, float, float);
__device__ float fmaxf(float, float);
__device__ float nextafterf(float, float);
__device__ void *memset(void *, int, size_t);
__device__ void *memcpy(void *, const void *, size_t);

struct dim3 {
    unsigned x, y, z;
    __host__ __device__ dim3(unsigned n = 1) : x(n), y(1), z(1) {}
};
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) uint4 { uint32_t x, y, z, w; };
struct cuda_place { unsigned x, y, z; };
extern const __device__ cuda_place threadIdx, blockIdx;
__device__ void __syncthreads();
__device__ int atomicMin(int *, int);
__device__ int atomicMax(int *, int);

typedef enum { cudaSuccess = 0, cudaErrorInvalidValue = 1 } cudaError_t;
typedef enum { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 } cudaMemcpyKind;
typedef struct cuda_stream *cudaStream_t;
typedef struct { dim3 gridDim, blockDim; size_t dynamicSmemBytes; cudaStream_t stream; void *attrs; unsigned numAttrs; } cudaLaunchConfig_t;
const char *cudaGetErrorString(cudaError_t);
cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaFree(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
template <class T> cudaError_t cudaMalloc(T **, size_t);
template <class... P, class... A> cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *, void (*)(P...), A &&...);
extern "C" unsigned cudaConfigureCall(dim3, dim3, size_t, void *);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
#endif
