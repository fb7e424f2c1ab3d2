/* The cuBLAS products that examples/cuda/hidden.cu calls, in plain loops: bfloat16 times bfloat16, column-major. */
#ifndef CUBLAS_ON_HOST_H
#define CUBLAS_ON_HOST_H
#include "cuda_runtime.h"

typedef struct cublas_on_host *cublasHandle_t;
typedef enum { CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_INVALID_VALUE = 7 } cublasStatus_t;
typedef enum { CUBLAS_OP_N, CUBLAS_OP_T } cublasOperation_t;
typedef enum { CUDA_R_32F = 0, CUDA_R_16BF = 14 } cudaDataType;
typedef enum { CUBLAS_COMPUTE_32F = 68 } cublasComputeType_t;
typedef enum { CUBLAS_GEMM_DEFAULT = -1 } cublasGemmAlgo_t;

static inline cublasStatus_t cublasCreate(cublasHandle_t *) { return CUBLAS_STATUS_SUCCESS; }
static inline cublasStatus_t cublasDestroy(cublasHandle_t) { return CUBLAS_STATUS_SUCCESS; }

static inline float cublas_on_host_bfloat(const void *x, int64_t at) {
    const uint32_t bits = (uint32_t)((const uint16_t *)x)[at] << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline void cublas_on_host_put(void *c, int64_t at, cudaDataType type, float x) {
    uint32_t bits;
    if (type == CUDA_R_32F) { ((float *)c)[at] = x; return; }
    memcpy(&bits, &x, sizeof bits);
    ((uint16_t *)c)[at] = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* c (m, n) = alpha op(a) op(b) + beta c */
static inline cublasStatus_t cublasGemmEx(cublasHandle_t, cublasOperation_t op_a, cublasOperation_t op_b, int m, int n, int k,
                                          const void *alpha, const void *a, cudaDataType type_a, int lda, const void *b,
                                          cudaDataType type_b, int ldb, const void *beta, void *c, cudaDataType type_c, int ldc,
                                          cublasComputeType_t, cublasGemmAlgo_t) {
    const float by = *(const float *)alpha, kept = *(const float *)beta;
    if (type_a != CUDA_R_16BF || type_b != CUDA_R_16BF || ldc < m) return CUBLAS_STATUS_INVALID_VALUE;
    if (lda < (op_a == CUBLAS_OP_N ? m : k) || ldb < (op_b == CUBLAS_OP_N ? k : n)) return CUBLAS_STATUS_INVALID_VALUE;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < m; i++) {
            const int64_t at = i + j * ldc;
            float sum = 0;
            for (int64_t l = 0; l < k; l++)
                sum += cublas_on_host_bfloat(a, op_a == CUBLAS_OP_N ? i + l * lda : l + i * lda)
                    * cublas_on_host_bfloat(b, op_b == CUBLAS_OP_N ? l + j * ldb : j + l * ldb);
            if (kept != 0) sum = by * sum + kept * (type_c == CUDA_R_32F ? ((const float *)c)[at] : cublas_on_host_bfloat(c, at));
            cublas_on_host_put(c, at, type_c, sum);
        }
    return CUBLAS_STATUS_SUCCESS;
}
#endif
