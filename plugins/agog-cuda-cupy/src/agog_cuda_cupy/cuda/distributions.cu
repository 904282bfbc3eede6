// Random numbers of distributions by rejection, with the bits of every other device: each operation is rounded by itself,
// and a thread takes its bits at places that its element's number decides. It draws until it accepts.
#include "device.cuh"
#include "rounding.cuh"
#include "philox.cuh"

#define LN2_HIGH 6.93147180369123816490e-01
#define LN2_LOW 1.90821492927058770002e-10
#define MOST_STEPS 80
#define NOT_A_NUMBER __longlong_as_double(0x7FF8000000000000ll)

template <int count> __device__ inline double polynomial(double x, const double (&coefficients)[count]) {
    double value = coefficients[0];
    for (int n = 1; n < count; ++n) value = add(multiply(value, x), coefficients[n]);
    return value;
}

// Of a positive number that is finite and not subnormal: 2 atanh((m - 1) / (m + 1)) + e ln 2 for m 2**e, with m near 1.
__device__ inline double rounded_log(double x) {
    const double atanh_of[] = {1.0 / 23, 1.0 / 21, 1.0 / 19, 1.0 / 17, 1.0 / 15, 1.0 / 13,
                               1.0 / 11, 1.0 / 9,  1.0 / 7,  1.0 / 5,  1.0 / 3,  1.0};
    const i64 one = 0x3FF0000000000000ll, root_half = 0x3FE6A09E667F3BCDll;
    i64 shifted = __double_as_longlong(x) + (one - root_half);
    double exponent = (double)((shifted >> 52) - 1023);
    double m = __longlong_as_double((shifted & ((1ll << 52) - 1)) + root_half);
    double s = divide(subtract(m, 1.0), add(m, 1.0));
    double series = polynomial(multiply(s, s), atanh_of);
    return add(multiply(exponent, LN2_HIGH), add(multiply(add(s, s), series), multiply(exponent, LN2_LOW)));
}

// Below 709: 2**n times the Taylor series of the rest; 0 below -708.
__device__ inline double rounded_exp(double x) {
    const double exp_of[] = {1.0 / 87178291200.0, 1.0 / 6227020800.0, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                             1.0 / 362880, 1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0};
    double given = x < -708.0 ? -708.0 : x;
    double n = floor(add(multiply(given, 1.4426950408889634), 0.5));
    double rest = subtract(subtract(given, multiply(n, LN2_HIGH)), multiply(n, LN2_LOW));
    double power = __longlong_as_double(((i64)n + 1023) << 52);
    return x < -708.0 ? 0.0 : multiply(polynomial(rest, exp_of), power);
}

// In (0, 1).
__device__ inline double uniform_of(u64 word) { return multiply(add((double)(word >> 11), 0.5), 1.1102230246251565e-16); }

// A word of a round, each of which begins with a block of its own.
struct Source {
    u64 key0, key1, counter;
    i64 blocks;  // of a round
    __device__ u64 word(int round, i64 n) const {
        return philox(key0, key1, counter, (u64)(round * blocks + n / 4)).word[n % 4];
    }
};

// Marsaglia and Tsang's: a word is a normal and a uniform number. For shapes below 1 that of one more, times a power.
__device__ inline double gamma_of(double shape, const Source& source, i64 n, int rounds) {
    double d = subtract(shape < 1 ? add(shape, 1.0) : shape, 1.0 / 3), c = divide(1.0, root(multiply(9.0, d)));
    double found = d;
    for (int round = 0; round < rounds; ++round) {
        u64 word = source.word(round, n);
        double x = normal_of((u32)word), u = multiply(add((double)(u32)(word >> 32), 0.5), 2.3283064365386963e-10);
        double edge = add(1.0, multiply(c, x)), v = multiply(multiply(edge, edge), edge), square = multiply(x, x);
        bool is_accepted = u < subtract(1.0, multiply(0.0331, multiply(square, square)));
        if (!is_accepted && edge > 0) {
            double bound = multiply(d, add(subtract(1.0, v), rounded_log(v)));
            is_accepted = rounded_log(u) < add(multiply(0.5, square), bound);
        }
        if (is_accepted) {
            found = multiply(d, v);
            break;
        }
    }
    if (shape < 1) {
        double u = uniform_of(source.word(rounds, n));
        found = multiply(found, rounded_exp(divide(rounded_log(u), shape)));
    }
    return shape > 0 ? found : NOT_A_NUMBER;
}

