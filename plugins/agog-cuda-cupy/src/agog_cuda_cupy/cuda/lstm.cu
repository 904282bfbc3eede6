// An LSTM (long short-term memory). `lstm_cell` is one time, behind the product of the state with the recurrent weights; a
// thread takes one unit of one example. `lstm_layer` is all times of one example, which a block takes: for few units and
// examples, where launches take longer than what they compute. The reserve has the gates (entry, keep, candidate, exit) and
// the cell state of all times, of shape (times, batch, 5 * units). Where the mask is 0 an example keeps its state.
#include "device.cuh"
#include "gates.cuh"

#define MOST_UNITS 256

struct Place { i64 example, unit, row, state; };  // `row` of (times, batch), `state` in (batch, units)

__device__ inline Place place_of(i64 example, i64 unit, i64 time, i64 batch, i64 units) {
    return {example, unit, time * batch + example, example * units + unit};
}

// The hidden state after a time, from which the recurrent weights have made four numbers.
__device__ inline number advanced(
    const number* products, const number* bias, const wide* from_state, const number* initial_hidden,
    const number* initial_cell, const bool* mask, bool has_mask, number* reserve, number* hiddens, Place at, i64 time,
    i64 batch, i64 units, i32 activation, i32 recurrent_activation) {
    number* gates = reserve + at.row * 5 * units + at.unit;
    wide gate[4];
    for (int n = 0; n < 4; ++n) {
        i64 column = n * units + at.unit;
        wide sum = products[at.row * 4 * units + column] + bias[column] + from_state[n];
        gate[n] = activated(n == 2 ? activation : recurrent_activation, sum);
        gates[n * units] = gate[n];
    }
    wide cell_before = time ? gates[4 * units - batch * 5 * units] : initial_cell[at.state];
    wide cell = gate[1] * cell_before + gate[0] * gate[2], hidden = activated(activation, cell) * gate[3];
    if (has_mask && !mask[at.row]) {
        cell = cell_before;
        hidden = time ? hiddens[(at.row - batch) * units + at.unit] : initial_hidden[at.state];
    }
    gates[4 * units] = cell;
    hiddens[at.row * units + at.unit] = hidden;
    return hidden;
}

extern "C" __global__ void lstm_cell(
    const number* products, const number* bias, const number* from_state, const number* initial_hidden,
    const number* initial_cell, const bool* mask, bool has_mask, number* reserve, number* hiddens, i64 time, i64 batch,
    i64 units, i32 activation, i32 recurrent_activation) {
    i64 thread = thread_number();
    if (thread >= batch * units) return;
    Place at = place_of(thread / units, thread % units, time, batch, units);
    wide from[4];
    for (int n = 0; n < 4; ++n) from[n] = from_state[at.example * 4 * units + n * units + at.unit];
    advanced(products, bias, from, initial_hidden, initial_cell, mask, has_mask, reserve, hiddens, at, time, batch, units,
             activation, recurrent_activation);
}

extern "C" __global__ void lstm_layer(
    const number* products, const number* bias, const number* weights, const number* initial_hidden,
    const number* initial_cell, const bool* mask, bool has_mask, number* reserve, number* hiddens, i64 times, i64 batch,
    i64 units, i32 activation, i32 recurrent_activation) {
    __shared__ wide state[MOST_UNITS];
    i64 example = blockIdx.x, unit = threadIdx.x;
    bool is_there = unit < units;
    if (is_there) state[unit] = initial_hidden[example * units + unit];
    __syncthreads();
    for (i64 time = 0; time < times; ++time) {
        wide from[4] = {0, 0, 0, 0};
        if (is_there)
            for (i64 n = 0; n < units; ++n) {
                const number* row = weights + n * 4 * units + unit;
                for (int gate = 0; gate < 4; ++gate) from[gate] += state[n] * row[gate * units];
            }
        __syncthreads();
        if (is_there)
            state[unit] = advanced(products, bias, from, initial_hidden, initial_cell, mask, has_mask, reserve, hiddens,
                                   place_of(example, unit, time, batch, units), time, batch, units, activation,
                                   recurrent_activation);
        __syncthreads();
    }
}

