"""Functions: the four gradient functions of Eager Execution, and custom gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from agog_core import nest
from agog_core.dtypes import as_dtype
from agog_core.gradients.tape import GradientTape
from agog_core.ops.array import identity, zeros_like
from agog_core.recording import Recording, active, record_function
from agog_core.tensors.convert import convert_to_tensor
from agog_core.tensors.tensor import Tensor, wrap
from agog_core.variables.variable import Variable

__all__ = [
    "custom_gradient",
    "gradients_function",
    "hessian_function",
    "implicit_gradients",
    "implicit_value_and_gradients",
    "value_and_gradients_function",
]

Params = Sequence[str] | Sequence[int] | None


def gradients_function(f: Callable[..., Any], params: Params = None) -> Callable[..., list[Any]]:
    """Turn a function into one that computes its gradients.

    Args:
        f: a function of tensors. What it returns may be nested; the gradient is that of the sum of all its elements.
        params: the parameters to differentiate with respect to, by name or by position; None for all positional ones.

    Returns:
        A function of the same positional arguments. It returns a list with one gradient per parameter, None if the
        result does not depend on it. Its keyword argument ``dy`` is what the gradient of the result starts with (ones
        by default).

    Raises:
        ValueError: ``params`` mixes names and positions, or names a parameter that is not there.

    >>> df = gradients_function(lambda x: x * x)
    >>> [float(g) for g in df(3.0)]
    [6.0]
    """
    value_and_gradients = value_and_gradients_function(f, params)

    @wraps(f, updated=())
    def gradients(*args: Any, **kwargs: Any) -> list[Any]:
        return value_and_gradients(*args, **kwargs)[1]

    return gradients


def value_and_gradients_function(f: Callable[..., Any], params: Params = None) -> Callable[..., tuple[Any, list[Any]]]:
    """Turn a function into one that computes its value and its gradients.

    Args:
        f: as for `gradients_function`.
        params: as for `gradients_function`.

    Returns:
        A function that returns the pair (value of ``f``, list of gradients).

    Raises:
        ValueError: ``params`` mixes names and positions, or names a parameter that is not there.

    >>> value, (gradient,) = value_and_gradients_function(lambda x: x * x)(3.0)
    >>> float(value), float(gradient)
    (9.0, 6.0)
    """
    positions = _positions(f, params)

    @wraps(f, updated=())
    def value_and_gradients(*args: Any, dy: Any = None, **kwargs: Any) -> tuple[Any, list[Any]]:
        value, tape, sources = _recorded(f, positions, args, kwargs, False)
        targets = (value,) if type(value) is Tensor else nest.flatten(value)
        able = [source for source in sources if source._table.dtype.is_differentiable]  # all arguments are meant
        found = iter(tape._gradients(targets, able, None if dy is None else nest.flatten(dy)))
        return value, [next(found) if source._table.dtype.is_differentiable else None for source in sources]

    return value_and_gradients


def _recorded(
    f: Callable[..., Any], positions: list[int] | None, args: Sequence[Any], kwargs: Any, persistent: bool
) -> tuple[Any, GradientTape, list[Tensor]]:
    """The value of a function, the tape that has recorded it, and the tensors to differentiate with respect to."""
    if kwargs:
        raise ValueError("Functions to be differentiated cannot receive keyword arguments.")
    arguments = list(args)
    sources: list[Tensor] = []
    for position in range(len(args)) if positions is None else positions:
        source = _source(arguments[position], sources)
        arguments[position] = source
        sources.append(source)
    tape = GradientTape(persistent)
    with tape:
        for source in sources:
            tape.watch_tensor(source)
        value = f(*arguments)
    if value is None:
        name = getattr(f, "__name__", repr(f))
        raise ValueError(
            f"Cannot differentiate a function that returns None; did you forget to return a value from {name}?"
        )
    return value if type(value) is Tensor else nest.map_structure(_target, value), tape, sources


def make_vjp(f: Callable[..., Any], params: Params = None, persistent: bool = True) -> Callable[..., tuple[Any, Any]]:
    """Turn a function into one that returns its value and a vjp of the output's gradient (ones by default).

    >>> value, vjp = make_vjp(lambda x: x * x)(3.0)
    >>> float(value), float(vjp(2.0)[0]), float(vjp()[0])
    (9.0, 12.0, 6.0)
    """
    positions = _positions(f, params)

    @wraps(f, updated=())
    def value_and_vjp(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        value, tape, sources = _recorded(f, positions, args, kwargs, persistent)

        def vjp(dy: Any = None) -> list[Any]:
            return list(tape.gradient(nest.flatten(value), sources, None if dy is None else nest.flatten(dy)))

        return value, vjp

    return value_and_vjp


def hessian_function(f: Callable[..., Any], params: Params = None) -> Callable[..., list[Any]]:
    """Turn a function into one that computes its second derivatives.

    Args:
        f: a function of tensors; where it returns more than one number, the second derivatives are those of the sum.
        params: as for `gradients_function`.

    Returns:
        A function of the same positional arguments. It returns a list with one Hessian per parameter, of shape
        ``x.shape + x.shape``; derivatives with respect to two different parameters are not among them.

    Raises:
        ValueError: ``params`` mixes names and positions, or names a parameter that is not there.

    >>> hessian = hessian_function(lambda x: x[0] * x[0] * x[1])
    >>> print(hessian([3.0, 2.0])[0].numpy().tolist())
    [[4.0, 6.0], [6.0, 0.0]]
    """
    positions = _positions(f, params)

    @wraps(f, updated=())
    def hessians(*args: Any) -> list[Any]:
        arguments = list(args)
        chosen = range(len(args)) if positions is None else positions
        sources: list[Tensor] = []
        for position in chosen:
            arguments[position] = _source(arguments[position], sources)
            sources.append(arguments[position])
        with GradientTape(persistent=True) as tape:
            tape.watch(sources)
            found = gradients_function(f, list(chosen))(*arguments)
            gradients = [None if g is None else convert_to_tensor(g) for g in found]  # some may be sparse
        return [
            None if g is None else tape.jacobian(g, x, unconnected_gradients="zero")
            for g, x in zip(gradients, sources, strict=True)
        ]

    return hessians


def _target(value: Any) -> Any:
    return value if isinstance(value, Variable) else convert_to_tensor(value)


def _source(argument: Any, earlier: list[Tensor]) -> Tensor:
    """The tensor to differentiate with respect to; one that is passed twice is told apart."""
    tensor = convert_to_tensor(argument)
    for other in earlier:
        if tensor is other:
            return identity(tensor)
    return identity(tensor) if isinstance(argument, Variable) else tensor


def _positions(f: Callable[..., Any], params: Params) -> list[int] | None:
    """The positions to differentiate with respect to; None for all that are passed."""
    names = _parameter_names(f)
    if params is None:
        return None if not names else list(range(len(names)))
    if all(isinstance(param, str) for param in params):
        return [names.index(param) for param in params] if names else []  # type: ignore[arg-type]  # ValueError names the missing one
    if all(isinstance(param, int) for param in params):
        return list(params)  # type: ignore[arg-type]  # seen in the line above
    raise ValueError(f"params must be all strings or all integers; got {list(params)}.")


def _parameter_names(f: Callable[..., Any]) -> list[str]:
    import inspect  # here, because its import takes milliseconds

    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def implicit_gradients(f: Callable[..., Any]) -> Callable[..., list[tuple[Any, Variable]]]:
    """Turn a function into one that computes the gradients of its trainable variables.

    Args:
        f: a function; it may read variables anywhere.

    Returns:
        A function of the same arguments. It returns a list of (gradient, variable) pairs in the order of the variables'
        construction, to be handed to an optimizer's ``apply_gradients``; a gradient is None if the result does not
        depend on the variable.

    >>> v = Variable(3.0)
    >>> [(float(g), w is v) for g, w in implicit_gradients(lambda x: v * v * x)(2.0)]
    [(12.0, True)]
    """
    value_and_gradients = implicit_value_and_gradients(f)

    @wraps(f, updated=())
    def gradients(*args: Any, **kwargs: Any) -> list[tuple[Any, Variable]]:
        return value_and_gradients(*args, **kwargs)[1]

    return gradients


def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., tuple[Any, list[tuple[Any, Variable]]]]:
    """Turn a function into one that computes its value and the gradients of its trainable variables.

    Args:
        f: as for `implicit_gradients`.

    Returns:
        A function that returns the pair (value of ``f``, list of (gradient, variable) pairs).

    Raises:
        ValueError: when called: ``f`` returns None, or reads no trainable variable.

    >>> v = Variable(3.0)
    >>> value, pairs = implicit_value_and_gradients(lambda: v * v)()
    >>> float(value), float(pairs[0][0])
    (9.0, 6.0)
    """

    @wraps(f, updated=())
    def value_and_gradients(*args: Any, **kwargs: Any) -> tuple[Any, list[tuple[Any, Variable]]]:
        with GradientTape() as tape:
            value = f(*args, **kwargs)
        if value is None:
            name = getattr(f, "__name__", repr(f))
            raise ValueError(
                f"Cannot differentiate a function that returns None; did you forget to return a value from {name}?"
            )
        variables = list(tape.watched_variables())
        if not variables:
            raise ValueError("No trainable variables were accessed while the function was being computed.")
        targets = [value] if type(value) is Tensor else [_target(leaf) for leaf in nest.flatten(value)]
        return value, list(zip(tape._gradients(targets, variables, None), variables, strict=True))

    return value_and_gradients


def custom_gradient(f: Callable[..., Any]) -> Callable[..., Any]:
    """Give a function a gradient of its own.

    Args:
        f: returns a pair: the result (a tensor or a structure of them), and a function from the gradients of the
            results to those of the arguments: one or a list, None for arguments without. If ``f`` reads trainable
            variables beside its arguments, that function also takes ``variables``, and returns the pair (gradients of
            the arguments, gradients of the variables).

    Returns:
        A function of the same arguments that returns the result.

    >>> @custom_gradient
    ... def doubled_gradient(x):
    ...     return x * x, lambda dy: dy * 4 * x
    >>> [float(g) for g in gradients_function(doubled_gradient)(3.0)]
    [12.0]
    """

    @wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if not active:
            return nest.map_structure(_detached, f(*args, **kwargs)[0])
        reads = Recording()
        reads.start()
        try:
            result, grad_fn = f(*args, **kwargs)
        finally:
            reads.stop()
        given = [*args, *kwargs.values()]
        variables = [v for v, _ in reads.variables.values() if not any(v is other for other in given)]
        variables.sort(key=lambda v: v._serial)
        if variables and not _takes_variables(grad_fn):
            raise TypeError(
                "If using @custom_gradient with a function that uses variables, then grad_fn must accept a keyword "
                "argument 'variables'."
            )
        flat = [_detached(leaf) for leaf in nest.flatten(result)]
        inputs = [_value(leaf) for leaf in given] + [v.value() for v in variables]

        def vjp(output_gradients: list[Any]) -> list[Any]:
            filled = [
                zeros_like(out) if g is None else _conjugated(g) for g, out in zip(output_gradients, flat, strict=True)
            ]
            if not variables:
                of_arguments, of_variables = grad_fn(*filled), []
            else:
                of_arguments, of_variables = grad_fn(*filled, variables=variables)
                of_variables = list(of_variables)
                if len(of_variables) != len(variables):
                    raise ValueError("Must return gradient for each variable from @custom_gradient grad_fn.")
            gradients = nest.flatten(of_arguments) if nest.is_nested(of_arguments) else [of_arguments]
            if len(gradients) != len(given):
                raise ValueError(
                    f"custom_gradient: grad_fn returned {len(gradients)} gradients for {len(given)} arguments; "
                    "return one for each, None for those without."
                )
            return [_conjugated(g) for g in (*gradients, *of_variables)]

        record_function(tuple(flat), inputs, vjp)
        return nest.pack(result, flat)

    return decorated


def _detached(value: Any) -> Tensor:
    tensor = convert_to_tensor(value)
    return wrap(tensor._array, tensor._table, tensor._shape)


def _conjugated(gradient: Any) -> Any:
    """Conjugation between the tape's vjps and the users' gradients of complex numbers."""
    if gradient is None or not hasattr(gradient, "dtype") or not as_dtype(gradient.dtype).is_complex:
        return gradient
    from agog_core.ops.array.complex import conj

    return conj(gradient)


def _value(argument: Any) -> Tensor | None:
    if isinstance(argument, (Tensor, Variable)):
        return convert_to_tensor(argument)
    return None


def _takes_variables(grad_fn: Callable[..., Any]) -> bool:
    import inspect

    parameters = inspect.signature(grad_fn).parameters.values()
    return any(p.name == "variables" or p.kind is p.VAR_KEYWORD for p in parameters)
