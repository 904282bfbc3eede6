// Mean 0 and variance 1, and its gradient. The arrays have shape (outer, count, inner), and the statistics are over the
// middle axis: with an inner size of 1 a block takes a row (layer normalization), else blocks take pieces of columns, whose
// statistics are combined in a fixed order (batch normalization). The variance is that of the differences from the mean, so
// that nothing cancels. Statistics are in the type that is computed with.
#include "columns.cuh"
#include "rows.cuh"

// One block for each row.
extern "C" __global__ void standardize_rows(
    const number* x, number* y, wide* means, wide* variances, i64 width, double epsilon) {
    __shared__ wide parts[32];
    const number* row = x + blockIdx.x * width;
    wide mean = row_mean(row, width, parts), variance = row_variance(row, width, mean, parts);
    wide deviation = sqrt(variance + (wide)epsilon);
    for (i64 n = threadIdx.x; n < width; n += blockDim.x)
        store(y[blockIdx.x * width + n], (load(row[n]) - mean) / deviation);
    if (threadIdx.x == 0) {
        means[blockIdx.x] = mean;
        variances[blockIdx.x] = variance;
    }
}

extern "C" __global__ void standardize_rows_grad(
    const number* gradients, const number* standardized, const number* variances, number* y, i64 width, double epsilon) {
    __shared__ wide parts[32];
    const number *g = gradients + blockIdx.x * width, *s = standardized + blockIdx.x * width;
    wide sum = 0, products = 0;
    for (i64 n = threadIdx.x; n < width; n += blockDim.x) {
        sum += load(g[n]);
        products += load(g[n]) * load(s[n]);
    }
    wide mean = block_sum(sum, parts) / width, slope = block_sum(products, parts) / width;
    wide deviation = sqrt(load(variances[blockIdx.x]) + (wide)epsilon);
    for (i64 n = threadIdx.x; n < width; n += blockDim.x)
        store(y[blockIdx.x * width + n], (load(g[n]) - mean - load(s[n]) * slope) / deviation);
}

// The mean of each piece of a column, and the sum of the squares of the differences from it.
extern "C" __global__ void column_statistics(
    const number* x, wide* means, wide* squares, i64 count, i64 inner, i64 piece_size) {
    __shared__ wide lines[LINES][33];
    Piece piece = this_piece(count, inner, piece_size);
    bool is_there = piece.column < inner;
    wide sum = 0, differences = 0;
    if (is_there)
        for (i64 n = piece.first + threadIdx.y; n < piece.end; n += LINES) sum += load(x[piece.base + n * inner]);
    wide mean = lines_sum(sum, lines) / (piece.end - piece.first);
    if (is_there)
        for (i64 n = piece.first + threadIdx.y; n < piece.end; n += LINES) {
            wide difference = load(x[piece.base + n * inner]) - mean;
            differences += difference * difference;
        }
    differences = lines_sum(differences, lines);
    if (!is_there || threadIdx.y != 0) return;
    means[piece.partial] = mean;
    squares[piece.partial] = differences;
}

// The statistics of whole columns, one thread for each (T. F. Chan, G. H. Golub and R. J. LeVeque, "Updating formulae and a
// pairwise algorithm for computing sample variances", 1979).
extern "C" __global__ void combine_statistics(const wide* means, const wide* squares, wide* mean, wide* variance, i64 outer,
                                              i64 count, i64 inner, i64 piece_size, i64 pieces) {
    i64 n = thread_number();
    if (n >= outer * inner) return;
    wide m = 0, total = 0;
    for (i64 piece = 0; piece < pieces; ++piece) {
        i64 at = (n / inner * pieces + piece) * inner + n % inner, before = piece * piece_size;
        i64 size = count - before < piece_size ? count - before : piece_size;
        wide difference = means[at] - m, share = (wide)size / (before + size);
        m += difference * share;
        total += squares[at] + difference * difference * before * share;
    }
    mean[n] = m;
    variance[n] = total / count;
}

extern "C" __global__ void standardize_columns(const number* x, const wide* mean, const wide* variance, number* y, i64 size,
                                               i64 count, i64 inner, double epsilon) {
    i64 n = thread_number();
    if (n >= size) return;
    i64 at = n / inner / count * inner + n % inner;
    store(y[n], (load(x[n]) - mean[at]) / sqrt(variance[at] + (wide)epsilon));
}

// The sums of gradients, and of their products with what was standardized, over pieces of columns.
extern "C" __global__ void column_sums(
    const number* g, const number* s, wide* sums, wide* products, i64 count, i64 inner, i64 piece_size) {
    __shared__ wide lines[LINES][33];
    Piece piece = this_piece(count, inner, piece_size);
    bool is_there = piece.column < inner;
    wide sum = 0, product = 0;
    if (is_there)
        for (i64 n = piece.first + threadIdx.y; n < piece.end; n += LINES) {
            wide gradient = load(g[piece.base + n * inner]);
            sum += gradient;
            product += gradient * load(s[piece.base + n * inner]);
        }
    sum = lines_sum(sum, lines);
    product = lines_sum(product, lines);
    if (!is_there || threadIdx.y != 0) return;
    sums[piece.partial] = sum;
    products[piece.partial] = product;
}

extern "C" __global__ void combine_sums(const wide* sums, const wide* products, wide* mean, wide* slope, i64 outer,
                                        i64 count, i64 inner, i64 pieces) {
    i64 n = thread_number();
    if (n >= outer * inner) return;
    wide sum = 0, product = 0;
    for (i64 piece = 0; piece < pieces; ++piece) {
        i64 at = (n / inner * pieces + piece) * inner + n % inner;
        sum += sums[at];
        product += products[at];
    }
    mean[n] = sum / count;
    slope[n] = product / count;
}

extern "C" __global__ void standardize_columns_grad(const number* g, const number* s, const number* variance, const wide* mean,
                                                    const wide* slope, number* y, i64 size, i64 count, i64 inner, double epsilon) {
    i64 n = thread_number();
    if (n >= size) return;
    i64 at = n / inner / count * inner + n % inner;
    store(y[n], (load(g[n]) - mean[at] - load(s[n]) * slope[at]) / sqrt(load(variance[at]) + (wide)epsilon));
}
