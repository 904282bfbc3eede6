// Random numbers whose bits are those of every other device. A thread makes one block of Philox: 4 values of 64 bits, or 8
// of 32 bits.
#include "device.cuh"
#include "rounding.cuh"
#include "philox.cuh"

extern "C" __global__ void bits(u64* out, i64 count, u64 key0, u64 key1, u64 counter) {
    i64 start = thread_number() * 4;
    if (start >= count) return;
    Words words = philox(key0, key1, counter, thread_number());
    for (int n = 0; n < 4 && start + n < count; ++n) out[start + n] = words.word[n];
}

#ifndef AGOG_INTEGER
#define AGOG_INTEGER i32
#endif

// In [low, low + range): the remainder of 64 bits.
extern "C" __global__ void integers(AGOG_INTEGER* out, i64 count, u64 key0, u64 key1, u64 counter, i64 low, u64 range) {
    i64 start = thread_number() * 4;
    if (start >= count) return;
    Words words = philox(key0, key1, counter, thread_number());
    for (int n = 0; n < 4 && start + n < count; ++n)
        out[start + n] = (AGOG_INTEGER)(low + (i64)(words.word[n] % range));
}

// How many uniform numbers come of one block: each takes 64 bits for double, else 32.
#define UNIFORMS (sizeof(number) == 8 ? 4 : 8)

// Uniform in [0, 1), with as many random bits as the element type holds, so that none is rounded up to 1.
__device__ inline void uniform_of(const Words& words, int n, double& out) {
    out = multiply((double)(words.word[n] >> 11), 1.1102230246251565e-16);
}
__device__ inline void uniform_of(const Words& words, int n, float& out) {
    out = multiply((float)(half_of(words, n) >> 8), 5.9604644775390625e-08f);
}
__device__ inline void uniform_of(const Words& words, int n, half_t& out) {
    store(out, multiply((float)(half_of(words, n) >> 21), 4.8828125e-4f));
}
__device__ inline void uniform_of(const Words& words, int n, bfloat_t& out) {
    store(out, multiply((float)(half_of(words, n) >> 24), 3.90625e-3f));
}

extern "C" __global__ void uniform(number* out, i64 count, u64 key0, u64 key1, u64 counter) {
    i64 start = thread_number() * UNIFORMS;
    if (start >= count) return;
    Words words = philox(key0, key1, counter, thread_number());
    for (int n = 0; n < UNIFORMS && start + n < count; ++n) uniform_of(words, n, out[start + n]);
}

extern "C" __global__ void normal(number* out, i64 count, u64 key0, u64 key1, u64 counter) {
    i64 start = thread_number() * 8;
    if (start >= count) return;
    Words words = philox(key0, key1, counter, thread_number());
    for (int n = 0; n < 8 && start + n < count; ++n) store(out[start + n], (wide)normal_of(half_of(words, n)));
}

extern "C" __global__ void truncated_normal(number* out, i64 count, u64 key0, u64 key1, u64 counter) {
    i64 start = thread_number() * 8;
    if (start >= count) return;
    Words words = philox(key0, key1, counter, thread_number());
    for (int n = 0; n < 8 && start + n < count; ++n) store(out[start + n], (wide)truncated_normal_of(half_of(words, n)));
}

// x / keep * floor(uniform + keep), each operation rounded to the element type, as the ops one by one give it; and whether
// the last factor, which is 0 or 1, is 1.
extern "C" __global__ void dropout(
    const number* x, number* y, bool* mask, i64 count, u64 key0, u64 key1, u64 counter, double keep) {
    i64 start = thread_number() * UNIFORMS;
    if (start >= count) return;
    Words words = philox(key0, key1, counter, thread_number());
    wide share = as_stored((wide)keep);
    for (int n = 0; n < UNIFORMS && start + n < count; ++n) {
        number noise;
        uniform_of(words, n, noise);
        wide factor = floor(as_stored(add(load(noise), share)));
        store(y[start + n], multiply(as_stored(divide(load(x[start + n]), share)), factor));
        mask[start + n] = factor != 0;
    }
}

extern "C" __global__ void dropout_grad(const number* gradients, const bool* mask, number* y, i64 count, double keep) {
    i64 n = thread_number();
    if (n >= count) return;
    wide share = as_stored((wide)keep);
    store(y[n], multiply(as_stored(divide(load(gradients[n]), share)), mask[n] ? (wide)1 : (wide)0));
}
