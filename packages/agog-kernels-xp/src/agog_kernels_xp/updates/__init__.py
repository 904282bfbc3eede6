"""Updates: kernels that update variables in place, such as the steps of optimizers."""

KERNELS = {
    "adam": ("apply_adam", "apply_adamax", "apply_amsgrad", "apply_lamb", "apply_lion", "apply_nadam"),
    "adaptive": ("apply_adadelta", "apply_adagrad", "apply_adagrad_da", "apply_centered_rmsprop", "apply_rmsprop"),
    "descent": ("apply_add", "apply_gradient_descent", "apply_keras_momentum", "apply_momentum"),
    "proximal": ("apply_ftrl", "apply_proximal_adagrad", "apply_proximal_gradient_descent"),
    "slices": ("assign_slice",),
}
