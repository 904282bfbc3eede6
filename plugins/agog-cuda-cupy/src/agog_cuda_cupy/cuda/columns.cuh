// Sums along the middle axis of (outer, count, inner), by pieces of columns that blocks take.
#pragma once
#include "device.cuh"

// For columns: blockDim = (32, 8), a grid of (groups of 32 columns, pieces of the middle axis, outer).
#define LINES 8

struct Piece { i64 column, first, end, base, partial; };

__device__ inline Piece this_piece(i64 count, i64 inner, i64 piece_size) {
    Piece piece;
    piece.column = (i64)blockIdx.x * 32 + threadIdx.x;
    piece.first = blockIdx.y * piece_size;
    piece.end = piece.first + piece_size < count ? piece.first + piece_size : count;
    piece.base = blockIdx.z * count * inner + piece.column;
    piece.partial = ((i64)blockIdx.z * gridDim.y + blockIdx.y) * inner + piece.column;
    return piece;
}

// The sum over the lines of a block, for each of its columns.
__device__ inline wide lines_sum(wide x, wide (*lines)[33]) {
    lines[threadIdx.y][threadIdx.x] = x;
    __syncthreads();
    wide total = 0;
    for (int n = 0; n < LINES; ++n) total += lines[n][threadIdx.x];
    __syncthreads();  // the lines may be written again
    return total;
}
