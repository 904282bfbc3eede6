"""Hashing of strings, the same on every machine. Only the host has strings: the arrays hold bytes objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agog_kernels_xp.arrays import Array

_State = tuple[int, int, int, tuple[int, int], tuple[int, int]]

_ALL = 2**64 - 1
_K0, _K1, _K2 = 0xC3A5C85C97CB3127, 0xB492B66FBE98F273, 0x9AE16A3B2F90404F
_MURMUR = 0xC6A4A7935BD1E995
_MURMUR_SEED = 0xDECAFCAFFE


def fingerprint(xp: Any, data: Array) -> Array:
    """FarmHash's Fingerprint64, as 8 bytes, the lowest first."""
    rows = [list(_farm(text).to_bytes(8, "little")) for text in data.flat]
    return xp.array(rows, "uint8").reshape(len(rows), 8)


def string_to_hash_bucket(xp: Any, string_tensor: Array, *, num_buckets: int) -> Array:
    """MurmurHash64A, as TensorFlow seeds it, modulo the number of buckets."""
    return _buckets(xp, string_tensor, _murmur, num_buckets)


def string_to_hash_bucket_fast(xp: Any, input: Array, *, num_buckets: int) -> Array:
    """FarmHash's Fingerprint64 modulo the number of buckets."""
    return _buckets(xp, input, _farm, num_buckets)


def string_to_hash_bucket_strong(xp: Any, input: Array, *, num_buckets: int, key: tuple[int, int]) -> Array:
    """SipHash-2-4 with a key, modulo the number of buckets."""
    return _buckets(xp, input, lambda text: _sip(text, *key), num_buckets)


def _buckets(xp: Any, texts: Array, function: Callable[[bytes], int], num_buckets: int) -> Array:
    return xp.array([function(text) % num_buckets for text in texts.flat], "int64").reshape(texts.shape)


def _word(text: bytes, place: int, size: int = 8) -> int:
    return int.from_bytes(text[place : place + size], "little")


def _murmur(text: bytes, seed: int = _MURMUR_SEED) -> int:
    h = seed ^ (len(text) * _MURMUR & _ALL)
    whole = len(text) & ~7
    for place in range(0, whole, 8):
        k = _word(text, place) * _MURMUR & _ALL
        k = (k ^ k >> 47) * _MURMUR & _ALL
        h = (h ^ k) * _MURMUR & _ALL
    if len(text) > whole:
        h = (h ^ _word(text, whole)) * _MURMUR & _ALL
    h = (h ^ h >> 47) * _MURMUR & _ALL
    return h ^ h >> 47


def _sip(text: bytes, k0: int, k1: int) -> int:
    v0, v1 = k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D
    v2, v3 = k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573

    def rounds(count: int) -> None:
        nonlocal v0, v1, v2, v3
        for _ in range(count):
            v0, v2 = v0 + v1 & _ALL, v2 + v3 & _ALL
            v1, v3 = _left(v1, 13) ^ v0, _left(v3, 16) ^ v2
            v0 = _left(v0, 32)
            v0, v2 = v0 + v3 & _ALL, v2 + v1 & _ALL
            v3, v1 = _left(v3, 21) ^ v0, _left(v1, 17) ^ v2
            v2 = _left(v2, 32)

    for place in range(0, len(text) + 1, 8):
        m = _word(text, place)
        if place + 8 > len(text):  # the last word has the length in its last byte
            m |= (len(text) & 0xFF) << 56
        v3 ^= m
        rounds(2)
        v0 ^= m
    v2 ^= 0xFF
    rounds(4)
    return v0 ^ v1 ^ v2 ^ v3


def _left(value: int, count: int) -> int:
    return (value << count | value >> (64 - count)) & _ALL


def _right(value: int, count: int) -> int:
    value &= _ALL
    return (value >> count | value << (64 - count)) & _ALL


def _mixed(value: int) -> int:
    value &= _ALL
    return value ^ value >> 47


def _farm(text: bytes) -> int:
    """Fingerprint64, which is the function Hash64 of FarmHash's namespace farmhashna."""
    if len(text) <= 16:
        return _farm_to_16(text)
    if len(text) <= 32:
        return _farm_to_32(text)
    return _farm_to_64(text) if len(text) <= 64 else _farm_long(text)


