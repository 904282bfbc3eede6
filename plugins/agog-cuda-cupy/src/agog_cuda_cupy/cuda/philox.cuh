// Philox4x64-10: random bits by counting (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
// 2011), and normals of 32 of them by sums, products and roots that are rounded one by one.
#pragma once

struct Words { u64 word[4]; };

// The block of a number, as numpy.random.Philox counts them: the first one is that of counter + 1.
__device__ inline Words philox(u64 key0, u64 key1, u64 counter, u64 number) {
    const u64 multiplier0 = 0xD2E7470EE14C6C93ull, multiplier1 = 0xCA5A826395121157ull;
    u64 first = counter + 1, c0 = first + number, c1 = (first == 0) + (c0 < number), c2 = 0, c3 = 0;
    for (int round = 0; round < 10; ++round) {
        u64 high0 = __umul64hi(multiplier0, c0), low0 = multiplier0 * c0;
        u64 high1 = __umul64hi(multiplier1, c2), low1 = multiplier1 * c2;
        c0 = high1 ^ c1 ^ key0;
        c1 = low1;
        c2 = high0 ^ c3 ^ key1;
        c3 = low0;
        key0 += 0x9E3779B97F4A7C15ull;
        key1 += 0xBB67AE8584CAA73Bull;
    }
    return {{c0, c1, c2, c3}};
}

// The 32 bits of a number from 0 to 7: of each word the low half comes first.
__device__ inline u32 half_of(const Words& words, int n) { return (u32)(words.word[n / 2] >> (n % 2 * 32)); }

template <int count> __device__ inline float polynomial(float x, const float (&coefficients)[count]) {
    float value = coefficients[0];
    for (int n = 1; n < count; ++n) value = add(multiply(value, x), coefficients[n]);
    return value;
}

// Cephes' logf (S. L. Moshier, "Methods and programs for mathematical functions", 1989).
__device__ inline float rounded_log(float x) {
    const float log_of[] = {7.0376836292e-2f, -1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                            -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f};
    const u32 one = 0x3F800000u, root_half = 0x3F3504F3u;
    u32 shifted = __float_as_uint(x) + (one - root_half);
    float exponent = (float)((int)(shifted >> 23) - 127);
    float m = subtract(__uint_as_float((shifted & 0x7FFFFFu) + root_half), 1.0f);
    float square = multiply(m, m);
    float y = multiply(multiply(polynomial(m, log_of), m), square);
    y = add(y, multiply(-2.12194440e-4f, exponent));
    y = add(y, multiply(-0.5f, square));
    return add(add(m, y), multiply(0.693359375f, exponent));
}

// Uniform in (-1, 1): the midpoints that the upper 23 bits choose.
__device__ inline float symmetric(u32 bits) {
    float probability = multiply(add((float)(bits >> 9), 0.5f), 1.1920928955078125e-07f);
    return subtract(add(probability, probability), 1.0f);
}

// sqrt(2) * erfinv(x) (M. Giles, "Approximating the erfinv function", GPU Computing Gems, 2012).
__device__ inline float quantile(float x) {
    const float centre[] = {2.81022636e-08f, 3.43273939e-07f, -3.5233877e-06f, -4.39150654e-06f, 0.00021858087f,
                            -0.00125372503f, -0.00417768164f, 0.246640727f, 1.50140941f};
    const float tail[] = {-0.000200214257f, 0.000100950558f, 0.00134934322f, -0.00367342844f, 0.00573950773f,
                          -0.0076224613f, 0.00943887047f, 1.00167406f, 2.83297682f};
    float w = -rounded_log(multiply(subtract(1.0f, x), add(1.0f, x)));
    float y = w >= 5.0f ? polynomial(subtract(root(w), 3.0f), tail) : polynomial(subtract(w, 2.5f), centre);
    return multiply(multiply(y, x), 1.41421356237309514547f);
}

__device__ inline float normal_of(u32 bits) { return quantile(symmetric(bits)); }

// Between -2 and 2; the factor is their share of all normals.
__device__ inline float truncated_normal_of(u32 bits) {
    float value = quantile(multiply(0.9544997361036416f, symmetric(bits)));
    return value < -2.0f ? -2.0f : value > 2.0f ? 2.0f : value;
}
