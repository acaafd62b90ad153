/*
 * Matrix product by the vendor library: CBLAS sgemm, row-major, no transposition. The prototype is
 * declared here so that the library's header need not be installed.
 */
#include "kernel.h"

#define CBLAS_ROW_MAJOR 101
#define CBLAS_NO_TRANS 111

void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                 const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

void matmul(const float *a, const float *b, float *c, const int64_t *dims, void *ws)
{
    int m = (int)dims[0], k = (int)dims[1], n = (int)dims[2];

    (void)ws;
    cblas_sgemm(CBLAS_ROW_MAJOR, CBLAS_NO_TRANS, CBLAS_NO_TRANS, m, n, k, 1.0f, a, k, b, n, 0.0f,
                c, n);
}
