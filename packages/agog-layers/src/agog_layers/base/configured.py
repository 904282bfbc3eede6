"""Configured: objects that data describe, and that are made again from data, never by code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from types import FunctionType
from typing import Any, Self, TypeVar

from agog_core import DType, TensorShape, nest
from agog_core.settable import Settable
from agog_core.settings import Same, Setting
from agog_layers.base import activations

__all__ = [
    "custom_object_scope",
    "get_custom_objects",
    "get_registered_name",
    "get_registered_object",
    "register_keras_serializable",
]

T = TypeVar("T")

# The classes of this and the other packages, by name; what a program derives, it names in a `custom_object_scope`.
classes: dict[str, type[Configured]] = {}
# The classes of `custom_object_scope` in this thread or task.
_custom_objects: Setting[Mapping[str, Any]] = Setting(
    "agog_custom_objects", {}, key=lambda objects: tuple([(name, Same(each)) for name, each in objects.items()])
)

# The classes and functions that a program has registered for all descriptions, by package and name.
_registered: dict[str, Any] = {}

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

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if len(cls.__bases__) > 1:
            _uncover(cls.__mro__)
        if cls.__module__.startswith("agog_"):
            classes.setdefault(cls.__name__, cls)  # layers come before the cells of tf.nn.rnn_cell of the same names
            # A layer; others may become dataclasses, for which a constructor is made where there is none.
            if hasattr(cls, "call") and "__init__" not in vars(cls) and isinstance(cls.__init__, FunctionType):
                setattr(cls, "__init__", _named_after(cls, cls.__init__))  # noqa: B010  # mypy: a method
        elif "__init__" in vars(cls):
            setattr(cls, "__init__", _keeping_arguments(vars(cls)["__init__"]))  # noqa: B010  # mypy: a method

    def get_config(self) -> dict[str, Any]:
        """The constructor's arguments, read from the attributes of the same names, as data that JSON can hold.

        Where a class of the program has no such attribute, it is what the constructor was given. A NotImplementedError
        says that an argument is in no attribute and no data, or in one of a kind that is no data.
        """
        return {name: self._described(name) for name in constructor_arguments(type(self))}

    def _described(self, name: str) -> Any:
        what = f"{type(self).__name__}.get_config"
        try:
            value = getattr(self, name)
        except AttributeError:
            value = self._constructed_with(name)
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

    def _constructed_with(self, name: str) -> Any:
        """What the constructor of a class of the program was given for an argument; `...` where that is not known."""
        import inspect  # here, because its import takes milliseconds

        arguments: _Arguments | None = vars(self).get("_constructor_arguments")
        if arguments is None:
            return ...
        bound = inspect.signature(type(self).__init__).bind(self, *arguments.args, **arguments.kwargs)
        bound.apply_defaults()
        return bound.arguments.get(name, ...)

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self:
        """Make an object from what `get_config` returned."""
        return cls(**{name: revive(value) for name, value in config.items()})


class _Arguments:
    """What a constructor was given, where it is data, and `...` elsewhere; no dict, in which layers look for parts."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args = [value if _is_data(value) else ... for value in args]
        self.kwargs = {name: value if _is_data(value) else ... for name, value in kwargs.items()}


def _named_after(cls: type, init: FunctionType) -> FunctionType:
    """A constructor that a class has from its base, by its own name: Python's errors say it."""
    own = FunctionType(init.__code__, init.__globals__, init.__name__, init.__defaults__, init.__closure__)
    own.__kwdefaults__, own.__annotations__ = init.__kwdefaults__, init.__annotations__
    own.__doc__, own.__module__, own.__qualname__ = init.__doc__, init.__module__, f"{cls.__qualname__}.__init__"
    vars(own).update(vars(init), _original=_original(init) or init)
    return own


def _original(init: Any) -> Any:
    """The constructor that `_named_after` has given another name; None where it is itself."""
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
        vars(self).setdefault("_constructor_arguments", _Arguments(args, kwargs))
        constructor(self, *args, **kwargs)

    return keeping


