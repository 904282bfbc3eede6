// CUDA C on the host, for tests: the blocks of a kernel run one after the other, and the threads of a block are fibers
// that take turns at barriers and warp operations only. Nothing is fast here and nothing runs at the same time. What it
// finds are wrong results, reads of shared memory that no thread has written, barriers that not all threads reach, warp
// operations with missing lanes, accesses outside of the arrays, and results that depend on the order of the threads.
#pragma once

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <type_traits>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __constant__ static
// All shared variables lie in one section, which is spoiled before each block.
#define __shared__ static __attribute__((section("agog_shared")))

struct uint3 { unsigned x, y, z; };
struct dim3 { unsigned x, y, z; };

extern "C" char __start_agog_shared[] __attribute__((weak));
extern "C" char __stop_agog_shared[] __attribute__((weak));

namespace on_host {

enum State { ready, at_barrier, in_warp, done };

// A switch of stacks that keeps what the System V ABI wants kept; ucontext's asks the operating system each time.
extern "C" void agog_switch(void** save, void* load);
asm(R"(
.text
.type agog_switch,@function
agog_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
)");

struct Thread {
    uint3 index;
    unsigned linear;
    State state;
    int operations;  // of its warp that it has come to
    unsigned mask;   // of the last one
    void* stack_pointer;
};

struct Warp {
    uint64_t slot[2][32];
    int arrived[32];  // how many operations each lane has come to
};

constexpr size_t stack_bytes = 32 << 10;
inline Thread* self;
inline void* scheduler;
inline std::vector<Thread> threads;
inline std::vector<Warp> warps;
inline std::vector<char> stacks;
inline dim3 grid, block;
inline uint3 block_index;
inline void (*run_kernel)(void* call);
inline void* call;
inline char message[512];
inline sigjmp_buf escape;
inline pthread_t launching;
inline struct sigaction old_segv, old_bus;
inline unsigned random_state;

[[noreturn]] inline void fail(const char* what) {
    uint3 thread = self ? self->index : uint3{0, 0, 0};
    snprintf(message, sizeof message, "%s; block (%u, %u, %u), thread (%u, %u, %u)", what, block_index.x, block_index.y,
             block_index.z, thread.x, thread.y, thread.z);
    siglongjmp(escape, 1);
}

inline void give_turn() { agog_switch(&self->stack_pointer, scheduler); }

inline void run_thread() {
    run_kernel(call);
    self->state = done;
    give_turn();
    abort();
}

inline void wait_for_block() {
    self->state = at_barrier;
    give_turn();
}

// Each lane of the mask gives a value and gets those of all others. Two slots alternate, so that no value is overwritten
// before all have read it.
inline const uint64_t* exchange(unsigned mask, uint64_t value) {
    unsigned lane = self->linear % 32;
    if (!(mask >> lane & 1)) fail("a warp operation by a lane that its mask leaves out");
    Warp& warp = warps[self->linear / 32];
    int slot = self->operations++ & 1;
    warp.slot[slot][lane] = value;
    warp.arrived[lane] = self->operations;
    self->mask = mask;
    self->state = in_warp;
    give_turn();
    return warp.slot[slot];
}

inline bool lanes_are_there(Thread& thread) {
    const Warp& warp = warps[thread.linear / 32];
    for (unsigned lane = 0; lane < 32; ++lane) {
        if (!(thread.mask >> lane & 1) || warp.arrived[lane] >= thread.operations) continue;
        unsigned other = thread.linear / 32 * 32 + lane;
        if (other < threads.size() && threads[other].state != done) return false;
        self = &thread;
        fail("a warp operation waits for a lane that does not exist or has ended");
    }
    return true;
}

inline void start_threads() {
    for (unsigned n = 0; n < threads.size(); ++n) {
        threads[n] = {{n % block.x, n / block.x % block.y, n / block.x / block.y}, n, ready, 0, 0, nullptr};
        uintptr_t end = reinterpret_cast<uintptr_t>(stacks.data() + (n + 1) * stack_bytes) & ~uintptr_t(15);
        void** top = reinterpret_cast<void**>(end);
        *--top = nullptr;  // as if run_thread had been called: its stack is off by 8
        *--top = reinterpret_cast<void*>(run_thread);
        threads[n].stack_pointer = top - 6;  // the registers that agog_switch takes up
    }
}

inline void shuffle(std::vector<unsigned>& turns) {
    for (size_t n = turns.size() - 1; n > 0; --n) {
        random_state = random_state * 1664525u + 1013904223u;
        std::swap(turns[n], turns[(random_state >> 8) % (n + 1)]);
    }
}

// Whether the thread could go on.
inline bool take_turn(unsigned n) {
    Thread& thread = threads[n];
    if (thread.state == in_warp && lanes_are_there(thread)) thread.state = ready;
    if (thread.state != ready) return false;
    self = &thread;
    agog_switch(&scheduler, thread.stack_pointer);
    return true;
}

// Let a warp go on as far as it gets without the others: what it overtakes lacks a barrier.
inline bool run_warp(unsigned warp) {
    bool moved = false;
    for (bool again = true; again; moved |= again) {
        again = false;
        for (unsigned n = warp * 32; n < warp * 32 + 32 && n < threads.size(); ++n) again |= take_turn(n);
    }
    return moved;
}

inline void run_block(int order) {
    if (__start_agog_shared) memset(__start_agog_shared, 0xFF, __stop_agog_shared - __start_agog_shared);
    memset(warps.data(), 0, warps.size() * sizeof(Warp));
    start_threads();
    size_t count = threads.size();
    std::vector<unsigned> turns(count);
    for (unsigned n = 0; n < count; ++n) turns[n] = order == 1 ? count - 1 - n : n;
    for (;;) {
        if (order > 1) shuffle(turns);
        bool moved = false;
        for (unsigned n : turns) moved |= order % 2 ? run_warp(n / 32) : take_turn(n);
        size_t ended = 0, waiting = 0;
        for (Thread& thread : threads) {
            ended += thread.state == done;
            waiting += thread.state == at_barrier;
        }
        if (ended == count) return;
        if (waiting && ended + waiting == count) {
            if (ended) fail("__syncthreads waits for threads that have ended");
            for (Thread& thread : threads) thread.state = ready;
        } else if (!moved) {
            fail("threads wait for each other for ever: a barrier or a warp operation in a branch");
        }
    }
}

// A fault of another thread is no kernel's: it happens once more, and is told as it would be without one.
inline void on_fault(int signal, siginfo_t* info, void*) {
    if (!pthread_equal(pthread_self(), launching)) {
        sigaction(signal, signal == SIGSEGV ? &old_segv : &old_bus, nullptr);
        return;
    }
    static char text[96];
    snprintf(text, sizeof text, "an access outside of all arrays, at address %p", info->si_addr);
    fail(text);
}

template <class... Parameters>
struct Call {
    void (*kernel)(Parameters...);
    void** arguments;

