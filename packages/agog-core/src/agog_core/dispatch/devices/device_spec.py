"""DeviceSpec: the name of a device, part by part."""

from __future__ import annotations

from typing import Any

__all__ = ["DeviceSpec"]


class DeviceSpec:
    """A device name whose parts may be left open. `tf.device` takes it as it takes strings.

    Args:
        job: the job's name; agog has one, ``"localhost"``.
        replica: the replica's number; agog has one, 0.
        task: the task's number; agog has one, 0.
        device_type: a type such as ``"GPU"``.
        device_index: which of the devices of that type.

    >>> spec = DeviceSpec(device_type="GPU", device_index=1)
    >>> spec.to_string()
    '/device:GPU:1'
    """

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ) -> None:
        self.job = job or None
        self.replica = None if replica is None else int(replica)
        self.task = None if task is None else int(task)
        self.device_type = device_type.upper() if device_type else None
        self.device_index = device_index

    @staticmethod
    def from_string(spec: str) -> DeviceSpec:
        """Read a device name.

        Args:
            spec: a name such as ``"/job:localhost/device:CPU:0"`` or ``"/gpu:*"``.

        Returns:
            A new `DeviceSpec`.

        Raises:
            ValueError: a part of the name is unknown, or it has two types.

        >>> DeviceSpec.from_string("/cpu:0").device_type
        'CPU'
        """
        return DeviceSpec().parse_from_string(spec)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Take all parts from a device name; those that it leaves open are open afterwards.

        Args:
            spec: a name such as ``"/job:localhost/device:CPU:0"``.

        Returns:
            This object.

        Raises:
            ValueError: a part of the name is unknown, or it has two types.
        """
        parts: dict[str, Any] = {}
        for part in filter(None, spec.split("/")):
            key, _, value = part.removeprefix("device:").partition(":")
            if key in ("job", "replica", "task"):
                parts[key] = value if key == "job" else _number(value, part, spec)
            elif not (part.startswith("device:") or key.upper() in ("CPU", "GPU")):
                raise _unknown(part, spec)
            elif "device_type" in parts:
                raise ValueError(
                    f"DeviceSpec: a name has one device type; got {parts['device_type']!r} and {key!r} in {spec!r}."
                )
            else:
                parts["device_type"] = key
                parts["device_index"] = None if value in ("", "*") else _number(value, part, spec)
        vars(self).update(vars(DeviceSpec(**parts)))
        return self

    def merge_from(self, dev: DeviceSpec) -> None:
        """Take the parts that another name has; the others stay.

        Args:
            dev: the other name.
        """
        for part, value in vars(dev).items():
            if value is not None:
                setattr(self, part, value)

    def to_string(self) -> str:
        """The name.

        Returns:
            The parts that are not open; a type without a number ends in ``:*``.

        >>> DeviceSpec("localhost", 0, 0, "cpu").to_string()
        '/job:localhost/replica:0/task:0/device:CPU:*'
        """
        parts = [f"/{part}:{getattr(self, part)}" for part in ("job", "replica", "task")]
        name = "".join(part for part in parts if not part.endswith(":None"))
        if self.device_type is None:
            return name
        return f"{name}/device:{self.device_type}:{'*' if self.device_index is None else self.device_index}"

    def __repr__(self) -> str:
        return f"DeviceSpec({self.to_string()!r})"


def _number(text: str, part: str, spec: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise _unknown(part, spec) from None


def _unknown(part: str, spec: str) -> ValueError:
    return ValueError(
        f"Unknown attribute: {part!r} in {spec!r}; the parts of a device name are job:NAME, replica:N, task:N and "
        "device:TYPE:N."
    )
