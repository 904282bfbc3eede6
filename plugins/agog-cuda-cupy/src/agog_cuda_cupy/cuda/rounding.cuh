// Operations that are rounded one by one. A compiler fuses no product with a sum here, so that the bits are those of every
// other device; kernels whose bits are promised compute with nothing else.
#pragma once

__device__ inline float add(float x, float y) { return __fadd_rn(x, y); }
__device__ inline float subtract(float x, float y) { return __fsub_rn(x, y); }
__device__ inline float multiply(float x, float y) { return __fmul_rn(x, y); }
__device__ inline float divide(float x, float y) { return __fdiv_rn(x, y); }
__device__ inline float root(float x) { return __fsqrt_rn(x); }

__device__ inline double add(double x, double y) { return __dadd_rn(x, y); }
__device__ inline double subtract(double x, double y) { return __dsub_rn(x, y); }
__device__ inline double multiply(double x, double y) { return __dmul_rn(x, y); }
__device__ inline double divide(double x, double y) { return __ddiv_rn(x, y); }
__device__ inline double root(double x) { return __dsqrt_rn(x); }
