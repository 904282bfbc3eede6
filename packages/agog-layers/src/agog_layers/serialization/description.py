"""Descriptions: serialization of objects as data, and deserialization without running code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from types import FunctionType
from typing import Any, ClassVar, Self

from agog_core import DType, TensorShape, nest
from agog_core.settable import Settable
from agog_layers.serialization.custom_objects import (
    custom_object,
    custom_object_scope,
    get_registered_name,
    registered,
    scoped,
)
from agog_layers.serialization.registry import class_name, classes, find_class, functions, register

# What classes of programs may change after their constructor, so that attributes say it.
_SETTABLE = ("name", "trainable", "dtype")
_PLAIN = (bool, int, float, str, type(None))


class Configured(Settable):
    """Base of objects whose constructor's arguments are kept in attributes of the same names.

    >>> from agog_layers.weights.initializers import RandomNormal
    >>> config = RandomNormal(stddev=0.5).get_config()
    >>> config
    {'mean': 0.0, 'stddev': 0.5, 'seed': None, 'dtype': 'float32'}
    >>> RandomNormal.from_config(config).stddev
    0.5
    """

    # What an object of the class is used as: descriptions of other kinds may have its name.
    described_kind: ClassVar[str] = "object"
    # The arguments that say what an object is made of: a class of the program that does not take them makes it itself.
    own_parts: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if len(cls.__bases__) > 1:
            _uncover(cls.__mro__)
        if cls.__module__.startswith("agog_"):
            register(cls.described_kind, cls)
            # A layer; others may become dataclasses, for which a constructor is made if there is none.
            if hasattr(cls, "call") and "__init__" not in vars(cls) and isinstance(cls.__init__, FunctionType):
                setattr(cls, "__init__", _named_after(cls, cls.__init__))  # noqa: B010  # mypy: a method
        elif "__init__" in vars(cls):
            setattr(cls, "__init__", _keeping_arguments(vars(cls)["__init__"]))  # noqa: B010  # mypy: a method

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, read from the attributes of the same names, as data that JSON can hold.

        For classes of the program they are the constructor's arguments, if these are data. Raises NotImplementedError
        if an argument is in no attribute, or is no data.
        """
        return {name: self._described(name) for name in self._argument_names()}

    def _described(self, name: str) -> Any:
        what = f"{type(self).__name__}.get_config"
        value = ... if name in _SETTABLE else self._constructed_with().get(name, ...)
        value = self._kept_as(name) if value is ... else value
        if value is ...:
            raise NotImplementedError(
                f"{what}: no attribute {name!r} keeps the constructor's argument of that name; assign it in __init__, "
                "or implement get_config."
            )
        try:
            return describe(value)
        except TypeError:
            raise NotImplementedError(
                f"{what}: {name} is {value!r} of type {type(value).__name__}, which is no data; a function has a "
                "description only if tf.keras knows it by name. Implement get_config and from_config."
            ) from None

    def _kept_as(self, name: str) -> Any:
        """The attribute of an argument's name; `...` if there is none."""
        return getattr(self, name, ...)

    def _argument_names(self) -> list[str]:
        given = self._constructed_with()
        names = [name for name in constructor_arguments(type(self)) if name in given or name not in self.own_parts]
        return names + [name for name in given if name not in names]

    def _constructed_with(self) -> dict[str, Any]:
        """The constructor's arguments of a class of the program, by name; `...` for those that are no data."""
        import inspect  # here, because its import takes milliseconds

        arguments: Arguments | None = vars(self).get("_constructor_arguments")
        if arguments is None:
            return {}
        signature = inspect.signature(type(self).__init__)
        bound = signature.bind(self, *arguments.args, **arguments.kwargs)
        bound.apply_defaults()
        given: dict[str, Any] = {}
        for parameter in list(signature.parameters.values())[1:]:
            value = bound.arguments[parameter.name]
            if parameter.kind is parameter.VAR_KEYWORD:
                known = constructor_arguments(type(self))
                given |= {name: each for name, each in value.items() if name not in known}
            elif parameter.kind is not parameter.VAR_POSITIONAL:
                given[parameter.name] = value
            elif value:
                raise NotImplementedError(
                    f"{type(self).__name__}.get_config: the constructor takes *{parameter.name}, and a description has "
                    "arguments by name alone; take a list in its place, or implement get_config and from_config."
                )
        return given

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Make an object from what `get_config` returned."""

        def made(name: str, value: Any) -> Any:
            return value if name == "name" else revive(value, kind_of(name))  # a name is no class of that name

        return cls(**{name: made(name, value) for name, value in config.items()})


class Arguments:
    """The arguments of a constructor if they are data or known by name, and `...` otherwise; no dict, in which layers
    look for parts.
    """

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args = [_kept(value) for value in args]
        self.kwargs = {name: _kept(value) for name, value in kwargs.items()}


def _named_after(cls: type, init: FunctionType) -> FunctionType:
    """A constructor that a class has from its base, by its own name: Python's errors say it."""
    own = FunctionType(init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__)
    own.__kwdefaults__, own.__annotations__ = init.__kwdefaults__, init.__annotations__
    own.__doc__, own.__module__, own.__qualname__ = init.__doc__, init.__module__, f"{cls.__qualname__}.__init__"
    vars(own).update(vars(init), _original=_original(init) or init)
    return own


def _original(init: Any) -> Any:
    """The constructor that `_named_after` has given another name; None if it is itself."""
    original = getattr(init, "_original", None)
    return original if original is not None and original.__code__ is init.__code__ else None