// Back through one time. What reaches the hidden state is the sum of three: the output's gradient, the product of the next
// time's errors with the weights, and what a mask held there. `to_cell` and `held` are changed in place.
__device__ inline void back(
    const number* hidden_gradients, wide product, const number* reserve, const number* initial_cell, const bool* mask,
    bool has_mask, number& held, number& to_cell, wide* error, Place at, i64 time, i64 batch, i64 units, i32 activation,
    i32 recurrent_activation) {
    const number* gates = reserve + at.row * 5 * units + at.unit;
    wide entry = gates[0], keep = gates[units], candidate = gates[2 * units], exit = gates[3 * units];
    wide cell_before = time ? gates[4 * units - batch * 5 * units] : initial_cell[at.state];
    wide hidden_gradient = product + held + hidden_gradients[at.row * units + at.unit];
    wide cell_gradient = to_cell;
    bool is_held = has_mask && !mask[at.row];
    held = is_held ? hidden_gradient : 0;
    wide held_cell = is_held ? cell_gradient : 0;
    if (is_held) hidden_gradient = cell_gradient = 0;

    wide active = activated(activation, gates[4 * units]);
    wide through = through_slope(activation, active, hidden_gradient * exit) + cell_gradient;
    error[0] = through_slope(recurrent_activation, entry, through * candidate);
    error[1] = through_slope(recurrent_activation, keep, through * cell_before);
    error[2] = through_slope(activation, candidate, through * entry);
    error[3] = through_slope(recurrent_activation, exit, hidden_gradient * active);
    to_cell = through * keep + held_cell;
}

extern "C" __global__ void lstm_cell_grad(
    const number* hidden_gradients, const number* product, const number* reserve, const number* initial_cell,
    const bool* mask, bool has_mask, number* held, number* to_cell, number* errors, i64 time, i64 batch, i64 units,
    i32 activation, i32 recurrent_activation) {
    i64 thread = thread_number();
    if (thread >= batch * units) return;
    Place at = place_of(thread / units, thread % units, time, batch, units);
    wide error[4];
    back(hidden_gradients, product[at.state], reserve, initial_cell, mask, has_mask, held[at.state], to_cell[at.state], error,
         at, time, batch, units, activation, recurrent_activation);
    for (int n = 0; n < 4; ++n) errors[at.row * 4 * units + n * units + at.unit] = error[n];
}

// The weights are turned, of shape (4 * units, units); `product` and `held` get what reaches the first hidden state.
extern "C" __global__ void lstm_layer_grad(
    const number* hidden_gradients, const number* turned, const number* reserve, const number* initial_cell,
    const bool* mask, bool has_mask, number* product, number* held, number* to_cell, number* errors, i64 times, i64 batch,
    i64 units, i32 activation, i32 recurrent_activation) {
    __shared__ wide of_gates[4 * MOST_UNITS];
    i64 example = blockIdx.x, unit = threadIdx.x, state = example * units + unit;
    bool is_there = unit < units;
    number held_here = 0, to_cell_here = is_there ? to_cell[state] : 0;
    wide sum = 0;
    for (i64 time = times - 1; time >= 0; --time) {
        wide error[4];
        Place at = place_of(example, unit, time, batch, units);
        if (is_there) {
            back(hidden_gradients, sum, reserve, initial_cell, mask, has_mask, held_here, to_cell_here, error, at, time, batch,
                 units, activation, recurrent_activation);
            for (int n = 0; n < 4; ++n)
                of_gates[n * units + unit] = errors[at.row * 4 * units + n * units + unit] = error[n];
        }
        __syncthreads();
        sum = 0;
        if (is_there)
            for (i64 n = 0; n < 4 * units; ++n) sum += of_gates[n] * turned[n * units + unit];
        __syncthreads();
    }
    if (!is_there) return;
    product[state] = sum;
    held[state] = held_here;
    to_cell[state] = to_cell_here;
}