    static void run(void* call) { static_cast<Call*>(call)->apply(std::index_sequence_for<Parameters...>{}); }
    template <size_t... n>
    void apply(std::index_sequence<n...>) { kernel(*static_cast<Parameters*>(arguments[n])...); }
};

// What a parameter's bits are read as: the letters of NumPy's kinds, and p for a pointer.
template <class T>
constexpr char kind_of() {
    return std::is_pointer<T>::value          ? 'p'
           : std::is_same<T, bool>::value     ? 'b'
           : std::is_floating_point<T>::value ? 'f'
           : std::is_unsigned<T>::value       ? 'u'
           : std::is_integral<T>::value       ? 'i'
                                              : 'V';
}

inline bool is_whole(char kind) { return kind == 'i' || kind == 'u'; }

template <class... Parameters>
int launch(void (*kernel)(Parameters...), const unsigned* grid_size, const unsigned* block_size, void** arguments,
           const size_t* bytes_of, const char* kinds, int count, int order, unsigned seed, char* error,
           size_t error_bytes) {
    if (count != sizeof...(Parameters)) {
        snprintf(error, error_bytes, "the kernel takes %zu arguments; got %d", sizeof...(Parameters), count);
        return 1;
    }
    // A device reads as many bytes as its parameter has, as what the parameter is, whatever there is. The first bytes
    // of an integer are the smaller integer.
    const size_t parameters[] = {sizeof(Parameters)..., 0};
    const char parameter_kinds[] = {kind_of<Parameters>()..., 0};
    for (int n = 0; n < count; ++n) {
        bool whole = is_whole(kinds[n]) && is_whole(parameter_kinds[n]);
        if (!whole && kinds[n] != parameter_kinds[n]) {
            snprintf(error, error_bytes, "argument %d is of kind '%c'; the kernel reads it as '%c'", n, kinds[n],
                     parameter_kinds[n]);
            return 1;
        }
        if (whole ? bytes_of[n] >= parameters[n] : bytes_of[n] == parameters[n]) continue;
        snprintf(error, error_bytes, "argument %d has %zu bytes; the kernel takes %zu", n, bytes_of[n], parameters[n]);
        return 1;
    }
    grid = {grid_size[0], grid_size[1], grid_size[2]};
    block = {block_size[0], block_size[1], block_size[2]};
    size_t size = size_t(block.x) * block.y * block.z;
    if (size == 0 || size > 1024 || block.z > 64 || !grid.x || !grid.y || !grid.z || grid.y > 65535 || grid.z > 65535) {
        snprintf(error, error_bytes, "no device takes blocks of (%u, %u, %u) threads in a grid of (%u, %u, %u) blocks",
                 block.x, block.y, block.z, grid.x, grid.y, grid.z);
        return 1;
    }
    threads.resize(size);
    warps.resize((size + 31) / 32);
    stacks.resize((size + 1) * stack_bytes);
    random_state = seed;
    Call<Parameters...> this_call{kernel, arguments};
    run_kernel = Call<Parameters...>::run;
    call = &this_call;

    launching = pthread_self();
    static std::vector<char> fault_stack(1 << 16);
    stack_t alternative = {fault_stack.data(), 0, fault_stack.size()}, old_alternative;
    sigaltstack(&alternative, &old_alternative);
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, &old_segv);
    sigaction(SIGBUS, &action, &old_bus);
    self = nullptr;
    int status = 0;
    if (sigsetjmp(escape, 1) == 0) {
        uint64_t blocks = uint64_t(grid.x) * grid.y * grid.z;
        for (uint64_t n = 0; n < blocks; ++n) {
            uint64_t which = order == 1 ? blocks - 1 - n : n;
            block_index = {unsigned(which % grid.x), unsigned(which / grid.x % grid.y), unsigned(which / grid.x / grid.y)};
            run_block(order);
        }
    } else {
        snprintf(error, error_bytes, "%s", message);
        status = 1;
    }
    sigaction(SIGSEGV, &old_segv, nullptr);
    sigaction(SIGBUS, &old_bus, nullptr);
    sigaltstack(&old_alternative, nullptr);
    return status;
}

