// Parts of arrays by their positions. A position outside of the array is told in the error word, and gives zeros.
#include "items.cuh"
#include "errors.cuh"

#ifndef AGOG_INDEX
#define AGOG_INDEX i32
#endif

#define MOST_AXES 8
struct Shape { i64 size[MOST_AXES]; };

// Parameters of shape (outer, size, inner), and `count` indices along the middle axis.
extern "C" __global__ void gather(const AGOG_ITEM* parameters, const AGOG_INDEX* indices, AGOG_ITEM* y, i64 outer,
                                  i64 size, i64 count, i64 inner, u64* error) {
    i64 n = thread_number();
    if (n >= outer * count * inner) return;
    i64 position = n / inner % count, at = indices[position];
    bool is_wrong = at < 0 || at >= size;
    if (is_wrong) tell_error(error, position, at);
    y[n] = is_wrong ? AGOG_ITEM() : parameters[(n / inner / count * size + at) * inner + n % inner];
}

// Positions along leading axes as row numbers of an array in which those axes are one; -1 where there is no such row.
extern "C" __global__ void row_numbers(const AGOG_INDEX* indices, i64* rows, i64 count, i64 depth, Shape shape, u64* error) {
    i64 n = thread_number();
    if (n >= count) return;
    i64 row = 0, wrong = 0;
    bool is_wrong = false;
    for (i64 axis = 0; axis < depth; ++axis) {
        i64 at = indices[n * depth + axis];
        if (!is_wrong && (at < 0 || at >= shape.size[axis])) {
            is_wrong = true;
            wrong = at;
        }
        row = row * shape.size[axis] + at;
    }
    if (is_wrong) tell_error(error, n, wrong);
    rows[n] = is_wrong ? -1 : row;
}

// Segments as row numbers: those of negative number are left out.
extern "C" __global__ void segment_rows(const AGOG_INDEX* segments, i64* rows, i64 count, i64 limit, u64* error) {
    i64 n = thread_number();
    if (n >= count) return;
    i64 row = segments[n];
    if (row >= limit) tell_error(error, n, row);
    rows[n] = row < 0 || row >= limit ? -1 : row;
}
