// Windows that slide over the axes between batch and channels: three of them, the first of size 1 where there are fewer.
// No array has more elements than an i32 counts; divisions of i64 would take longer than all else.
#pragma once
#include "device.cuh"

struct Windows {  // passed by value
    i32 images, channels;
    i32 size[3], places[3], window[3], stride[3], dilation[3], low[3];  // `low` is the padding before an axis
};

__device__ inline i32 volume(const i32* sizes) { return sizes[0] * sizes[1] * sizes[2]; }

// A number in three digits, the last of which is the fastest.
struct Digits {
    i32 digit[3];
    __device__ Digits(i32 number, const i32* sizes) {
        digit[2] = number % sizes[2];
        digit[1] = number / sizes[2] % sizes[1];
        digit[0] = number / sizes[2] / sizes[1];
    }
};

// The pixel that a place's window has at one of its taps, counted within the image; -1 in the padding.
__device__ inline i32 pixel_at(const Windows& all, i32 place, i32 tap) {
    Digits at(place, all.places), within(tap, all.window);
    i32 pixel = 0;
    for (int axis = 0; axis < 3; ++axis) {
        i32 n = at.digit[axis] * all.stride[axis] - all.low[axis] + within.digit[axis] * all.dilation[axis];
        if (n < 0 || n >= all.size[axis]) return -1;
        pixel = pixel * all.size[axis] + n;
    }
    return pixel;
}

// The place whose window has a pixel at a tap; -1 where there is none.
__device__ inline i32 place_over(const Windows& all, i32 pixel, i32 tap) {
    Digits at(pixel, all.size), within(tap, all.window);
    i32 place = 0;
    for (int axis = 0; axis < 3; ++axis) {
        i32 n = at.digit[axis] + all.low[axis] - within.digit[axis] * all.dilation[axis];
        if (n < 0 || n % all.stride[axis] || n / all.stride[axis] >= all.places[axis]) return -1;
        place = place * all.places[axis] + n / all.stride[axis];
    }
    return place;
}
