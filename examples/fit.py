"""No training loop at all: a model with a shortcut, made of calls on an Input, and fit with callbacks.

python examples/fit.py                  # the 1,797 digits that scikit-learn carries
python examples/fit.py --data FOLDER    # MNIST, from the four idx files in a folder
"""

from __future__ import annotations

from typing import Any

import click

import agog as tf

layers = tf.keras.layers


def load(data: str) -> Any:
    """((training images, labels), (test images, labels)), with pixels in [0, 1]."""
    sets = tf.data.datasets.digits() if data == "digits" else tf.data.datasets.mnist(data)
    return [(images.astype("float32") / 255, labels) for images, labels in sets]


def make_model(shape: tuple[int, ...]) -> Any:
    """Two hidden layers, of which the second adds to the first."""
    images = tf.keras.Input(shape=shape)
    first = layers.Dense(128, activation="relu")(layers.Flatten()(images))
    second = layers.Dense(128, activation="relu")(layers.Dropout(0.3)(first))
    return tf.keras.Model(images, layers.Dense(10, activation="softmax")(first + second))


def draw(logs: dict[str, list[float]], images: Any, answers: Any, file: str) -> None:
    """The losses, and digits under what the model takes them for, as a picture."""
    import matplotlib.pyplot as plt  # here, because most runs do not need it

    figure = plt.figure(figsize=(8, 3.5), layout="constrained")
    left, right = figure.subfigures(1, 2)
    axes = left.subplots()
    for name in ("loss", "val_loss"):
        axes.plot(logs[name], label=name)
    axes.set_xlabel("epoch")
    axes.legend()
    for place, image, answer in zip(right.subplots(2, 5).flat, images, answers, strict=True):
        place.imshow(image, cmap="gray_r")
        place.set_title(str(answer.argmax()))
        place.axis("off")
    figure.savefig(file, dpi=120)


@click.command()
@click.option("--data", default="digits", help="digits, or a folder with the four idx files.")
@click.option("--epochs", type=click.IntRange(1), default=30, show_default=True)
@click.option("--device", help="Where to train, such as gpu:0; the default device by default.")
@click.option("--function", is_flag=True, help="Trace the training step with tf.function.")
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--logdir", help="A folder for TensorBoard's summaries: tensorboard --logdir FOLDER shows them.")
@click.option("--picture", "file", help="A file for a picture, which needs matplotlib.")
def main(device: str | None, function: bool, **options: Any) -> None:
    """Train the model, until the loss on held-out digits does not fall any more."""
    with tf.device(device):
        run(function=function, **options)


def run(data: str, epochs: int, seed: int, logdir: str | None, function: bool = False, file: str | None = None) -> None:
    """Make the model, fit it, test at the end."""
    tf.set_random_seed(seed)
    (images, labels), test = load(data)
    model = make_model(images.shape[1:])
    model.summary()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"], jit_compile=function)
    callbacks: list[tf.keras.callbacks.Callback] = [
        tf.keras.callbacks.ReduceLROnPlateau(patience=2, factor=0.5),
        tf.keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True),
    ]
    if logdir:
        callbacks.append(tf.keras.callbacks.TensorBoard(logdir, histogram_freq=5))
    history = model.fit(
        images, labels, batch_size=64, epochs=epochs, validation_split=0.1, callbacks=callbacks, verbose=2
    )
    if file:
        draw(history.history, test[0][:10], model.predict(test[0][:10]), file)
    _, accuracy = model.evaluate(*test, verbose=0)
    print(f"test accuracy: {accuracy:.1%}".replace("%", " %"))


if __name__ == "__main__":
    main()
