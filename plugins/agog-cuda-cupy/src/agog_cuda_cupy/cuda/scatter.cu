// Rows combined with the rows of an array that numbers name; those of negative number are left out.
#include "device.cuh"

enum Operation {
    operation_add, operation_subtract, operation_multiply, operation_maximum, operation_minimum, operation_update,
    operation_divide
};

// Integers are divided as NumPy divides them, which is in float64.
__device__ inline float quotient(float x, float y) { return x / y; }
__device__ inline double quotient(double x, double y) { return x / y; }
__device__ inline int quotient(int x, int y) { return (int)((double)x / (double)y); }
__device__ inline i64 quotient(i64 x, i64 y) { return (i64)((double)x / (double)y); }

__device__ inline wide combined(int operation, wide x, wide y) {
    switch (operation) {
        case operation_add: return x + y;
        case operation_subtract: return x - y;
        case operation_multiply: return x * y;
        case operation_maximum: return x > y || x != x ? x : y;
        case operation_minimum: return x < y || x != x ? x : y;
        case operation_divide: return quotient(x, y);
        default: return y;
    }
}

// Deterministic: `order` sorts the row numbers and keeps the order of equal ones. A thread takes all updates of one element
// one after the other, so that the bits are those of the device "cpu". Half precision is rounded once, or with
// `rounds_each` after each update.
extern "C" __global__ void scatter_in_order(number* target, const number* updates, const i64* rows, const i64* order,
                                            i64 count, i64 width, int operation, bool rounds_each) {
    i64 at = thread_number() / width, column = thread_number() % width;
    if (at >= count) return;
    i64 row = rows[order[at]];
    bool is_first = at == 0 || rows[order[at - 1]] != row;
    if (row < 0 || !is_first) return;
    wide value = load(target[row * width + column]);
    for (; at < count && rows[order[at]] == row; ++at) {
        value = combined(operation, value, load(updates[order[at] * width + column]));
        if (rounds_each) value = as_stored(value);
    }
    store(target[row * width + column], value);
}

// In the order in which threads come, which is another one each time; no sort, and for small widths faster. The target
// holds what is computed with, so that half precision is rounded once, by the host.
__device__ inline void add_at(float* at, float x) { atomicAdd(at, x); }
__device__ inline void add_at(double* at, double x) { atomicAdd(at, x); }
__device__ inline void add_at(int* at, int x) { atomicAdd(at, x); }
__device__ inline void add_at(i64* at, i64 x) { atomicAdd((u64*)at, (u64)x); }

template <int bytes> struct Word { typedef u32 type; };
template <> struct Word<8> { typedef u64 type; };

// Try until nobody else has changed the place between the look and the write.
__device__ inline void combine_at(wide* at, int operation, wide x) {
    typedef Word<sizeof(wide)>::type word;
    word before = *(volatile word*)at, expected;
    do {
        expected = before;
        wide value = combined(operation, *(wide*)&expected, x);
        before = atomicCAS((word*)at, expected, *(word*)&value);
    } while (before != expected);
}

extern "C" __global__ void scatter_in_any_order(
    wide* target, const number* updates, const i64* rows, i64 count, i64 width, int operation) {
    i64 n = thread_number();
    if (n >= count * width || rows[n / width] < 0) return;
    wide *at = target + rows[n / width] * width + n % width, x = load(updates[n]);
    if (operation == operation_add) add_at(at, x);
    else if (operation == operation_subtract) add_at(at, -x);
    else combine_at(at, operation, x);
}
