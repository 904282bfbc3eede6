// Standardization with a scale and an offset behind it, and its gradients. The arrays have shape (outer, count, inner), and
// the statistics, which standardize.cu computes for columns, are over the middle axis. With an inner size of 1 a block takes
// a row, and scale and offset are as long as a row (layer normalization). Else outer is 1, and there is one scale and one
// offset for each column (batch normalization).
#include "columns.cuh"
#include "rows.cuh"

extern "C" __global__ void affine_rows(const number* x, const number* scale, const number* offset, number* y,
                                       wide* means, wide* variances, i64 width, double epsilon) {
    __shared__ wide parts[32];
    const number* row = x + blockIdx.x * width;
    wide mean = row_mean(row, width, parts), variance = row_variance(row, width, mean, parts);
    wide deviation = sqrt(variance + (wide)epsilon);
    for (i64 n = threadIdx.x; n < width; n += blockDim.x)
        store(y[blockIdx.x * width + n], (load(row[n]) - mean) / deviation * load(scale[n]) + load(offset[n]));
    if (threadIdx.x == 0) {
        means[blockIdx.x] = mean;
        variances[blockIdx.x] = variance;
    }
}

extern "C" __global__ void affine_columns(const number* x, const number* scale, const number* offset, const wide* mean,
                                          const wide* variance, number* y, i64 size, i64 inner, double epsilon) {
    i64 n = thread_number(), at = n % inner;
    if (n >= size) return;
    wide standardized = (load(x[n]) - mean[at]) / sqrt(variance[at] + (wide)epsilon);
    store(y[n], standardized * load(scale[at]) + load(offset[at]));
}

// The sums of gradients, and of their products with what was standardized, over pieces of columns. The statistics are of
// columns, or of rows where the scale is as long as a row.
extern "C" __global__ void affine_sums(const number* g, const number* x, const number* mean, const number* variance, wide* sums,
                                       wide* products, i64 count, i64 inner, i64 piece_size, double epsilon, bool is_of_rows) {
    __shared__ wide lines[LINES][33];
    Piece piece = this_piece(count, inner, piece_size);
    bool is_there = piece.column < inner;
    wide sum = 0, product = 0;
    if (is_there)
        for (i64 n = piece.first + threadIdx.y; n < piece.end; n += LINES) {
            i64 at = is_of_rows ? n : piece.column;
            wide gradient = load(g[piece.base + n * inner]);
            sum += gradient;
            product += gradient * (load(x[piece.base + n * inner]) - load(mean[at])) / sqrt(load(variance[at]) + (wide)epsilon);
        }
    sum = lines_sum(sum, lines);
    product = lines_sum(product, lines);
    if (!is_there || threadIdx.y != 0) return;
    sums[piece.partial] = sum;
    products[piece.partial] = product;
}

// The gradients of scale and offset, one thread for each; and the sums as they are computed with.
extern "C" __global__ void affine_totals(
    wide* sums, wide* products, number* of_scale, number* of_offset, i64 inner, i64 pieces) {
    i64 n = thread_number();
    if (n >= inner) return;
    wide sum = 0, product = 0;
    for (i64 piece = 0; piece < pieces; ++piece) {
        sum += sums[piece * inner + n];
        product += products[piece * inner + n];
    }
    sums[n] = sum;
    products[n] = product;
    store(of_offset[n], sum);
    store(of_scale[n], product);
}

extern "C" __global__ void affine_columns_grad(const number* g, const number* x, const number* scale, const number* mean,
                                               const number* variance, const wide* sums, const wide* products, number* y,
                                               i64 size, i64 count, i64 inner, double epsilon) {
    i64 n = thread_number(), at = n % inner;
    if (n >= size) return;
    wide deviation = sqrt(load(variance[at]) + (wide)epsilon);
    wide standardized = (load(x[n]) - load(mean[at])) / deviation;
    store(y[n], (load(g[n]) - sums[at] / count - standardized * (products[at] / count)) * load(scale[at]) / deviation);
}

extern "C" __global__ void affine_rows_grad(const number* gradients, const number* x, const number* scale, const number* means,
                                            const number* variances, number* y, i64 width, double epsilon) {
    __shared__ wide parts[32];
    const number *g = gradients + blockIdx.x * width, *row = x + blockIdx.x * width;
    wide center = load(means[blockIdx.x]), deviation = sqrt(load(variances[blockIdx.x]) + (wide)epsilon);
    wide sum = 0, products = 0;
    for (i64 n = threadIdx.x; n < width; n += blockDim.x) {
        wide scaled = load(g[n]) * load(scale[n]);
        sum += scaled;
        products += scaled * (load(row[n]) - center) / deviation;
    }
    wide mean = block_sum(sum, parts) / width, slope = block_sum(products, parts) / width;
    for (i64 n = threadIdx.x; n < width; n += blockDim.x) {
        wide standardized = (load(row[n]) - center) / deviation;
        store(y[blockIdx.x * width + n], (load(g[n]) * load(scale[n]) - mean - standardized * slope) / deviation);
    }
}
