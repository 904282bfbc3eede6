// Activations of gates, and their slopes; the numbers are those of recurrent.py.
#pragma once

enum Activation { linear, hyperbolic_tangent, sigmoid, hard_sigmoid, rectifier };

__device__ inline wide activated(int activation, wide x) {
    switch (activation) {
        case hyperbolic_tangent: return tanh(x);
        case sigmoid: return tanh(x * (wide)0.5) * (wide)0.5 + (wide)0.5;  // never overflows
        case hard_sigmoid: x = x * (wide)0.2 + (wide)0.5; return x < 0 ? 0 : x > 1 ? 1 : x;
        case rectifier: return x < 0 ? 0 : x;
        default: return x;
    }
}

// The derivative where the activation has given y, times a gradient; 0 where the activation is flat, whatever the gradient.
__device__ inline wide through_slope(int activation, wide y, wide gradient) {
    switch (activation) {
        case hyperbolic_tangent: return gradient * (1 - y * y);
        case sigmoid: return gradient * (y * (1 - y));
        case hard_sigmoid: return y > 0 && y < 1 ? gradient * (wide)0.2 : 0;
        case rectifier: return y > 0 ? gradient : 0;
        default: return gradient;
    }
}
