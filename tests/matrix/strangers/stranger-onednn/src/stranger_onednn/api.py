"""API: the functions of oneDNN that the kernels call, by cffi without a compiler; the import loads the library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

from cffi import FFI

from stranger_onednn.library import path

ffi = FFI()
ffi.cdef("""
typedef struct { int arg; void* memory; } exec_arg;
int dnnl_engine_create(void**, int kind, size_t index);
int dnnl_stream_create(void**, void* engine, unsigned flags);
int dnnl_stream_destroy(void*);
int dnnl_memory_desc_create_with_tag(void**, int ndims, const int64_t* dims, int dtype, int tag);
int dnnl_memory_desc_create_with_strides(void**, int ndims, const int64_t* dims, int dtype, const int64_t* strides);
int dnnl_memory_desc_destroy(void*);
int dnnl_memory_desc_equal(const void*, const void*);
size_t dnnl_memory_desc_get_size(const void*);
int dnnl_memory_create(void**, const void* desc, void* engine, void* handle);
int dnnl_memory_destroy(void*);
int dnnl_memory_set_data_handle(void* memory, void* handle);
int dnnl_primitive_create(void**, const void* desc);
int dnnl_primitive_destroy(void*);
int dnnl_primitive_desc_destroy(void*);
int dnnl_primitive_execute(const void* primitive, void* stream, int count, const exec_arg* args);
const void* dnnl_primitive_desc_query_md(const void* desc, int what, int index);
int dnnl_primitive_attr_create(void**);
int dnnl_primitive_attr_destroy(void*);
int dnnl_primitive_attr_set_post_ops(void* attr, void* ops);
int dnnl_post_ops_create(void**);
int dnnl_post_ops_destroy(void*);
int dnnl_post_ops_append_eltwise(void* ops, int algorithm, float alpha, float beta);
int dnnl_reorder_primitive_desc_create(void**, const void* source, void*, const void* target, void*, void* attr);
int dnnl_convolution_forward_primitive_desc_create(void**, void* engine, int kind, int algorithm, const void* source,
    const void* weights, const void* bias, const void* target, const int64_t* strides, const int64_t* dilations,
    const int64_t* before, const int64_t* after, void* attr);
int dnnl_convolution_backward_data_primitive_desc_create(void**, void* engine, int algorithm, const void* source,
    const void* weights, const void* target, const int64_t* strides, const int64_t* dilations, const int64_t* before,
    const int64_t* after, const void* hint, void* attr);
int dnnl_convolution_backward_weights_primitive_desc_create(void**, void* engine, int algorithm, const void* source,
    const void* weights, const void* bias, const void* target, const int64_t* strides, const int64_t* dilations,
    const int64_t* before, const int64_t* after, const void* hint, void* attr);
int dnnl_pooling_forward_primitive_desc_create(void**, void* engine, int kind, int algorithm, const void* source,
    const void* target, const int64_t* strides, const int64_t* window, const int64_t* dilations, const int64_t* before,
    const int64_t* after, void* attr);
int dnnl_pooling_backward_primitive_desc_create(void**, void* engine, int algorithm, const void* source,
    const void* target, const int64_t* strides, const int64_t* window, const int64_t* dilations, const int64_t* before,
    const int64_t* after, const void* hint, void* attr);
int dnnl_matmul_primitive_desc_create(void**, void* engine, const void* a, const void* b, const void* bias,
    const void* target, void* attr);
void omp_set_num_threads(int count);
""")
lib: Any = ffi.dlopen(path())
omp: Any = ffi.dlopen("libgomp.so.1")
NULL = ffi.NULL


class Is(IntEnum):
    """The values of dnnl_types.h that are used here."""

    CPU = 1
    FLOAT32 = 3
    ANY_LAYOUT = 1
    IN_ORDER = 1
    TRAINING = 64
    INFERENCE = 96
    DIRECT = 1
    MAX = 511
    RELU = 32


class Arg(IntEnum):
    """The arguments of primitives; each is what `LAYOUTS` asks a description about, by an index."""

    SOURCE = 1
    TARGET = 17
    WEIGHTS = 33
    BIAS = 41
    WORKSPACE = 64
    SOURCE_GRADIENT = 129
    TARGET_GRADIENT = 145
    WEIGHTS_GRADIENT = 161


LAYOUTS = {
    Arg.SOURCE: (129, 0),
    Arg.SOURCE_GRADIENT: (130, 0),
    Arg.WEIGHTS: (131, 0),
    Arg.BIAS: (131, 1),
    Arg.WEIGHTS_GRADIENT: (132, 0),
    Arg.TARGET: (133, 0),
    Arg.TARGET_GRADIENT: (134, 0),
    Arg.WORKSPACE: (135, 0),
}


def check(status: int, what: str) -> None:
    """Raise where oneDNN reports an error."""
    if status:
        raise RuntimeError(f"oneDNN: {what} returned status {status}")


def new(create: Callable[..., int], *args: Any, free: Callable[..., Any] | None = None) -> Any:
    """What a function of oneDNN makes; it is destroyed with the Python object."""
    made = ffi.new("void*[1]")
    check(create(made, *args), str(create))
    return made[0] if free is None else ffi.gc(made[0], free)


def described(create: Callable[..., int], *args: Any) -> Any:
    """The description of a primitive."""
    return new(create, *args, free=lib.dnnl_primitive_desc_destroy)


def dims(values: Sequence[int]) -> Any:
    """Sizes or strides, as oneDNN takes them."""
    return ffi.new("int64_t[12]", list(values))


def strided(shape: Sequence[int], strides: Sequence[int]) -> Any:
    """The layout of float32 numbers with strides in elements."""
    args = (len(shape), dims(shape), Is.FLOAT32, dims(strides))
    return new(lib.dnnl_memory_desc_create_with_strides, *args, free=lib.dnnl_memory_desc_destroy)


def any_layout(shape: Sequence[int]) -> Any:
    """A layout that oneDNN may choose."""
    args = (len(shape), dims(shape), Is.FLOAT32, Is.ANY_LAYOUT)
    return new(lib.dnnl_memory_desc_create_with_tag, *args, free=lib.dnnl_memory_desc_destroy)


def layout_of(description: Any, arg: Arg) -> Any:
    """The layout that a primitive wants an argument in."""
    return lib.dnnl_primitive_desc_query_md(description, *LAYOUTS[arg])


ENGINE = new(lib.dnnl_engine_create, Is.CPU, 0)