def _is_data(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(map(_is_data, value))
    if isinstance(value, dict):
        return all(map(_is_data, value.values()))
    return isinstance(value, _PLAIN)


@contextmanager
def custom_object_scope(*objects: Mapping[str, Any]) -> Iterator[None]:
    """Let descriptions name classes and functions of the program.

    Args:
        *objects: names to classes and functions.

    Yields:
        Nothing.

    >>> class Answer(Configured):
    ...     def __init__(self, value):
    ...         self.value = value
    >>> with custom_object_scope({"Answer": Answer}):
    ...     revive({"class_name": "Answer", "config": {"value": 42}}).value
    42
    """
    known = dict(_custom_objects.get())
    for each in objects:
        known |= each
    token = _custom_objects.set(known)
    try:
        yield
    finally:
        _custom_objects.reset(token)


def get_custom_objects() -> dict[str, Any]:
    """The classes and functions of the program that all descriptions may name.

    Returns:
        The dict of names to them, which a program may change.

    >>> get_custom_objects()["largest"] = max
    >>> custom_object("largest")
    <built-in function max>
    >>> del get_custom_objects()["largest"]
    """
    return _registered


def custom_object(name: str) -> Any:
    """The class or function that the innermost `custom_object_scope` calls by a name; None if there is none.

    >>> with custom_object_scope({"largest": max}):
    ...     custom_object("largest")
    <built-in function max>
    """
    return _custom_objects.get().get(name) or _registered_as(name)


def _registered_as(name: str) -> Any:
    """What was registered by a name, with or without its package; the latest one. None if there is none."""
    ends = (thing for known, thing in reversed(_registered.items()) if known.endswith(f">{name}"))
    return _registered.get(name) or next(ends, None)


def register_keras_serializable(package: str = "Custom", name: str | None = None) -> Callable[[T], T]:
    """Let descriptions name a class or function of the program, so that saved models find it without being told.

    Args:
        package: what the name begins with, so that it is the program's own.
        name: its name in descriptions; None for the class's or function's own.

    Returns:
        A decorator, which returns what it is given.

    >>> @register_keras_serializable(package="mine")
    ... def cube(x):
    ...     return x * x * x
    >>> get_registered_name(cube), get_registered_object("mine>cube") is cube
    ('mine>cube', True)
    """

    def register(thing: T) -> T:
        own: Any = thing
        _registered[f"{package}>{name or own.__name__}"] = thing
        return thing

    return register


def get_registered_name(obj: Any) -> str:
    """The name of a class or function in descriptions.

    Args:
        obj: the class or function.

    Returns:
        The package and the name that `register_keras_serializable` was told, or its own name.
    """
    found = next((name for name, known in _registered.items() if known is obj), None)
    own: str = obj.__name__
    return found or own


def get_registered_object(name: str, custom_objects: Any = None, module_objects: Any = None) -> Any:
    """The class or function that descriptions call by a name.

    Args:
        name: the name.
        custom_objects: names to classes and functions that are looked at first.
        module_objects: the same, looked at last.

    Returns:
        The class or function; None if there is none.
    """
    return (custom_objects or {}).get(name) or custom_object(name) or (module_objects or {}).get(name)


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
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if hasattr(value, "item") and hasattr(value, "ndim"):  # an array, or a number of its library
        return value.tolist()
    if callable(value) and any(known is value and ">" in name for name, known in _registered.items()):
        return {"registered_name": get_registered_name(value)}
    return _name_of(value)


def _name_of(function: Any) -> str:
    if hasattr(function, "described_as"):
        return str(function.described_as)
    name = getattr(function, "__name__", None)
    if isinstance(name, str):
        try:
            if activations.get(name) is function:
                return name
        except ValueError:
            pass
    raise TypeError(f"{function!r} is not known by name.")


def revive(data: Any) -> Any:
    """Make a value from data that describe it, such as ``tf.keras.layers.serialize`` returned.

    Args:
        data: the data. Names of functions stay names, which constructors take as well, but for those of a
            `custom_object_scope`.

    Returns:
        The value.

    Raises:
        ValueError: the data name an unknown class.

    >>> revive({"class_name": "Policy", "config": {"name": "float64"}})
    <Policy 'float64'>
    """
    if isinstance(data, (list, tuple)):
        return [revive(part) for part in data]
    if isinstance(data, str):
        return _custom_objects.get().get(data) or _registered.get(data, data)
    if not nest.is_mapping(data):
        return data
    if set(data) == {"registered_name"} and data["registered_name"] in _registered:
        return _registered[data["registered_name"]]
    if set(data) != {"class_name", "config"}:
        return {key: revive(part) for key, part in data.items()}
    return find_class(data["class_name"]).from_config(data["config"])


def find_class(name: str) -> Any:
    """The class of a name, of a `custom_object_scope` or of these packages; a ValueError if there is none."""
    found = custom_object(name) or classes.get(name)
    if found is None:
        raise ValueError(
            f"Unknown class {name!r}; a class of the program must be named: custom_objects={{{name!r}: {name}}}. Known "
            f"are {', '.join(sorted(classes))}."
        )
    return found
