// Convolutions, channels last. A dense one is a product of matrices: im2col lays out the windows of some images as rows,
// col2im adds rows up where their windows lie. A depthwise one is computed as it is written. Each result is the sum of one
// thread, so that nothing depends on the order of threads.
#include "windows.cuh"

// Columns of shape (groups, rows, taps, channels of a group), where a row is a place of an image.
struct Element {
    i32 image, place, tap, channel;
    __device__ Element(const Windows& all, i32 n, i32 groups) {
        i32 width = all.channels / groups, taps = volume(all.window), places = volume(all.places);
        tap = n / width % taps;
        i32 row = n / width / taps % (all.images * places);
        image = row / places;
        place = row % places;
        channel = n / width / taps / (all.images * places) * width + n % width;
    }
};

// The columns hold what is computed with, or with `is_narrow` elements as they are, for products that widen them.
extern "C" __global__ void im2col(const number* x, void* columns, Windows all, i32 groups, bool is_narrow) {
    i32 n = (i32)thread_number();
    if (n >= all.images * volume(all.places) * volume(all.window) * all.channels) return;
    Element element(all, n, groups);
    i32 pixel = pixel_at(all, element.place, element.tap);
    i32 at = (element.image * volume(all.size) + pixel) * all.channels + element.channel;
    if (is_narrow) ((number*)columns)[n] = pixel < 0 ? number() : x[at];
    else ((wide*)columns)[n] = pixel < 0 ? 0 : load(x[at]);
}

// The same of gradients, with a row for each pixel of the input: what the taps that come from there meet, where one does.
extern "C" __global__ void gradients_im2col(const number* g, number* columns, Windows all, i32 groups, i32 outputs) {
    i32 n = (i32)thread_number(), pixels = volume(all.size), taps = volume(all.window), width = outputs / groups;
    if (n >= all.images * pixels * taps * outputs) return;
    i32 tap = n / width % taps, row = n / width / taps % (all.images * pixels), group = n / width / taps / all.images / pixels;
    i32 place = place_over(all, row % pixels, tap), at = (row / pixels * volume(all.places) + place) * outputs;
    columns[n] = place < 0 ? number() : g[at + group * width + n % width];
}

extern "C" __global__ void col2im(const wide* columns, number* x, Windows all, i32 groups) {
    i32 n = (i32)thread_number(), pixels = volume(all.size), places = volume(all.places), taps = volume(all.window);
    if (n >= all.images * pixels * all.channels) return;
    i32 channel = n % all.channels, pixel = n / all.channels % pixels, image = n / all.channels / pixels;
    i32 width = all.channels / groups, group = channel / width;
    wide sum = 0;
    for (i32 tap = 0; tap < taps; ++tap) {
        i32 place = place_over(all, pixel, tap), row = (group * all.images + image) * places + place;
        if (place >= 0) sum += columns[(row * taps + tap) * width + channel % width];
    }
    store(x[n], sum);
}

// Depthwise: output channel n has input channel n / multiplier as its source, and a filter of shape (taps, outputs).
extern "C" __global__ void depthwise(const number* x, const number* filter, number* y, Windows all, i32 multiplier) {
    i32 n = (i32)thread_number(), places = volume(all.places), outputs = all.channels * multiplier;
    if (n >= all.images * places * outputs) return;
    i32 output = n % outputs, place = n / outputs % places, image = n / outputs / places;
    wide sum = 0;
    for (i32 tap = 0; tap < volume(all.window); ++tap) {
        i32 pixel = pixel_at(all, place, tap), at = (image * volume(all.size) + pixel) * all.channels + output / multiplier;
        if (pixel >= 0) sum += load(x[at]) * load(filter[tap * outputs + output]);
    }
    store(y[n], sum);
}

extern "C" __global__ void depthwise_input_grad(
    const number* gradient, const number* filter, number* x, Windows all, i32 multiplier) {
    i32 n = (i32)thread_number(), pixels = volume(all.size), outputs = all.channels * multiplier;
    if (n >= all.images * pixels * all.channels) return;
    i32 channel = n % all.channels, pixel = n / all.channels % pixels, image = n / all.channels / pixels;
    wide sum = 0;
    for (i32 tap = 0; tap < volume(all.window); ++tap) {
        i32 place = place_over(all, pixel, tap);
        if (place < 0) continue;
        const number* g = gradient + (image * volume(all.places) + place) * outputs;
        for (i32 output = channel * multiplier; output < (channel + 1) * multiplier; ++output)
            sum += load(g[output]) * load(filter[tap * outputs + output]);
    }
    store(x[n], sum);
}

// A thread adds up one element of the filter over a piece of the places of all images, to `sums` of shape (pieces, taps,
// outputs).
extern "C" __global__ void depthwise_filter_grad(
    const number* x, const number* gradient, wide* sums, Windows all, i32 multiplier, i32 pieces) {
    i32 n = (i32)thread_number(), places = volume(all.places), taps = volume(all.window), outputs = all.channels * multiplier;
    if (n >= pieces * taps * outputs) return;
    i32 output = n % outputs, tap = n / outputs % taps;
    wide sum = 0;
    for (i32 row = n / outputs / taps; row < all.images * places; row += pieces) {
        i32 pixel = pixel_at(all, row % places, tap);
        i32 at = (row / places * volume(all.size) + pixel) * all.channels + output / multiplier;
        if (pixel >= 0) sum += load(x[at]) * load(gradient[row * outputs + output]);
    }
    sums[n] = sum;
}
