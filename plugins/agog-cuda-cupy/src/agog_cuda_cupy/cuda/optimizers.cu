// Steps of optimizers, each on many tensors in one launch. The operations are those of agog_kernels_xp.updates in the same
// order, each rounded by itself, so that the bits are those of the device "cpu". Numbers come as double, and are rounded
// to the type that is computed with.
#include "device.cuh"
#include "rounding.cuh"

#define MOST_TENSORS 24
#define MOST_ARRAYS 5

struct Tensors {  // passed by value: nothing is uploaded
    number* array[MOST_ARRAYS][MOST_TENSORS];  // the variables, their slots, and last the gradients
    i64 size[MOST_TENSORS];
    int first_block[MOST_TENSORS + 1];  // of each tensor; and behind the last one, how many blocks there are
    int count;
};

__device__ inline int tensor_of_block(const Tensors& all) {
    int tensor = 0;
    while (tensor + 1 < all.count && (int)blockIdx.x >= all.first_block[tensor + 1]) ++tensor;
    return tensor;
}

// Take each element of all tensors through step(variable, slots, gradient), which changes the first two.
template <int slots, class Step> __device__ inline void each_element(const Tensors& all, Step step) {
    int tensor = tensor_of_block(all);
    i64 blocks = all.first_block[tensor + 1] - all.first_block[tensor];
    i64 start = (i64)((int)blockIdx.x - all.first_block[tensor]) * blockDim.x + threadIdx.x;
    for (i64 n = start; n < all.size[tensor]; n += blocks * blockDim.x) {
        wide variable = load(all.array[0][tensor][n]), slot[slots + 1];
        for (int k = 0; k < slots; ++k) slot[k] = load(all.array[k + 1][tensor][n]);
        step(variable, slot, load(all.array[slots + 1][tensor][n]));
        store(all.array[0][tensor][n], variable);
        for (int k = 0; k < slots; ++k) store(all.array[k + 1][tensor][n], slot[k]);
    }
}

// Move a running mean by a share of its difference from a new value.
__device__ inline void average(wide& mean, wide value, wide share) {
    mean = add(mean, multiply(subtract(value, mean), share));
}
__device__ inline wide sign(wide x) { return x > 0 ? 1 : x < 0 ? -1 : x == 0 ? 0 : x; }
__device__ inline wide absolute(wide x) { return x < 0 ? -x : x == 0 ? 0 : x; }
// NaN where one of them is.
__device__ inline wide maximum(wide x, wide y) { return x > y || x != x ? x : y; }
__device__ inline wide minimum(wide x, wide y) { return x < y || x != x ? x : y; }

// These two are rounded after each operation, in half precision too.
extern "C" __global__ void apply_add(Tensors all, double scale) {
    wide factor = as_stored((wide)scale);
    each_element<0>(all, [=](wide& w, wide*, wide delta) { w = add(w, as_stored(multiply(delta, factor))); });
}

extern "C" __global__ void apply_gradient_descent(Tensors all, double learning_rate) {
    wide rate = as_stored((wide)learning_rate);
    each_element<0>(all, [=](wide& w, wide*, wide g) { w = subtract(w, as_stored(multiply(g, rate))); });
}

extern "C" __global__ void apply_momentum(Tensors all, double learning_rate, double momentum, bool use_nesterov) {
    wide rate = (wide)learning_rate, share = (wide)momentum;
    each_element<1>(all, [=](wide& w, wide* slot, wide g) {
        slot[0] = add(multiply(slot[0], share), g);
        wide step = use_nesterov ? add(multiply(slot[0], share), g) : slot[0];
        w = subtract(w, multiply(step, rate));
    });
}

extern "C" __global__ void apply_keras_momentum(Tensors all, double learning_rate, double momentum, bool use_nesterov) {
    wide rate = (wide)learning_rate, share = (wide)momentum;
    each_element<1>(all, [=](wide& w, wide* slot, wide g) {
        wide step = multiply(g, rate);
        slot[0] = subtract(multiply(slot[0], share), step);
        w = use_nesterov ? add(subtract(w, step), multiply(slot[0], share)) : add(w, slot[0]);
    });
}

// rest1 is 1 - beta1, rest2 is 1 - beta2, and kept is 1 - weight_decay.
extern "C" __global__ void apply_adam(
    Tensors all, double learning_rate, double epsilon, double beta1, double rest1, double rest2, double kept, bool use_nesterov) {
    wide rate = (wide)learning_rate, small = (wide)epsilon, beta = (wide)beta1;
    wide share1 = (wide)rest1, share2 = (wide)rest2, keep = (wide)kept;
    each_element<2>(all, [=](wide& w, wide* slot, wide g) {
        average(slot[0], g, share1);
        average(slot[1], multiply(g, g), share2);
        wide direction = use_nesterov ? add(multiply(slot[0], beta), multiply(g, share1)) : slot[0];
        wide step = multiply(divide(direction, add(root(slot[1]), small)), rate);
        w = subtract(multiply(w, keep), step);
    });
}

