"""File caches: cached elements in a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agog_core.dispatch.devices.device import Device
from agog_core.errors import InvalidArgumentError
from agog_core.files import exists
from agog_core.tensors.convert import from_host
from agog_data.cache_file import CacheReader, CacheWriter
from agog_data.elements import Element, packer, tensor_components
from agog_data.encoded_state import decode, encode
from agog_data.preview import touch
from agog_data.stage import Stage
from agog_data.stages.caching import Kept, NoWriter, Store, Writer
from agog_data.state import State, check


class FileStore(Store):
    """Keeps elements in a file, also for other processes."""

    def __init__(self, path: str) -> None:
        self._path = path

    def kept(self, stage: Stage, own: State) -> Kept | None:
        return KeptInFile(CacheReader(self._path), self._path, stage, own) if exists(self._path) else None

    def writer(self, device: Device) -> Writer:
        if exists(self._path):
            return NoWriter()
        touch()  # nobody else could read the dataset
        writer = FileWriter(self._path)
        if exists(self._path):  # another one was complete just before we got the lock
            writer.abandon()
            return NoWriter()
        return writer


class FileWriter(Writer):
    """Writes elements into a file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = CacheWriter(path)
        self._structure: Any = None
        self._pack: Any = None

    def add(self, element: Element) -> None:
        structure = describe(element)
        if self._pack is None:
            self._structure, self._pack = structure, packer(element)
        elif structure != self._structure:
            raise InvalidArgumentError(
                f"cache: an element has the structure {structure}; those before have {self._structure}. "
                "A file needs one structure."
            )
        parts = tensor_components("cache", element)
        self._file.add([part._host().reshape(part._shape) for part in parts], [part.dtype for part in parts])

    def commit(self, origin: State) -> Kept:
        self._file.commit({"structure": self._structure, "origin": encode(origin)})
        return KeptInFile(CacheReader(self._path), self._path, None, origin, self._pack)

    def abandon(self) -> None:
        self._file.abandon()


class KeptInFile(Kept):
    """The elements in a file.

    The stage knows the classes of namedtuples, and the file's state must resemble its own. ``pack`` makes an element of
    its components, if that is known.
    """

    def __init__(self, reader: CacheReader, path: str, stage: Stage | None, own: State, pack: Any = None) -> None:
        description = reader.description
        origin = decode(description["origin"])
        try:
            check(origin, own)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(
                f"cache: {path} was written by a dataset with other stages. Remove it, and it is made again."
            ) from error
        super().__init__(origin, reader.count)
        self._reader = reader
        self._dtypes = reader.dtypes
        self._pack = pack or packer(_form(description["structure"], stage, path) if reader.count else None)

    def read(self, number: int, device: Device) -> Element:
        parts = zip(self._reader.read(number), self._dtypes, strict=True)
        return self._pack([from_host(host, device.table(dtype)) for host, dtype in parts])


def describe(structure: Any) -> Any:
    """A structure as what JSON can hold: None for a component, else a list of the kind, the names of the parts, and the
    parts. Raises InvalidArgumentError if the key of a dict is neither a string nor an integer."""
    if isinstance(structure, Mapping):
        for key in structure:
            if not isinstance(key, (str, int)):
                raise InvalidArgumentError(f"cache: the keys of dicts must be strings or integers; got {key!r}.")
        return ["dict" if type(structure) is dict else "mapping", [*structure], *map(describe, structure.values())]
    if isinstance(structure, tuple):
        names = list(getattr(structure, "_fields", ()))
        return ["namedtuple" if names else "tuple", names, *map(describe, structure)]
    return None


def _form(described: Any, stage: Stage | None, path: str) -> Any:
    """The structure that was described: that of the stage's elements, where it has classes of a program."""
    if stage is None or _is_plain(described):
        return _plain(described)
    spec = stage.spec()
    if describe(spec) != described:
        raise InvalidArgumentError(
            f"cache: {path} holds elements of the structure {described}; those of the dataset have {describe(spec)}. "
            "Remove the file, and it is made again."
        )
    return spec


def _is_plain(described: Any) -> bool:
    if described is None:
        return True
    kind, _, *parts = described
    return kind in ("dict", "tuple") and all(map(_is_plain, parts))


def _plain(described: Any) -> Any:
    if described is None:
        return None
    kind, names, *parts = described
    made = tuple(map(_plain, parts))
    return dict(zip(names, made, strict=True)) if kind == "dict" else made
