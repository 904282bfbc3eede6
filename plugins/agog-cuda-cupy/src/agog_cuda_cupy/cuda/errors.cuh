// The error word: what a kernel met that its op refuses. The host looks at it when it waits for the device anyway.
#pragma once

#define AGOG_NAN __uint_as_float(0x7fc00000u)

// The lowest position is kept, with the value there: the word holds both, the position in the upper half. A position or
// value that has no place in 32 bits is the nearest that has.
__device__ inline void tell_error(u64* word, i64 position, i64 value) {
    i64 place = position < 0xfffffffell ? position : 0xfffffffell;
    i64 kept = value < -0x80000000ll ? -0x80000000ll : value > 0x7fffffffll ? 0x7fffffffll : value;
    atomicMin(word, (u64)place << 32 | (u32)(int)kept);
}