def _farm_pair(u: int, v: int, factor: int) -> int:
    a = _mixed((u ^ v) * factor)
    b = _mixed((v ^ a) * factor)
    return b * factor & _ALL


def _farm_to_16(text: bytes) -> int:
    size = len(text)
    factor = _K2 + size * 2
    if size >= 8:
        a, b = _word(text, 0) + _K2 & _ALL, _word(text, size - 8)
        c = _right(b, 37) * factor + a & _ALL
        d = (_right(a, 25) + b) * factor & _ALL
        return _farm_pair(c, d, factor)
    if size >= 4:
        return _farm_pair(size + (_word(text, 0, 4) << 3), _word(text, size - 4, 4), factor)
    if size:
        y = text[0] + (text[size >> 1] << 8)
        z = size + (text[-1] << 2)
        return _mixed(y * _K2 ^ z * _K0) * _K2 & _ALL
    return _K2


def _farm_to_32(text: bytes) -> int:
    size = len(text)
    factor = _K2 + size * 2
    a, b = _word(text, 0) * _K1, _word(text, 8)
    c, d = _word(text, size - 8) * factor, _word(text, size - 16) * _K2
    u = _right(a + b, 43) + _right(c, 30) + d & _ALL
    return _farm_pair(u, a + _right(b + _K2, 18) + c & _ALL, factor)


def _farm_to_64(text: bytes) -> int:
    size = len(text)
    factor = _K2 + size * 2
    a, b = _word(text, 0) * _K2, _word(text, 8)
    c, d = _word(text, size - 8) * factor, _word(text, size - 16) * _K2
    y = _right(a + b, 43) + _right(c, 30) + d & _ALL
    z = _farm_pair(y, a + _right(b + _K2, 18) + c & _ALL, factor)
    e, f = _word(text, 16) * factor, _word(text, 24)
    g, h = (y + _word(text, size - 32)) * factor, (z + _word(text, size - 24)) * factor
    u = _right(e + f, 43) + _right(g, 30) + h & _ALL
    return _farm_pair(u, e + _right(f + a, 18) + g & _ALL, factor)


def _farm_weak(text: bytes, place: int, a: int, b: int) -> tuple[int, int]:
    w, x, y, z = (_word(text, place + 8 * n) for n in range(4))
    a += w
    b = _right(b + a + z, 21)
    c = a
    a += x + y
    b += _right(a, 44)
    return a + z & _ALL, b + c & _ALL


def _farm_round(text: bytes, place: int, state: _State, factor: int, scale: int) -> _State:
    """Take 64 bytes into the state."""
    x, y, z, v, w = state
    x = _right(x + y + v[0] + _word(text, place + 8), 37) * factor & _ALL
    y = _right(y + v[1] + _word(text, place + 48), 42) * factor & _ALL
    x ^= w[1] * scale & _ALL
    y = y + v[0] * scale + _word(text, place + 40) & _ALL
    z = _right(z + w[0], 33) * factor & _ALL
    v = _farm_weak(text, place, v[1] * factor, x + w[0])
    w = _farm_weak(text, place + 32, z + w[1], y + _word(text, place + 16))
    return z, y, x, v, w


def _farm_long(text: bytes) -> int:
    y = 81 * _K1 + 113 & _ALL
    state: _State = 81 * _K2 + _word(text, 0) & _ALL, y, _mixed(y * _K2 + 113) * _K2 & _ALL, (0, 0), (0, 0)
    for place in range(0, (len(text) - 1) // 64 * 64, 64):
        state = _farm_round(text, place, state, _K1, 1)
    x, y, z, v, w = state
    factor = _K1 + ((z & 0xFF) << 1)
    last = w[0] + ((len(text) - 1) & 63)
    v = v[0] + last & _ALL, v[1]
    w = last + v[0] & _ALL, w[1]
    x, y, z, v, w = _farm_round(text, len(text) - 64, (x, y, z, v, w), factor, 9)
    first = _farm_pair(v[0], w[0], factor) + _mixed(y) * _K0 + z & _ALL
    return _farm_pair(first, _farm_pair(v[1], w[1], factor) + x & _ALL, factor)
