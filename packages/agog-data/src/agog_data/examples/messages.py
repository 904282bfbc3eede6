"""Messages of protobuf: ``tf.train.Example``, ``tf.train.SequenceExample`` and their parts.

The fields and their numbers are those of TensorFlow 1.12's ``tensorflow/core/example/example.proto`` and
``feature.proto``, so that the bytes are the same. The classes are in a pool of their own, so that TensorFlow's can be
in the same process.
"""

from __future__ import annotations

from typing import Any

try:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message_factory import GetMessageClass
except ImportError as error:
    raise ImportError("tf.train.Example needs the package protobuf: pip install agog-data[tfrecord]") from error

_TYPES = {
    "bytes": FieldDescriptorProto.TYPE_BYTES,
    "float": FieldDescriptorProto.TYPE_FLOAT,
    "int64": FieldDescriptorProto.TYPE_INT64,
    "string": FieldDescriptorProto.TYPE_STRING,
}
# For each message its fields, numbered from 1.
_FIELDS = {
    "BytesList": ["repeated bytes value"],
    "FloatList": ["repeated float value"],
    "Int64List": ["repeated int64 value"],
    "Feature": ["oneof BytesList bytes_list", "oneof FloatList float_list", "oneof Int64List int64_list"],
    "Features": ["map Feature feature"],
    "FeatureList": ["repeated Feature feature"],
    "FeatureLists": ["map FeatureList feature_list"],
    "Example": ["one Features features"],
    "SequenceExample": ["one Features context", "one FeatureLists feature_lists"],
}


def _pool() -> DescriptorPool:
    file = FileDescriptorProto(name="tensorflow/core/example/example.proto", package="tensorflow", syntax="proto3")
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for number, text in enumerate(fields, start=1):
            kind, type_name, field_name = text.split()
            if kind == "map":
                _add_map(message, number, type_name, field_name)
                continue
            field = _add_field(message, number, type_name, field_name)
            if kind == "repeated":
                field.label = FieldDescriptorProto.LABEL_REPEATED
            elif kind == "oneof":
                if not message.oneof_decl:
                    message.oneof_decl.add(name="kind")
                field.oneof_index = 0
    pool = DescriptorPool()
    pool.Add(file)  # type: ignore[no-untyped-call, unused-ignore]  # some versions have types
    return pool


def _add_field(message: Any, number: int, type_name: str, name: str) -> Any:
    field = message.field.add(name=name, number=number, label=FieldDescriptorProto.LABEL_OPTIONAL)
    if type_name in _TYPES:
        field.type = _TYPES[type_name]
    else:
        field.type, field.type_name = FieldDescriptorProto.TYPE_MESSAGE, f".tensorflow.{type_name}"
    return field


def _add_map(message: Any, number: int, type_name: str, name: str) -> None:
    """Add a map, which is a list of messages with a key and a value."""
    entry = "".join(part.capitalize() for part in name.split("_")) + "Entry"
    pair = message.nested_type.add(name=entry)
    pair.options.map_entry = True
    _add_field(pair, 1, "string", "key")
    _add_field(pair, 2, type_name, "value")
    field = _add_field(message, number, f"{message.name}.{entry}", name)
    field.label = FieldDescriptorProto.LABEL_REPEATED


_MESSAGES = _pool()


def _message(name: str) -> Any:
    return GetMessageClass(_MESSAGES.FindMessageTypeByName(f"tensorflow.{name}"))


BytesList = _message("BytesList")
FloatList = _message("FloatList")
Int64List = _message("Int64List")
Feature = _message("Feature")
Features = _message("Features")
FeatureList = _message("FeatureList")
FeatureLists = _message("FeatureLists")
Example = _message("Example")
SequenceExample = _message("SequenceExample")
