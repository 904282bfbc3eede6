// One time of an LSTM (long short-term memory), behind the product of the state with the recurrent weights; a thread takes
// one unit of one example. The reserve has the gates (entry, keep, candidate, exit) and the cell state of all times, of
// shape (times, batch, 5 * units). Where the mask is 0 an example keeps its state.
#include "device.cuh"
#include "gates.cuh"

struct Place { i64 example, unit, row, state; };  // `row` of (times, batch), `state` in (batch, units)

__device__ inline Place this_place(i64 time, i64 batch, i64 units) {
    i64 n = thread_number();
    return {n / units, n % units, time * batch + n / units, n};
}

extern "C" __global__ void lstm_cell(
    const number* products, const number* bias, const number* from_state, const number* initial_hidden,
    const number* initial_cell, const bool* mask, bool has_mask, number* reserve, number* hiddens, i64 time, i64 batch,
    i64 units, i32 activation, i32 recurrent_activation) {
    if (thread_number() >= batch * units) return;
    Place at = this_place(time, batch, units);
    number* gates = reserve + at.row * 5 * units + at.unit;
    wide gate[4];
    for (int n = 0; n < 4; ++n) {
        i64 column = n * units + at.unit;
        wide sum = products[at.row * 4 * units + column] + bias[column] + from_state[at.example * 4 * units + column];
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
}

// Back through one time. What reaches the hidden state is the sum of three: the output's gradient, the product of the next
// time's errors with the weights, and what a mask held there. `to_cell` and `held` are changed in place.
extern "C" __global__ void lstm_cell_grad(
    const number* hidden_gradients, const number* product, const number* reserve, const number* initial_cell,
    const bool* mask, bool has_mask, number* held, number* to_cell, number* errors, i64 time, i64 batch, i64 units,
    i32 activation, i32 recurrent_activation) {
    if (thread_number() >= batch * units) return;
    Place at = this_place(time, batch, units);
    const number* gates = reserve + at.row * 5 * units + at.unit;
    wide entry = gates[0], keep = gates[units], candidate = gates[2 * units], exit = gates[3 * units];
    wide cell_before = time ? gates[4 * units - batch * 5 * units] : initial_cell[at.state];
    wide hidden_gradient = product[at.state] + held[at.state] + hidden_gradients[at.row * units + at.unit];
    wide cell_gradient = to_cell[at.state];
    bool is_held = has_mask && !mask[at.row];
    held[at.state] = is_held ? hidden_gradient : 0;
    wide held_cell = is_held ? cell_gradient : 0;
    if (is_held) hidden_gradient = cell_gradient = 0;

    wide active = activated(activation, gates[4 * units]);
    wide through = through_slope(activation, active, hidden_gradient * exit) + cell_gradient;
    number* error = errors + at.row * 4 * units + at.unit;
    error[0] = through_slope(recurrent_activation, entry, through * candidate);
    error[units] = through_slope(recurrent_activation, keep, through * cell_before);
    error[2 * units] = through_slope(activation, candidate, through * entry);
    error[3 * units] = through_slope(recurrent_activation, exit, hidden_gradient * active);
    to_cell[at.state] = through * keep + held_cell;
}