extern "C" __global__ void apply_amsgrad(Tensors all, double learning_rate, double epsilon, double rest1, double rest2) {
    wide rate = (wide)learning_rate, small = (wide)epsilon, share1 = (wide)rest1, share2 = (wide)rest2;
    each_element<3>(all, [=](wide& w, wide* slot, wide g) {
        average(slot[0], g, share1);
        average(slot[1], multiply(g, g), share2);
        slot[2] = maximum(slot[2], slot[1]);
        w = subtract(w, multiply(divide(slot[0], add(root(slot[2]), small)), rate));
    });
}

extern "C" __global__ void apply_adamax(Tensors all, double learning_rate, double epsilon, double rest1, double beta2) {
    wide rate = (wide)learning_rate, small = (wide)epsilon, share = (wide)rest1, beta = (wide)beta2;
    each_element<2>(all, [=](wide& w, wide* slot, wide g) {
        average(slot[0], g, share);
        slot[1] = maximum(multiply(slot[1], beta), absolute(g));
        w = subtract(w, multiply(divide(slot[0], add(slot[1], small)), rate));
    });
}

// kept is 1 - learning_rate * weight_decay.
extern "C" __global__ void apply_lion(Tensors all, double learning_rate, double rest1, double rest2, double kept) {
    wide rate = (wide)learning_rate, share1 = (wide)rest1, share2 = (wide)rest2, keep = (wide)kept;
    each_element<1>(all, [=](wide& w, wide* slot, wide g) {
        wide difference = subtract(g, slot[0]);
        wide step = multiply(sign(add(multiply(difference, share1), slot[0])), rate);
        w = subtract(multiply(w, keep), step);
        slot[0] = add(slot[0], multiply(difference, share2));
    });
}

// rest is 1 - rho.
extern "C" __global__ void apply_adadelta(Tensors all, double learning_rate, double rest, double epsilon) {
    wide rate = (wide)learning_rate, share = (wide)rest, small = (wide)epsilon;
    each_element<2>(all, [=](wide& w, wide* slot, wide g) {
        average(slot[0], multiply(g, g), share);
        wide step = multiply(root(divide(add(slot[1], small), add(slot[0], small))), g);
        average(slot[1], multiply(step, step), share);
        w = subtract(w, multiply(step, rate));
    });
}

extern "C" __global__ void apply_adagrad(Tensors all, double learning_rate) {
    wide rate = (wide)learning_rate;
    each_element<1>(all, [=](wide& w, wide* slot, wide g) {
        slot[0] = add(slot[0], multiply(g, g));
        w = subtract(w, multiply(divide(g, root(slot[0])), rate));
    });
}

// threshold is l1 * step, and more is l2 * step * learning_rate.
extern "C" __global__ void apply_adagrad_da(Tensors all, double learning_rate, bool is_clipped, double threshold, double more) {
    wide rate = (wide)-learning_rate, limit = (wide)threshold, summand = (wide)more;
    each_element<2>(all, [=](wide& w, wide* slot, wide g) {
        slot[0] = add(slot[0], g);
        slot[1] = add(slot[1], multiply(g, g));
        wide total = slot[0];
        if (is_clipped) total = multiply(maximum(subtract(absolute(total), limit), 0), sign(total));
        w = divide(multiply(total, rate), add(root(slot[1]), summand));
    });
}

// The end of RMSProp, with the square of the divisor.
__device__ inline void accumulate(wide& w, wide& accumulation, wide g, wide square, wide rate, wide momentum) {
    wide step = multiply(divide(g, root(square)), rate);
    accumulation = momentum != 0 ? add(multiply(accumulation, momentum), step) : step;
    w = subtract(w, accumulation);
}

// rest is 1 - decay.
extern "C" __global__ void apply_rmsprop(Tensors all, double learning_rate, double rest, double momentum, double epsilon) {
    wide rate = (wide)learning_rate, share = (wide)rest, held = (wide)momentum, small = (wide)epsilon;
    each_element<2>(all, [=](wide& w, wide* slot, wide g) {
        average(slot[0], multiply(g, g), share);
        accumulate(w, slot[1], g, add(slot[0], small), rate, held);
    });
}

extern "C" __global__ void apply_centered_rmsprop(
    Tensors all, double learning_rate, double rest, double momentum, double epsilon) {
    wide rate = (wide)learning_rate, share = (wide)rest, held = (wide)momentum, small = (wide)epsilon;
    each_element<3>(all, [=](wide& w, wide* slot, wide g) {
        average(slot[0], multiply(g, g), share);
        average(slot[1], g, share);
        accumulate(w, slot[2], g, add(subtract(slot[0], multiply(slot[1], slot[1])), small), rate, held);
    });
}

