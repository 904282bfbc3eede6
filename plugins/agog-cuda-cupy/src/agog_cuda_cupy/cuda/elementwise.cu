// Functions of each element by itself, where the array library would launch several kernels. Half precision is computed
// in float and rounded once.
#include "device.cuh"

enum Unary { relu6, elu, selu, leaky_relu, softsign, swish, sigmoid, softplus, rsqrt_of, gelu, approximate_gelu };

#define SELU_SCALE (wide)1.0507009873554804934193349852946
#define SELU_SCALE_ALPHA (wide)1.7580993408473768599175402208123

#define HALF_ROOT (wide)0.70710678118654752440084436210485
#define NORMAL_DENSITY_AT_0 (wide)0.39894228040143267793994605993438
#define GELU_LINEAR (wide)1.5957691216057307117597842397375
#define GELU_CUBIC (wide)0.071354816272600250256337660393866

// The share of x that gelu lets through: the probability that a normal number is less, or its sigmoid of a polynomial.
__device__ inline wide normal_share(wide x) { return erfc(-x * HALF_ROOT) / 2; }
__device__ inline wide sigmoid_share(wide x) { return 1 / (1 + exp(-x * (GELU_CUBIC * x * x + GELU_LINEAR))); }

// The parameter is leaky_relu's slope below 0. NaN gives NaN.
__device__ inline wide applied(int function, wide x, wide parameter) {
    wide small;  // of swish an exponential that does not overflow
    switch (function) {
        case relu6: return x < 0 ? 0 : x > 6 ? 6 : x;
        case elu: return x < 0 ? expm1(x) : x;
        case selu: return x < 0 ? SELU_SCALE_ALPHA * expm1(x) : SELU_SCALE * x;
        case leaky_relu: small = x * parameter; return small > x || small != small ? small : x;
        case softsign: return x / (fabs(x) + 1);
        case swish: small = exp(-fabs(x)); return x * (x >= 0 ? 1 : small) / (small + 1);
        case sigmoid: return 1 / (1 + exp(-x));
        case softplus: return (x < 0 ? 0 : x) + log1p(exp(-fabs(x)));
        case gelu: return x * normal_share(x);
        case approximate_gelu: return x * sigmoid_share(x);
        default: return 1 / sqrt(x);
    }
}

extern "C" __global__ void unary(const number* x, number* y, i64 size, int function, double parameter) {
    i64 n = thread_number();
    if (n < size) store(y[n], applied(function, load(x[n]), (wide)parameter));
}

enum Binary {
    relu_grad, relu6_grad, elu_grad, selu_grad, leaky_relu_grad, sigmoid_grad, tanh_grad, gelu_grad,
    approximate_gelu_grad,
    squared_difference, div_no_nan, sigmoid_cross_entropy
};

// Of gradients x come y: the input of relu, relu6, leaky_relu and gelu, the output of the others. What is flat gives 0, whatever
// the gradient. sigmoid_cross_entropy takes labels and logits.
__device__ inline wide applied(int function, wide x, wide y, wide parameter) {
    wide slope;
    switch (function) {
        case relu_grad: return y > 0 ? x : 0;
        case relu6_grad: return y > 0 && y < 6 ? x : 0;
        case elu_grad: return x * (y < 0 ? y + 1 : 1);
        case selu_grad: return x * (y < 0 ? y + SELU_SCALE_ALPHA : SELU_SCALE);
        case leaky_relu_grad:
            slope = (y > 0) == (parameter > 1) ? parameter : 1;  // of the two the larger one, where y is positive
            return slope == 0 ? 0 : x * slope;
        case sigmoid_grad: return x * y * (1 - y);
        case tanh_grad: return x * (1 - y * y);
        case gelu_grad: return x * (normal_share(y) + y * exp(y * y / -2) * NORMAL_DENSITY_AT_0);
        case approximate_gelu_grad:
            slope = sigmoid_share(y);
            return x * (slope + slope * sigmoid_share(-y) * y * (3 * GELU_CUBIC * y * y + GELU_LINEAR));
        case squared_difference: return (x - y) * (x - y);
        case div_no_nan: return y == 0 ? 0 : x / y;
        default: return log1p(exp(-fabs(y))) + ((y < 0 ? 0 : y) - y * x);
    }
}

extern "C" __global__ void binary(const number* x, const number* y, number* z, i64 size, int function, double parameter) {
    i64 n = thread_number();
    if (n < size) store(z[n], applied(function, load(x[n]), load(y[n]), (wide)parameter));
}

// activation(product + bias) in the memory of the product, whose rows are as long as the bias.
enum Activation { linear, relu_of, relu6_of, sigmoid_of, tanh_of };

extern "C" __global__ void add_bias(number* product, const number* bias, i64 size, i64 width, i32 activation) {
    i64 n = thread_number();
    if (n >= size) return;
    wide x = load(product[n]) + load(bias[n % width]);
    switch (activation) {
        case relu_of: x = x < 0 ? 0 : x; break;
        case relu6_of: x = applied(relu6, x, 0); break;
        case sigmoid_of: x = applied(sigmoid, x, 0); break;
        case tanh_of: x = tanh(x); break;
    }
    store(product[n], x);
}
