// Reductions over the middle axis of an array of shape (outer, count, inner). Long axes are reduced in pieces, whose states
// are reduced again by a further launch, so that sums are those of short parts and lose few digits; and where axes are no
// neighbours, one after the other. The order of additions follows from the shape alone.
#include "device.cuh"

enum Reduction { sum, mean, product, maximum, minimum, first_maximum, first_minimum, logsumexp };

// `whole` is how many numbers there are to each result. In a later launch than the first the kernels take states, not
// numbers, and in another one than the last they give states. Positions are int32 or int64.
struct Axis {
    i64 outer, count, inner, pieces, whole;
    i32 reduction, is_later, is_last, is_short;
};

// What a piece gives: `merge` takes in what another one gives, and `write` puts the result down.
struct Sum {
    wide total;
    __device__ static Sum none() { return {0}; }
    __device__ static Sum of(wide x, i64) { return {x}; }
    __device__ void merge(Sum other) { total += other.total; }
    __device__ Sum from_lane(int step) const { return {__shfl_xor_sync(ALL_LANES, total, step)}; }
    __device__ void write(void* to, i64 n, const Axis& axis) const {
        store(((number*)to)[n], axis.reduction == mean ? total / (wide)axis.whole : total);
    }
};

struct Product {
    wide total;
    __device__ static Product none() { return {1}; }
    __device__ static Product of(wide x, i64) { return {x}; }
    __device__ void merge(Product other) { total *= other.total; }
    __device__ Product from_lane(int step) const { return {__shfl_xor_sync(ALL_LANES, total, step)}; }
    __device__ void write(void* to, i64 n, const Axis&) const { store(((number*)to)[n], total); }
};

// The extremum and where it is first, which is -1 where there is none; NaN is more extreme than any number.
template <bool is_maximum> struct Extremum {
    wide value;
    i64 at;
    __device__ static Extremum none() { return {0, -1}; }
    __device__ static Extremum of(wide x, i64 n) { return {x, n}; }
    __device__ void merge(Extremum other) {
        bool is_nan = value != value, is_other_nan = other.value != other.value;
        bool is_more = is_other_nan ? !is_nan : is_maximum ? other.value > value : other.value < value;
        bool is_equal = other.value == value || (is_nan && is_other_nan);
        if (other.at >= 0 && (at < 0 || is_more || (is_equal && other.at < at))) *this = other;
    }
    __device__ Extremum from_lane(int step) const {
        return {__shfl_xor_sync(ALL_LANES, value, step), __shfl_xor_sync(ALL_LANES, at, step)};
    }
    __device__ void write(void* to, i64 n, const Axis& axis) const {
        if (axis.reduction == maximum || axis.reduction == minimum) store(((number*)to)[n], value);
        else store_position(to, n, at, axis.is_short);
    }
};

template <class T> struct Real { typedef T type; };
template <> struct Real<int> { typedef double type; };
template <> struct Real<i64> { typedef double type; };

// The sum of the exponentials of the differences from the highest element so far.
struct LogSumExp {
    typedef Real<wide>::type real;
    real highest, sum;
    __device__ static LogSumExp none() { return {-AGOG_INFINITY, 0}; }
    __device__ static LogSumExp of(wide x, i64) { return {(real)x, 1}; }
    __device__ void merge(LogSumExp other) {
        if (other.highest == highest) sum += other.sum;
        else if (other.highest < highest) sum += other.sum * exp(other.highest - highest);
        else *this = {other.highest, sum * exp(highest - other.highest) + other.sum};
    }
    __device__ LogSumExp from_lane(int step) const {
        return {__shfl_xor_sync(ALL_LANES, highest, step), __shfl_xor_sync(ALL_LANES, sum, step)};
    }
    __device__ void write(void* to, i64 n, const Axis&) const { store(((number*)to)[n], log(sum) + highest); }
};

template <class State> __device__ inline State state_at(const void* from, i64 at, i64 n, const Axis& axis) {
    return axis.is_later ? ((const State*)from)[at] : State::of(load(((const number*)from)[at]), n);
}
template <class State> __device__ inline void put(void* to, i64 at, State state, const Axis& axis) {
    if (axis.is_last) state.write(to, at, axis);
    else ((State*)to)[at] = state;
}

// With an inner size of 1 a warp takes a piece, of neighbours: blockDim = (32, pieces of a block).
template <class State> __device__ inline void reduce_row(const void* from, void* to, const Axis& axis, i64 piece_size) {
    i64 piece = (i64)blockIdx.x * blockDim.y + threadIdx.y;
    if (piece >= axis.outer * axis.pieces) return;
    i64 row = piece / axis.pieces, first = piece % axis.pieces * piece_size;
    i64 end = first + piece_size < axis.count ? first + piece_size : axis.count;
    State state = State::none();
    for (i64 n = first + threadIdx.x; n < end; n += 32) state.merge(state_at<State>(from, row * axis.count + n, n, axis));
    for (int step = 16; step; step >>= 1) state.merge(state.from_lane(step));
    if (threadIdx.x == 0) put(to, piece, state, axis);
}

// Else a thread takes a piece of one column: with p its number the elements p, p + pieces, p + 2 * pieces and so on.
template <class State> __device__ inline void reduce_column(const void* from, void* to, const Axis& axis) {
    i64 thread = thread_number();
    if (thread >= axis.outer * axis.pieces * axis.inner) return;
    i64 column = thread % axis.inner, piece = thread / axis.inner % axis.pieces, row = thread / axis.inner / axis.pieces;
    State state = State::none();
    for (i64 n = piece; n < axis.count; n += axis.pieces)
        state.merge(state_at<State>(from, (row * axis.count + n) * axis.inner + column, n, axis));
    put(to, thread, state, axis);
}

extern "C" __global__ void reduce_rows(const void* from, void* to, Axis axis, i64 piece_size) {
    switch (axis.reduction) {
        case sum: case mean: return reduce_row<Sum>(from, to, axis, piece_size);
        case product: return reduce_row<Product>(from, to, axis, piece_size);
        case maximum: case first_maximum: return reduce_row<Extremum<true>>(from, to, axis, piece_size);
        case minimum: case first_minimum: return reduce_row<Extremum<false>>(from, to, axis, piece_size);
        case logsumexp: return reduce_row<LogSumExp>(from, to, axis, piece_size);
    }
}

extern "C" __global__ void reduce_columns(const void* from, void* to, Axis axis) {
    switch (axis.reduction) {
        case sum: case mean: return reduce_column<Sum>(from, to, axis);
        case product: return reduce_column<Product>(from, to, axis);
        case maximum: case first_maximum: return reduce_column<Extremum<true>>(from, to, axis);
        case minimum: case first_minimum: return reduce_column<Extremum<false>>(from, to, axis);
        case logsumexp: return reduce_column<LogSumExp>(from, to, axis);
    }
}