// threshold is learning_rate * l1, and divisor is 1 + learning_rate * l2.
extern "C" __global__ void apply_proximal_gradient_descent(
    Tensors all, double learning_rate, bool is_clipped, double threshold, double divisor) {
    wide rate = (wide)learning_rate, limit = (wide)threshold, shrink = (wide)divisor;
    each_element<0>(all, [=](wide& w, wide*, wide g) {
        w = subtract(w, multiply(g, rate));
        if (is_clipped) w = multiply(maximum(subtract(absolute(w), limit), 0), sign(w));
        w = divide(w, shrink);
    });
}

extern "C" __global__ void apply_proximal_adagrad(Tensors all, double learning_rate, bool is_clipped, double l1, double l2) {
    wide given = (wide)learning_rate, limit = (wide)l1, shrink = (wide)l2;
    each_element<1>(all, [=](wide& w, wide* slot, wide g) {
        slot[0] = add(slot[0], multiply(g, g));
        wide rate = divide(given, root(slot[0]));
        w = subtract(w, multiply(g, rate));
        if (is_clipped) w = multiply(sign(w), maximum(subtract(absolute(w), multiply(rate, limit)), 0));
        w = divide(w, add(multiply(rate, shrink), 1));
    });
}

// With a learning_rate_power of -0.5. twice_shrinkage is 2 * l2_shrinkage, and more is 2 * l2.
extern "C" __global__ void apply_ftrl(Tensors all, double learning_rate, double l1, double more, double twice_shrinkage) {
    wide rate = (wide)learning_rate, limit = (wide)l1, summand = (wide)more, shrinkage = (wide)twice_shrinkage;
    each_element<2>(all, [=](wide& w, wide* slot, wide g) {
        wide old_root = root(slot[0]);
        slot[0] = add(slot[0], multiply(g, g));
        wide new_root = root(slot[0]);
        slot[1] = add(slot[1], g);
        if (shrinkage != 0) slot[1] = add(slot[1], multiply(w, shrinkage));
        slot[1] = subtract(slot[1], divide(multiply(subtract(new_root, old_root), w), rate));
        wide clipped = minimum(maximum(slot[1], -limit), limit);
        w = divide(subtract(clipped, slot[1]), add(divide(new_root, rate), summand));
    });
}

// The square of a number in double, where that of a float is exact.
__device__ inline double squared(wide x) { return multiply((double)x, (double)x); }

// LAMB, first half: the slots, the directions in which the variables are to go, and for each block the sums of squares of
// what its threads have had of its variable and of its direction. A thread's directions lie a launch's width apart.
extern "C" __global__ void lamb_directions(Tensors all, wide* directions, double* sums, double correction, double rest1,
                                           double rest2, double epsilon, double weight_decay) {
    __shared__ double parts[32];
    wide correct = (wide)correction, share1 = (wide)rest1, share2 = (wide)rest2, small = (wide)epsilon;
    wide decay = (wide)weight_decay, *direction = directions + thread_number();
    double of_variable = 0, of_direction = 0;
    each_element<2>(all, [&](wide& w, wide* slot, wide g) {
        average(slot[0], g, share1);
        average(slot[1], multiply(g, g), share2);
        wide step = multiply(divide(slot[0], add(root(slot[1]), small)), correct);
        *direction = add(step, multiply(w, decay));
        of_variable = add(of_variable, squared(w));
        of_direction = add(of_direction, squared(*direction));
        direction += (i64)gridDim.x * blockDim.x;
    });
    of_variable = block_sum(of_variable, parts);
    of_direction = block_sum(of_direction, parts);
    if (threadIdx.x != 0) return;
    sums[2 * blockIdx.x] = of_variable;
    sums[2 * blockIdx.x + 1] = of_direction;
}

// LAMB, second half, in a launch of the same shape: each block adds up its tensor's sums, in the same order as the others,
// and goes along the directions by the quotient of the norms.
extern "C" __global__ void apply_lamb(Tensors all, const wide* directions, const double* sums, double learning_rate) {
    __shared__ double parts[32];
    int tensor = tensor_of_block(all);
    double of_variable = 0, of_direction = 0;
    for (int n = all.first_block[tensor] + (int)threadIdx.x; n < all.first_block[tensor + 1]; n += (int)blockDim.x) {
        of_variable = add(of_variable, sums[2 * n]);
        of_direction = add(of_direction, sums[2 * n + 1]);
    }
    of_variable = block_sum(of_variable, parts);
    of_direction = block_sum(of_direction, parts);
    bool has_norms = of_variable > 0 && of_direction > 0;
    double trust = has_norms ? root(divide(of_variable, of_direction)) : 1;
    wide rate = (wide)multiply(learning_rate, trust);
    const wide* direction = directions + thread_number();
    each_element<0>(all, [&](wide& w, wide*, wide) {
        w = subtract(w, as_stored(multiply(*direction, rate)));
        direction += (i64)gridDim.x * blockDim.x;
    });
}
