// Statistics of a row, which a block takes.
#pragma once
#include "device.cuh"

__device__ inline wide row_mean(const number* row, i64 width, wide* parts) {
    wide sum = 0;
    for (i64 n = threadIdx.x; n < width; n += blockDim.x) sum += load(row[n]);
    return block_sum(sum, parts) / width;
}

// Of the differences from the mean, so that nothing cancels.
__device__ inline wide row_variance(const number* row, i64 width, wide mean, wide* parts) {
    wide squares = 0;
    for (i64 n = threadIdx.x; n < width; n += blockDim.x) {
        wide difference = load(row[n]) - mean;
        squares += difference * difference;
    }
    return block_sum(squares, parts) / width;
}
