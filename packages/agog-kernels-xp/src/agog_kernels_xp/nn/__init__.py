"""Nn: kernels of activations, softmax, losses, normalization and recurrent networks."""

KERNELS = {
    "activations": (
        "elu",
        "elu_grad",
        "leaky_relu",
        "leaky_relu_grad",
        "relu",
        "relu6",
        "relu6_grad",
        "relu_grad",
        "selu",
        "selu_grad",
        "softsign",
        "swish",
    ),
    "ctc": ("ctc_loss", "ctc_loss_grad"),
    "ctc_decoding": ("ctc_beam_search_decoder", "ctc_greedy_decoder"),
    "dropout": ("dropout", "dropout_grad"),
    "gelu": ("gelu", "gelu_grad"),
    "gru": ("gru", "gru_grad"),
    "losses": (
        "l2_loss",
        "sigmoid_cross_entropy",
        "softmax_cross_entropy",
        "softmax_cross_entropy_grad",
        "sparse_softmax_cross_entropy",
        "sparse_softmax_cross_entropy_grad",
    ),
    "lstm": ("lstm", "lstm_grad"),
    "softmax": ("log_softmax", "log_softmax_grad", "softmax", "softmax_grad"),
    "standardization": ("neighbor_sum", "standardize", "standardize_grad"),
}
