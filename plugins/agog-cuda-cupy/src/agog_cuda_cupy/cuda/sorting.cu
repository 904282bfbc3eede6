// The largest elements of rows, and positions in sorted rows. NaN counts as larger than any number.
#include "device.cuh"

__device__ inline bool is_less(wide x, wide y) { return x < y || (x == x && y != y); }

struct Place {
    wide value;
    i64 at;  // -1 for none
    // Larger elements come first, and of equal ones those that are in front.
    __device__ bool comes_before(const Place& other) const {
        if (other.at < 0 || at < 0) return at >= 0;
        return is_less(other.value, value) || (!is_less(value, other.value) && at < other.at);
    }
};

#define MOST_WARPS 32

// The first of the places of a block's threads, which all of them get. `firsts` is shared memory.
__device__ inline Place first_of_block(Place place, Place* firsts) {
    for (int step = 16; step; step >>= 1) {
        Place other = {__shfl_xor_sync(ALL_LANES, place.value, step), __shfl_xor_sync(ALL_LANES, place.at, step)};
        if (other.comes_before(place)) place = other;
    }
    if (threadIdx.x % 32 == 0) firsts[threadIdx.x / 32] = place;
    __syncthreads();
    for (u32 n = 0; n < blockDim.x / 32; ++n)
        if (firsts[n].comes_before(place)) place = firsts[n];
    __syncthreads();  // they may be written again
    return place;
}

// A block takes a row, and looks k times for the first of those that come behind the last one.
extern "C" __global__ void top_k(const number* x, number* values, i32* positions, i64 width, i64 k) {
    __shared__ Place firsts[MOST_WARPS];
    const number* row = x + blockIdx.x * width;
    Place last = {0, -1};
    for (i64 rank = 0; rank < k; ++rank) {
        Place first = {0, -1};
        for (i64 n = threadIdx.x; n < width; n += blockDim.x) {
            Place place = {load(row[n]), n};
            if ((last.at < 0 || last.comes_before(place)) && place.comes_before(first)) first = place;
        }
        last = first_of_block(first, firsts);
        if (threadIdx.x != 0) continue;
        values[blockIdx.x * k + rank] = row[last.at];
        positions[blockIdx.x * k + rank] = (i32)last.at;
    }
}

// How many elements of a value's row are less than the value; with `is_right` those that equal it too.
extern "C" __global__ void searchsorted(const number* sequence, const number* values, void* positions, i64 rows, i64 size,
                                        i64 width, bool is_right, bool is_short) {
    i64 n = thread_number();
    if (n >= rows * width) return;
    const number* row = sequence + n / width * size;
    wide value = load(values[n]);
    i64 low = 0, high = size;
    while (low < high) {
        i64 middle = low + (high - low) / 2;
        wide x = load(row[middle]);
        if (is_right ? !is_less(value, x) : is_less(x, value)) low = middle + 1;
        else high = middle;
    }
    store_position(positions, n, low, is_short);
}