template <class T> uint64_t as_bits(T x) { uint64_t y = 0; memcpy(&y, &x, sizeof x); return y; }
template <class T> T from_bits(uint64_t x) { T y; memcpy(&y, &x, sizeof y); return y; }

// A rounded result that no compiler may fuse into a later operation.
inline float kept(float x) { asm volatile("" : "+x"(x)); return x; }
inline double kept(double x) { asm volatile("" : "+x"(x)); return x; }

inline int own_lane() { return self->linear % 32; }

}  // namespace on_host

#define threadIdx (on_host::self->index)
#define blockIdx (on_host::block_index)
#define blockDim (on_host::block)
#define gridDim (on_host::grid)
#define warpSize 32

inline void __syncthreads() { on_host::wait_for_block(); }
inline void __syncwarp(unsigned mask = ~0u) { on_host::exchange(mask, 0); }

template <class T> T __shfl_sync(unsigned mask, T x, int lane) {
    return on_host::from_bits<T>(on_host::exchange(mask, on_host::as_bits(x))[lane & 31]);
}
template <class T> T __shfl_xor_sync(unsigned mask, T x, int bits) {
    return on_host::from_bits<T>(on_host::exchange(mask, on_host::as_bits(x))[(on_host::own_lane() ^ bits) & 31]);
}
template <class T> T __shfl_up_sync(unsigned mask, T x, int by) {
    int from = on_host::own_lane() - by;
    const uint64_t* all = on_host::exchange(mask, on_host::as_bits(x));
    return from >= 0 ? on_host::from_bits<T>(all[from]) : x;
}
template <class T> T __shfl_down_sync(unsigned mask, T x, int by) {
    int from = on_host::own_lane() + by;
    const uint64_t* all = on_host::exchange(mask, on_host::as_bits(x));
    return from < 32 ? on_host::from_bits<T>(all[from]) : x;
}

template <class T> T atomicAdd(T* at, T x) { T old = *at; *at = old + x; return old; }
template <class T> T atomicMin(T* at, T x) { T old = *at; *at = x < old ? x : old; return old; }
template <class T> T atomicMax(T* at, T x) { T old = *at; *at = x > old ? x : old; return old; }
// Others come between a look and an exchange, so that some exchanges fail.
template <class T> T atomicCAS(T* at, T expected, T x) {
    on_host::give_turn();
    T old = *at;
    if (old == expected) *at = x;
    return old;
}

inline float __fadd_rn(float x, float y) { return on_host::kept(x + y); }
inline float __fsub_rn(float x, float y) { return on_host::kept(x - y); }
inline float __fmul_rn(float x, float y) { return on_host::kept(x * y); }
inline float __fdiv_rn(float x, float y) { return on_host::kept(x / y); }
inline float __fsqrt_rn(float x) { return on_host::kept(sqrtf(x)); }
inline double __dadd_rn(double x, double y) { return on_host::kept(x + y); }
inline double __dsub_rn(double x, double y) { return on_host::kept(x - y); }
inline double __dmul_rn(double x, double y) { return on_host::kept(x * y); }
inline double __ddiv_rn(double x, double y) { return on_host::kept(x / y); }
inline double __dsqrt_rn(double x) { return on_host::kept(sqrt(x)); }
inline unsigned long long __umul64hi(unsigned long long x, unsigned long long y) { return (unsigned __int128)x * y >> 64; }
inline unsigned __float_as_uint(float x) { return on_host::as_bits(x); }
inline long long __double_as_longlong(double x) {
    long long bits;
    memcpy(&bits, &x, 8);
    return bits;
}
inline double __longlong_as_double(long long bits) {
    double x;
    memcpy(&x, &bits, 8);
    return x;
}
inline float __uint_as_float(unsigned x) { return on_host::from_bits<float>(x); }

#define AGOG_ON_HOST(name)                                                                                             \
    extern "C" int launch_##name(const unsigned* grid, const unsigned* block, void** arguments, const size_t* bytes_of, \
                                 const char* kinds, int count, int order, unsigned seed, char* error, size_t bytes) {  \
        return on_host::launch(name, grid, block, arguments, bytes_of, kinds, count, order, seed, error, bytes);       \
    }
