// One time of a GRU (gated recurrent units), behind the product of the state with the recurrent weights; a thread takes one
// unit of one example. The reserve has the gates (update, reset, candidate) and what the reset gate multiplies or has
// multiplied, of all times, of shape (times, batch, 4 * units). Where the mask is 0 an example keeps its state.
#include "device.cuh"
#include "gates.cuh"

// What the kernels share: arrays of all times, and sizes. It is passed by value.
struct Network {
    const number* products;  // of the inputs, with no bias
    const number* bias;      // of the inputs, and behind it of the state where the reset gate comes after its product
    const number* initial_hidden;
    const bool* mask;  // null for none
    number* reserve;
    number* hiddens;
    i64 batch, units;
    i32 activation, recurrent_activation;
};

struct Cell {
    i64 example, unit, row, state;  // `row` of (times, batch), `state` in (batch, units)
    number* reserve;
    wide before;  // the state that the time starts with
    bool is_held;

    __device__ Cell(const Network& all, i64 time) {
        state = thread_number();
        example = state / all.units;
        unit = state % all.units;
        row = time * all.batch + example;
        reserve = all.reserve + row * 4 * all.units + unit;
        before = time ? all.hiddens[(row - all.batch) * all.units + unit] : all.initial_hidden[state];
        is_held = all.mask && !all.mask[row];
    }
    // The part of a gate's sum that comes from the inputs.
    __device__ wide from_input(const Network& all, int gate) const {
        i64 column = gate * all.units + unit;
        return all.products[row * 3 * all.units + column] + all.bias[column];
    }
    __device__ void finish(const Network& all, wide update, wide candidate) const {
        reserve[2 * all.units] = candidate;
        all.hiddens[row * all.units + unit] = is_held ? before : (before - candidate) * update + candidate;
    }
};

// The reset gate multiplies the state's product: `from_state` of shape (batch, 3 * units).
extern "C" __global__ void gru_cell(Network all, const number* from_state, i64 time) {
    if (thread_number() >= all.batch * all.units) return;
    Cell cell(all, time);
    wide gate[2], state_sum[3];
    for (int n = 0; n < 3; ++n) {
        i64 column = n * all.units + cell.unit;
        state_sum[n] = from_state[cell.example * 3 * all.units + column] + all.bias[3 * all.units + column];
    }
    for (int n = 0; n < 2; ++n)
        cell.reserve[n * all.units] = gate[n] =
            activated(all.recurrent_activation, cell.from_input(all, n) + state_sum[n]);
    cell.reserve[3 * all.units] = state_sum[2];
    cell.finish(all, gate[0], activated(all.activation, cell.from_input(all, 2) + gate[1] * state_sum[2]));
}

// The reset gate multiplies the state: first the gates, from `from_state` of shape (batch, 2 * units) ...
extern "C" __global__ void gru_gates(Network all, const number* from_state, number* chosen, i64 time) {
    if (thread_number() >= all.batch * all.units) return;
    Cell cell(all, time);
    wide gate[2];
    for (int n = 0; n < 2; ++n) {
        wide sum = cell.from_input(all, n) + from_state[cell.example * 2 * all.units + n * all.units + cell.unit];
        cell.reserve[n * all.units] = gate[n] = activated(all.recurrent_activation, sum);
    }
    cell.reserve[3 * all.units] = chosen[cell.state] = gate[1] * cell.before;
}

// ... then the candidate, from the product of what the gate has chosen, of shape (batch, units).
extern "C" __global__ void gru_candidate(Network all, const number* from_chosen, i64 time) {
    if (thread_number() >= all.batch * all.units) return;
    Cell cell(all, time);
    wide sum = cell.from_input(all, 2) + from_chosen[cell.state];
    cell.finish(all, cell.reserve[0], activated(all.activation, sum));
}

// Back through one time. What reaches the state is the sum of the output's gradient, of the product of the next time's
// errors with the weights, and of what has gone past that product, which is `direct` and is changed in place.
struct Errors {
    const number* gradients;
    const number* product;
    number* direct;
    number* errors;  // of all times, of shape (times, batch, 3 * units)
};

// The errors of the update gate and of the candidate, which is returned.
__device__ inline wide candidate_error(const Network& all, const Errors& to, const Cell& cell) {
    wide update = cell.reserve[0], candidate = cell.reserve[2 * all.units];
    wide gradient = to.product[cell.state] + to.direct[cell.state] + to.gradients[cell.row * all.units + cell.unit];
    wide reached = cell.is_held ? 0 : gradient;
    to.direct[cell.state] = cell.is_held ? gradient : reached * update;
    number* error = to.errors + cell.row * 3 * all.units + cell.unit;
    error[0] = through_slope(all.recurrent_activation, update, reached * (cell.before - candidate));
    return error[2 * all.units] = through_slope(all.activation, candidate, reached - reached * update);
}

extern "C" __global__ void gru_cell_grad(Network all, Errors to, number* state_errors, i64 time) {
    if (thread_number() >= all.batch * all.units) return;
    Cell cell(all, time);
    wide error = candidate_error(all, to, cell), reset = cell.reserve[all.units];
    i64 at = cell.row * 3 * all.units + cell.unit;
    to.errors[at + all.units] = through_slope(all.recurrent_activation, reset, error * cell.reserve[3 * all.units]);
    state_errors[at] = to.errors[at];
    state_errors[at + all.units] = to.errors[at + all.units];
    state_errors[at + 2 * all.units] = error * reset;
}

extern "C" __global__ void gru_candidate_grad(Network all, Errors to, number* candidate_errors, i64 time) {
    if (thread_number() >= all.batch * all.units) return;
    Cell cell(all, time);
    candidate_errors[cell.state] = candidate_error(all, to, cell);
}

// Behind the product of the candidate's errors with its weights; `gate_errors` has shape (batch, 2 * units).
extern "C" __global__ void gru_gates_grad(Network all, Errors to, const number* to_chosen, number* gate_errors, i64 time) {
    if (thread_number() >= all.batch * all.units) return;
    Cell cell(all, time);
    wide reset = cell.reserve[all.units], gradient = to_chosen[cell.state];
    number* error = to.errors + cell.row * 3 * all.units + cell.unit;
    error[all.units] = through_slope(all.recurrent_activation, reset, gradient * cell.before);
    to.direct[cell.state] += gradient * reset;
    number* gate = gate_errors + cell.example * 2 * all.units + cell.unit;
    gate[0] = error[0];
    gate[all.units] = error[all.units];
}
