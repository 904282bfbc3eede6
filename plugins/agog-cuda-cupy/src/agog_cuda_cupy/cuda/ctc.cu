// CTC (connectionist temporal classification): the probabilities of alignments, in logarithms. A block takes an example, and
// its threads the states: a blank, the first label, a blank and so on, a blank last. Labels below 0 are behind the last one.
#include "device.cuh"

struct Alignments {  // passed by value
    const i32* labels;
    const i32* lengths;
    const number* logarithms;  // of the classes' probabilities, of shape (times, batch, classes); the last class is the blank
    i64 times, batch, classes, most_labels;
    i32 merges_repeated;
};

#define IMPOSSIBLE (-(number)AGOG_INFINITY)

__device__ inline number log_of_sum(number x, number y) {
    if (x == y) return x + (number)0.69314718055994530942;
    return x > y ? x + log1p(exp(y - x)) : y + log1p(exp(x - y));
}

struct Example {
    const Alignments& all;
    const i32* labels;
    i64 number_of, states, length, count;  // of its times and labels
    __device__ Example(const Alignments& given, i64 example) : all(given), number_of(example) {
        labels = all.labels + example * all.most_labels;
        states = 2 * all.most_labels + 1;
        length = all.lengths[example];
        count = 0;
        for (i64 n = 0; n < all.most_labels; ++n) count += labels[n] >= 0;
    }
    __device__ i64 class_of(i64 state) const {
        i64 blank = all.classes - 1, label = state % 2 == 0 ? blank : labels[state / 2];
        return label < 0 || label > blank ? blank : label;
    }
    __device__ bool may_stay(i64 state) const { return all.merges_repeated || state % 2 == 0; }
    // Whether the state may follow the one two before it, with no blank between.
    __device__ bool may_skip(i64 state) const {
        if (state % 2 == 0 || state < 2 || state >= states) return false;
        return !all.merges_repeated || class_of(state) != class_of(state - 2);
    }
    __device__ bool is_end(i64 state) const { return state == 2 * count || state == 2 * count - 1; }
    // Where an array of shape (times, batch, states) has this example.
    __device__ i64 row(i64 time) const { return (time * all.batch + number_of) * states; }
    __device__ number emission(i64 time, i64 state) const {
        return all.logarithms[(time * all.batch + number_of) * all.classes + class_of(state)];
    }
    // The logarithm of the probability of all alignments.
    __device__ number total(const number* alphas) const {
        const number* last = alphas + row(all.times - 1);
        return count ? log_of_sum(last[2 * count], last[2 * count - 1]) : last[0];
    }
};

// For each time and state the probability to come there, which stays after the end, and the loss.
extern "C" __global__ void ctc_forward(number* alphas, number* losses, Alignments all) {
    Example example(all, blockIdx.x);
    for (i64 time = 0; time < all.times; ++time) {
        const number* before = alphas + example.row(time - 1);
        for (i64 state = threadIdx.x; state < example.states; state += blockDim.x) {
            number value = IMPOSSIBLE;
            if (time == 0) {
                if (state < 2) value = example.emission(0, state);
            } else if (time < example.length) {
                if (example.may_stay(state)) value = before[state];
                if (state >= 1) value = log_of_sum(value, before[state - 1]);
                if (example.may_skip(state)) value = log_of_sum(value, before[state - 2]);
                value += example.emission(time, state);
            } else {
                value = before[state];
            }
            alphas[example.row(time) + state] = value;
        }
        __syncthreads();  // the next time reads what other threads have written
    }
    if (threadIdx.x == 0) losses[blockIdx.x] = example.length > 0 ? -example.total(alphas) : 0;
}

// For each time and state the probability to come from there to the end.
extern "C" __global__ void ctc_backward(number* betas, Alignments all) {
    Example example(all, blockIdx.x);
    for (i64 time = all.times - 1; time >= 0; --time) {
        const number* after = betas + example.row(time + 1);
        for (i64 state = threadIdx.x; state < example.states; state += blockDim.x) {
            number value = IMPOSSIBLE;
            if (time == example.length - 1) {
                if (example.is_end(state)) value = 0;
            } else if (time < example.length) {
                if (example.may_stay(state)) value = after[state] + example.emission(time + 1, state);
                if (state + 1 < example.states)
                    value = log_of_sum(value, after[state + 1] + example.emission(time + 1, state + 1));
                if (example.may_skip(state + 2))
                    value = log_of_sum(value, after[state + 2] + example.emission(time + 1, state + 2));
            }
            betas[example.row(time) + state] = value;
        }
        __syncthreads();
    }
}

// What softmax gives less what the alignments have, for each time, example and class; a thread takes one of them.
extern "C" __global__ void ctc_grad(
    const number* gradients, const number* alphas, const number* betas, number* y, Alignments all) {
    i64 n = thread_number(), class_number = n % all.classes, time = n / all.classes / all.batch;
    if (n >= all.times * all.batch * all.classes) return;
    Example example(all, n / all.classes % all.batch);
    number total = example.total(alphas), share = 0;
    bool is_possible = total - total == 0;  // neither infinite nor NaN
    if (is_possible && time < example.length)
        for (i64 state = 0; state < example.states; ++state)
            if (example.class_of(state) == class_number)
                share += exp(alphas[example.row(time) + state] + betas[example.row(time) + state] - total);
    bool counts = is_possible && time < example.length;
    y[n] = counts ? (exp(all.logarithms[n]) - share) * gradients[example.number_of] : 0;
}
