// Pools, channels last: a thread takes one element of the result, and adds up or compares in the order of the taps.
#include "windows.cuh"

// What stands in the padding where maxima are looked for.
template <class T> struct Lowest { __device__ static T value() { return -AGOG_INFINITY; } };
template <> struct Lowest<int> { __device__ static int value() { return -0x7fffffff - 1; } };
template <> struct Lowest<i64> { __device__ static i64 value() { return -0x7fffffffffffffffll - 1; } };

// An element of the output: a place and a channel of an image, and the input that its window lies over.
struct Output {
    const Windows& all;
    i32 channel, place, image;
    __device__ Output(const Windows& windows, i32 n) : all(windows) {
        i32 places = volume(all.places);
        channel = n % all.channels;
        place = n / all.channels % places;
        image = n / all.channels / places;
    }
    // Where in an input the element at a tap lies; -1 in the padding.
    __device__ i32 source(i32 tap) const {
        i32 pixel = pixel_at(all, place, tap);
        return pixel < 0 ? -1 : (image * volume(all.size) + pixel) * all.channels + channel;
    }
    __device__ wide value(const number* x, i32 tap) const {
        i32 at = source(tap);
        return at < 0 ? Lowest<wide>::value() : load(x[at]);
    }
    __device__ wide maximum(const number* x) const {
        wide highest = Lowest<wide>::value();
        for (i32 tap = 0; tap < volume(all.window); ++tap) {
            wide y = value(x, tap);
            highest = highest > y || highest != highest ? highest : y;
        }
        return highest;
    }
    // The first tap where the maximum is; -1 for NaN, which equals nothing.
    __device__ i32 first_tap(const number* x, wide maximum) const {
        for (i32 tap = 0; tap < volume(all.window); ++tap)
            if (value(x, tap) == maximum) return tap;
        return -1;
    }
};

__device__ inline i32 outputs(const Windows& all) { return all.images * volume(all.places) * all.channels; }

extern "C" __global__ void max_pool(const number* x, number* y, Windows all) {
    i32 n = (i32)thread_number();
    if (n < outputs(all)) store(y[n], Output(all, n).maximum(x));
}

// With the position in the whole input; padding has none, and NaN has 0.
extern "C" __global__ void max_pool_with_argmax(const number* x, number* y, void* positions, Windows all, bool is_short) {
    i32 n = (i32)thread_number();
    if (n >= outputs(all)) return;
    Output output(all, n);
    wide highest = output.maximum(x);
    i32 position = 0;
    for (i32 tap = volume(all.window) - 1; tap >= 0; --tap) {
        i32 at = output.source(tap);
        if (at >= 0 && load(x[at]) == highest) position = at;
    }
    store(y[n], highest);
    store_position(positions, n, position, is_short);
}

extern "C" __global__ void first_taps(const number* x, const number* maxima, i32* taps, Windows all) {
    i32 n = (i32)thread_number();
    if (n < outputs(all)) taps[n] = Output(all, n).first_tap(x, load(maxima[n]));
}

extern "C" __global__ void max_pool_grad_grad(
    const number* gradient, const number* x, const number* maxima, number* y, Windows all) {
    i32 n = (i32)thread_number();
    if (n >= outputs(all)) return;
    Output output(all, n);
    i32 tap = output.first_tap(x, load(maxima[n]));
    i32 at = tap < 0 ? -1 : output.source(tap);
    store(y[n], at < 0 ? 0 : load(gradient[at]));
}

__device__ inline wide pixels_under(const Windows& all, i32 place) {
    wide count = 0;
    for (i32 tap = 0; tap < volume(all.window); ++tap) count += pixel_at(all, place, tap) >= 0;
    return count > 0 ? count : 1;
}

extern "C" __global__ void avg_pool(const number* x, number* y, Windows all) {
    i32 n = (i32)thread_number();
    if (n >= outputs(all)) return;
    Output output(all, n);
    wide sum = 0;
    for (i32 tap = 0; tap < volume(all.window); ++tap) {
        i32 at = output.source(tap);
        if (at >= 0) sum += load(x[at]);
    }
    store(y[n], sum / pixels_under(all, output.place));
}

// The sum over the windows that an element of the input lies under, of part(element of the output, place, tap).
template <class Part> __device__ inline wide sum_over_windows(const Windows& all, i32 n, Part part) {
    i32 pixels = volume(all.size), channel = n % all.channels, pixel = n / all.channels % pixels;
    i32 image = n / all.channels / pixels;
    wide sum = 0;
    for (i32 tap = 0; tap < volume(all.window); ++tap) {
        i32 place = place_over(all, pixel, tap);
        if (place >= 0) sum += part((image * volume(all.places) + place) * all.channels + channel, place, tap);
    }
    return sum;
}

__device__ inline i32 inputs(const Windows& all) { return all.images * volume(all.size) * all.channels; }

extern "C" __global__ void max_pool_grad(const number* gradient, const i32* taps, number* y, Windows all) {
    i32 n = (i32)thread_number();
    if (n >= inputs(all)) return;
    store(y[n], sum_over_windows(all, n, [&](i32 at, i32, i32 tap) { return taps[at] == tap ? load(gradient[at]) : 0; }));
}

extern "C" __global__ void avg_pool_grad(const number* gradient, number* y, Windows all) {
    i32 n = (i32)thread_number();
    if (n >= inputs(all)) return;
    store(y[n], sum_over_windows(all, n, [&](i32 at, i32 place, i32) { return load(gradient[at]) / pixels_under(all, place); }));
}
