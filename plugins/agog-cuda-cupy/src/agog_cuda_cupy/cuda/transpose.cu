// Axes in another order, by copies.
#include "items.cuh"

#define TILE 32
#define LINES 8

// Matrices of shape (rows, columns), one behind the other, turned: a block takes a tile through shared memory, so that
// neighbours read and write neighbours. blockDim = (TILE, LINES); a column more keeps threads off each other's banks.
extern "C" __global__ void transpose_matrices(const AGOG_ITEM* x, AGOG_ITEM* y, i64 rows, i64 columns) {
    __shared__ AGOG_ITEM tile[TILE][TILE + 1];
    u32 across = (u32)((columns + TILE - 1) / TILE), down = (u32)((rows + TILE - 1) / TILE);
    i64 column = (i64)(blockIdx.x % across) * TILE, row = (i64)(blockIdx.x / across % down) * TILE;
    i64 matrix = blockIdx.x / across / down * rows * columns;
    for (int n = threadIdx.y; n < TILE; n += LINES)
        if (row + n < rows && column + threadIdx.x < columns)
            tile[n][threadIdx.x] = x[matrix + (row + n) * columns + column + threadIdx.x];
    __syncthreads();
    for (int n = threadIdx.y; n < TILE; n += LINES)
        if (column + n < columns && row + threadIdx.x < rows)
            y[matrix + (column + n) * rows + row + threadIdx.x] = tile[threadIdx.x][n];
}

// Any other order: a thread takes one item of the result. `step` says how far apart its neighbours along an axis are read.
// There are not more items than an i32 counts.
#define MOST_AXES 8
struct Walk {
    i32 size[MOST_AXES], step[MOST_AXES], axes;
};

extern "C" __global__ void permute(const AGOG_ITEM* x, AGOG_ITEM* y, i64 count, Walk walk) {
    i32 n = (i32)thread_number(), rest = n, from = 0;
    if (n >= count) return;
    for (int axis = walk.axes - 1; axis >= 0; --axis) {
        from += rest % walk.size[axis] * walk.step[axis];
        rest /= walk.size[axis];
    }
    y[n] = x[from];
}