def _uncover(mro: Sequence[type]) -> None:
    """Take those names back that hide, in a class of several bases, a constructor of a later one."""
    real: Any = None
    for kind in reversed(mro):
        init = vars(kind).get("__init__")
        original = _original(init)
        if original is None:
            real = init or real
        elif original is not real:
            del kind.__init__  # type: ignore[misc]  # mypy: a method


def _keeping_arguments(constructor: Callable[..., None]) -> Callable[..., None]:
    """A constructor whose object knows its arguments; of several, the one that the class of the object has counts."""

    @wraps(constructor)
    def keeping(self: Configured, *args: Any, **kwargs: Any) -> None:
        vars(self).setdefault("_constructor_arguments", Arguments(args, kwargs))
        constructor(self, *args, **kwargs)

    return keeping


def _kept(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (list, tuple)):
        parts = [_kept(part) for part in value]
        return ... if any(part is ... for part in parts) else parts
    if isinstance(value, dict):
        inside = {key: _kept(part) for key, part in value.items()}
        return ... if any(part is ... for part in inside.values()) else inside
    if isinstance(value, (DType, TensorShape, FunctionType)) or getattr(value, "ndim", None) == 0:
        try:
            return describe(value)
        except TypeError:
            return ...
    return ...


def kind_of(argument: str) -> str | None:
    """The kind of object that an argument takes, by its name; None if that is not known.

    >>> kind_of("kernel_initializer"), kind_of("units")
    ('initializer', None)
    """
    last = argument.rpartition("_")[2]
    return last if last in classes else None


def constructor_arguments(cls: type, end: type | None = None) -> list[str]:
    """The names of a class's constructor's arguments; what it takes as ``**kwargs`` are those of the next base, up to
    the base ``end`` without its own.

    >>> class Base:
    ...     def __init__(self, name=None): ...
    >>> class Derived(Base):
    ...     def __init__(self, units, **kwargs): ...
    >>> constructor_arguments(Derived)
    ['units', 'name']
    """
    import inspect  # here, because its import takes milliseconds

    names: dict[str, None] = {}
    for base in cls.__mro__:
        if base is end:
            break
        if "__init__" in vars(base):
            parameters = list(inspect.signature(vars(base)["__init__"]).parameters.values())[1:]
            names |= {p.name: None for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)}
            if all(p.kind != p.VAR_KEYWORD for p in parameters):
                break
    return list(names)


def describe(value: Any) -> Any:
    """Describe a value by data that JSON can hold.

    Args:
        value: a layer or another object with ``get_config``; a number, string, None, dtype or shape; a function that is
            known by name; or a structure of those.

    Returns:
        Data; objects become a dict with ``class_name`` and ``config``.

    Raises:
        TypeError: it is something else.

    >>> describe(("same", TensorShape([None, 3])))
    ['same', [None, 3]]
    """
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, DType):
        return value.name
    if isinstance(value, TensorShape):
        return value.as_list()
    if isinstance(value, (list, tuple)):
        return [describe(part) for part in value]
    if nest.is_mapping(value):
        return {str(key): describe(part) for key, part in value.items()}
    if hasattr(value, "get_config"):
        return {"class_name": class_name(type(value)), "config": value.get_config()}
    if hasattr(value, "item") and hasattr(value, "ndim"):  # an array, or a number of its library
        return value.tolist()
    if callable(value) and any(known is value and ">" in name for name, known in registered.items()):
        return {"registered_name": get_registered_name(value)}
    return _name_of(value)


def _name_of(function: Any) -> str:
    if hasattr(function, "described_as"):
        return str(function.described_as)
    name = getattr(function, "__name__", None)
    if isinstance(name, str) and (custom_object(name) or functions.get(name)) is function:
        return name
    raise TypeError(f"{function!r} is not known by name.")


def revive(data: Any, kind: str | None = None) -> Any:
    """Make a value from data that describe it, such as ``tf.keras.layers.serialize`` returned.

    Args:
        data: the data. Names of functions stay names, which constructors take as well, but for those of a
            `custom_object_scope`.
        kind: what the value is used as, such as ``"layer"`` or ``"initializer"``: objects of several kinds may have one
            name. None for layers before others.

    Returns:
        The value.

    Raises:
        ValueError: the data name an unknown class.

    >>> revive({"class_name": "Policy", "config": {"name": "float64"}})
    <Policy 'float64'>
    """
    if isinstance(data, (list, tuple)):
        return [revive(part, kind) for part in data]
    if isinstance(data, str):
        return scoped.get().get(data) or registered.get(data, data)
    if not nest.is_mapping(data):
        return data
    if set(data) == {"registered_name"} and data["registered_name"] in registered:
        return registered[data["registered_name"]]
    if set(data) != {"class_name", "config"}:
        return {key: revive(part, kind) for key, part in data.items()}
    return find_class(data["class_name"], kind).from_config(data["config"])


def deserialize_keras_object(
    config: Any, custom_objects: Mapping[str, Any] | None = None, safe_mode: bool = True
) -> Any:
    """Make a value from what ``serialize_keras_object`` returned.

    Args:
        config: the data.
        custom_objects: names to classes and functions of the program.

    Returns:
        The value.

    Raises:
        ValueError: the data name an unknown class.

    >>> deserialize_keras_object({"class_name": "Zeros", "config": {}})([2]).numpy().tolist()
    [0.0, 0.0]
    """
    with custom_object_scope(custom_objects or {}):
        return revive(config)