extern "C" __global__ void gamma_numbers(
    const double* shapes, double* out, i64 count, i64 period, u64 key0, u64 key1, u64 counter, int rounds) {
    i64 n = thread_number();
    if (n >= count) return;
    Source source = {key0, key1, counter, (count + 3) / 4};
    out[n] = gamma_of(shapes[n % period], source, n, rounds);
}

// ln k! by a table, and by Stirling's series from 10 on.
__device__ inline double log_factorial(double k) {
    const double known[] = {0.0, 0.0, 0.6931471805599453, 1.791759469228055, 3.1780538303479458,
                            4.787491742782046, 6.579251212010101, 8.525161361065415, 10.60460290274525, 12.801827480081469};
    if (k < 10) return known[(int)k];
    double inverse = divide(1.0, k), square = multiply(inverse, inverse);
    double series = subtract(1.0 / 1260, multiply(square, 1.0 / 1680));
    series = subtract(1.0 / 360, multiply(square, series));
    series = multiply(inverse, subtract(1.0 / 12, multiply(square, series)));
    double sum = subtract(multiply(add(k, 0.5), rounded_log(k)), k);
    return add(add(sum, 0.9189385332046728), series);
}

// Hoermann's transformed rejection (PTRS), for means of 10 and more; a round takes two words.
__device__ inline double large_poisson(double mean, const Source& source, i64 n, int rounds) {
    double b = add(0.931, multiply(2.53, root(mean))), a = add(-0.059, multiply(0.02483, b));
    double log_of_inverse = rounded_log(add(1.1239, divide(1.1328, subtract(b, 3.4))));
    double least = subtract(0.9277, divide(3.6224, subtract(b, 2.0))), log_mean = rounded_log(mean);
    for (int round = 0; round < rounds; ++round) {
        double u = subtract(uniform_of(source.word(round, 2 * n)), 0.5), v = uniform_of(source.word(round, 2 * n + 1));
        double away = subtract(0.5, fabs(u));
        double wide_u = multiply(add(divide(multiply(2.0, a), away), b), u), k = floor(add(add(wide_u, mean), 0.43));
        if (away >= 0.07 && v <= least) return k;
        if (!(k >= 0 && (away >= 0.013 || v <= away))) continue;
        double density = subtract(subtract(multiply(k, log_mean), mean), log_factorial(k));
        double slope = add(divide(a, multiply(away, away)), b);
        if (subtract(add(rounded_log(v), log_of_inverse), rounded_log(slope)) <= density) return k;
    }
    return floor(mean);
}

// The smallest number whose distribution function reaches a uniform one.
__device__ inline double small_poisson(double mean, double u) {
    double term = rounded_exp(-mean), total = term, value = 0;
    for (int step = 1; step < MOST_STEPS && u > total; ++step) {
        value += 1;
        term = divide(multiply(term, mean), (double)step);
        total = add(total, term);
    }
    return value;
}

extern "C" __global__ void poisson_numbers(const double* means, double* out, i64 count, i64 period, u64 key0, u64 key1,
                                           u64 counter, int rounds, double invalid) {
    i64 n = thread_number();
    if (n >= count) return;
    Source source = {key0, key1, counter, (2 * count + 3) / 4};
    double mean = means[n % period];
    if (!(mean >= 0 && mean < (double)AGOG_INFINITY)) out[n] = invalid;
    else if (mean >= 10) out[n] = large_poisson(mean, source, n, rounds);
    else out[n] = small_poisson(mean, uniform_of(source.word(rounds, n)));
}
