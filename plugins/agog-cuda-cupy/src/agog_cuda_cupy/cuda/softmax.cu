// Softmax, its logarithm, the cross entropies and their gradients, over the rows of a matrix. One warp takes a row:
// blockDim = (32, rows of a block). Half precision is computed in float and rounded once.
#include "device.cuh"
#include "errors.cuh"

// The row of this warp; a whole warp leaves at once where there is none.
#define ROW_OR_RETURN(rows)                                   \
    i64 row = (i64)blockIdx.x * blockDim.y + threadIdx.y;     \
    if (row >= rows) return;
#define EACH_COLUMN(n, width) for (i64 n = threadIdx.x; n < width; n += 32)

__device__ inline wide row_max(const number* x, i64 width) {
    wide highest = -AGOG_INFINITY;
    EACH_COLUMN(n, width) {
        wide value = load(x[n]);
        highest = highest < value ? value : highest;
    }
    return warp_max(highest);
}

// The sum of the exponentials of the differences from the highest; NaN where an element is.
__device__ inline wide row_exponentials(const number* x, i64 width, wide highest) {
    wide sum = 0;
    EACH_COLUMN(n, width) sum += exp(load(x[n]) - highest);
    return warp_sum(sum);
}

extern "C" __global__ void softmax(const number* logits, number* y, i64 rows, i64 width) {
    ROW_OR_RETURN(rows)
    const number* x = logits + row * width;
    wide highest = row_max(x, width), sum = row_exponentials(x, width, highest);
    EACH_COLUMN(n, width) store(y[row * width + n], exp(load(x[n]) - highest) / sum);
}

extern "C" __global__ void softmax_grad(const number* gradients, const number* softmax, number* y, i64 rows, i64 width) {
    ROW_OR_RETURN(rows)
    const number *g = gradients + row * width, *p = softmax + row * width;
    wide mean = 0;
    EACH_COLUMN(n, width) mean += load(g[n]) * load(p[n]);
    mean = warp_sum(mean);
    EACH_COLUMN(n, width) store(y[row * width + n], (load(g[n]) - mean) * load(p[n]));
}

// Scores times a factor become weights in their place; where it is causal, a query sees the keys up to its own place.
extern "C" __global__ void attention_weights(
    number* scores, i64 rows, i64 width, i64 queries, double factor, bool is_causal) {
    ROW_OR_RETURN(rows)
    number* x = scores + row * width;
    i64 place = row % queries + 1, seen = is_causal && place < width ? place : width;
    wide highest = -AGOG_INFINITY, sum = 0, times = (wide)factor;
    EACH_COLUMN(n, seen) {
        wide value = load(x[n]) * times;
        highest = highest < value ? value : highest;
    }
    highest = warp_max(highest);
    EACH_COLUMN(n, seen) sum += exp(load(x[n]) * times - highest);
    sum = warp_sum(sum);
    EACH_COLUMN(n, width) store(x[n], n < seen ? exp(load(x[n]) * times - highest) / sum : 0);
}

// Gradients of the weights become gradients of the products in their place.
extern "C" __global__ void attention_slopes(number* gradients, const number* weights, i64 rows, i64 width, double factor) {
    ROW_OR_RETURN(rows)
    number* g = gradients + row * width;
    const number* p = weights + row * width;
    wide mean = 0;
    EACH_COLUMN(n, width) mean += load(g[n]) * load(p[n]);
    mean = warp_sum(mean);
    EACH_COLUMN(n, width) store(g[n], (load(g[n]) - mean) * load(p[n]) * (wide)factor);
}

extern "C" __global__ void log_softmax(const number* logits, number* y, i64 rows, i64 width) {
    ROW_OR_RETURN(rows)
    const number* x = logits + row * width;
    wide highest = row_max(x, width), logarithm = log(row_exponentials(x, width, highest));
    EACH_COLUMN(n, width) store(y[row * width + n], load(x[n]) - highest - logarithm);
}

extern "C" __global__ void log_softmax_grad(
    const number* gradients, const number* log_softmax, number* y, i64 rows, i64 width) {
    ROW_OR_RETURN(rows)
    const number *g = gradients + row * width, *logarithms = log_softmax + row * width;
    wide sum = 0;
    EACH_COLUMN(n, width) sum += load(g[n]);
    sum = warp_sum(sum);
    EACH_COLUMN(n, width) store(y[row * width + n], load(g[n]) - exp(load(logarithms[n])) * sum);
}

// A class of probability 0 adds nothing, whatever its logarithm.
extern "C" __global__ void softmax_cross_entropy(
    const number* labels, const number* logits, number* losses, i64 rows, i64 width) {
    ROW_OR_RETURN(rows)
    const number *p = labels + row * width, *x = logits + row * width;
    wide highest = row_max(x, width), logarithm = log(row_exponentials(x, width, highest)), loss = 0;
    EACH_COLUMN(n, width) {
        wide share = load(p[n]);
        if (share != 0) loss -= share * (load(x[n]) - highest - logarithm);
    }
    loss = warp_sum(loss);
    if (threadIdx.x == 0) store(losses[row], loss);
}

extern "C" __global__ void softmax_cross_entropy_grad(
    const number* gradients, const number* labels, const number* logits, number* y, i64 rows, i64 width) {
    ROW_OR_RETURN(rows)
    const number *p = labels + row * width, *x = logits + row * width;
    wide highest = row_max(x, width), sum = row_exponentials(x, width, highest), total = 0;
    EACH_COLUMN(n, width) total += load(p[n]);
    total = warp_sum(total);
    wide g = load(gradients[row]);
    EACH_COLUMN(n, width)
        store(y[row * width + n], (exp(load(x[n]) - highest) / sum * total - load(p[n])) * g);
}

#ifndef AGOG_INDEX
#define AGOG_INDEX i32
#endif

// A label outside of the classes is told in the error word, and its loss is NaN.
extern "C" __global__ void sparse_softmax_cross_entropy(
    const AGOG_INDEX* labels, const number* logits, number* losses, i64 rows, i64 width, u64* error) {
    ROW_OR_RETURN(rows)
    const number* x = logits + row * width;
    i64 label = labels[row];
    bool is_wrong = label < 0 || label >= width;
    wide highest = row_max(x, width), logarithm = log(row_exponentials(x, width, highest));
    if (threadIdx.x != 0) return;
    if (is_wrong) tell_error(error, row, label);
    store(losses[row], is_wrong ? (wide)AGOG_NAN : logarithm - (load(x[label]) - highest));
}

extern "C" __global__ void sparse_softmax_cross_entropy_grad(
    const number* gradients, const AGOG_INDEX* labels, const number* logits, number* y, i64 rows, i64 width) {
    ROW_OR_RETURN(rows)
    const number* x = logits + row * width;
    wide highest = row_max(x, width), sum = row_exponentials(x, width, highest), g = load(gradients[row]);
    EACH_COLUMN(n, width)
        store(y[row * width + n], (exp(load(x[n]) - highest) / sum - (n == labels[row] ? 1 : 0)) * g);
}
