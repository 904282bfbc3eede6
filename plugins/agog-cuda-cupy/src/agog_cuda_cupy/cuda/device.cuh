// What every kernel source stands on: names of numbers, the element type of the module, and sums over warps and blocks.
//
// A module is compiled for one element type, AGOG_NUMBER: `number` is what the arrays hold, `wide` what is computed with,
// which is float for half precision. NVRTC gets no header of CUDA's, since not every installation has them.
#pragma once

typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

struct half_t { unsigned short bits; };
struct bfloat_t { unsigned short bits; };

#ifndef AGOG_NUMBER
#define AGOG_NUMBER float
#endif
typedef AGOG_NUMBER number;

// NVRTC has no <math.h>, so no INFINITY either.
#define AGOG_INFINITY __uint_as_float(0x7f800000u)
#define ALL_LANES 0xffffffffu

template <class T> struct Wide { typedef T type; };
template <> struct Wide<half_t> { typedef float type; };
template <> struct Wide<bfloat_t> { typedef float type; };
typedef Wide<number>::type wide;

__device__ inline float load(float x) { return x; }
__device__ inline double load(double x) { return x; }
__device__ inline int load(int x) { return x; }
__device__ inline i64 load(i64 x) { return x; }
__device__ inline float load(bfloat_t x) { return __uint_as_float((u32)x.bits << 16); }
__device__ inline float load(half_t x) {
#ifdef __CUDACC__
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
#else
    _Float16 y;
    memcpy(&y, &x, 2);
    return (float)y;
#endif
}

// Rounded to the element type, to the nearest and ties to even.
__device__ inline void store(float& to, float x) { to = x; }
__device__ inline void store(double& to, double x) { to = x; }
__device__ inline void store(int& to, int x) { to = x; }
__device__ inline void store(i64& to, i64 x) { to = x; }
__device__ inline void store(bfloat_t& to, float x) {
    u32 bits = __float_as_uint(x);
    if (x != x) to.bits = (unsigned short)((bits >> 16 & 0x8000u) | 0x7fc0u);
    else to.bits = (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
__device__ inline void store(half_t& to, float x) {
#ifdef __CUDACC__
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(to.bits) : "f"(x));
#else
    _Float16 y = (_Float16)x;
    memcpy(&to, &y, 2);
#endif
}

// A value as it is after it was stored.
__device__ inline wide as_stored(wide x) {
    number y;
    store(y, x);
    return load(y);
}

// Put a position into an array of int32 or int64.
__device__ inline void store_position(void* to, i64 n, i64 position, bool is_short) {
    if (is_short) ((i32*)to)[n] = (i32)position;
    else ((i64*)to)[n] = position;
}

// The number of this thread among all of a launch along x.
__device__ inline i64 thread_number() { return (i64)blockIdx.x * blockDim.x + threadIdx.x; }

template <class T> __device__ inline T warp_sum(T x) {
    for (int step = 16; step; step >>= 1) x += __shfl_xor_sync(ALL_LANES, x, step);
    return x;
}
template <class T> __device__ inline T warp_max(T x) {
    for (int step = 16; step; step >>= 1) {
        T other = __shfl_xor_sync(ALL_LANES, x, step);
        x = x < other ? other : x;
    }
    return x;
}

// The sum over the threads along x of a block, which all of them get. `parts` is shared memory for 32 values.
template <class T> __device__ inline T block_sum(T x, T* parts) {
    x = warp_sum(x);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
    __syncthreads();
    T total = 0;
    for (u32 n = 0; n < blockDim.x / 32; ++n) total += parts[n];
    __syncthreads();  // the parts may be written again
    return total;
}
