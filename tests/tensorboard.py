"""Reads a file of TensorBoard's events with Google's protobuf and prints a line of JSON
for each value: {"step":, "time":, "tag":, "value":} or with the histogram's fields.

usage: tensorboard.py FILE
"""
import json
import struct
import sys

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

DOUBLE, FLOAT, INT64, STRING, MESSAGE = 1, 2, 3, 9, 11
MESSAGES = {  # field: number, type, repeated, kind of message
    "Event": {"wall_time": (1, DOUBLE, 0), "step": (2, INT64, 0), "file_version": (3, STRING, 0),
              "summary": (5, MESSAGE, 0, "Summary")},
    "Summary": {"value": (1, MESSAGE, 1, "Value")},
    "Value": {"tag": (1, STRING, 0), "simple_value": (2, FLOAT, 0), "histo": (5, MESSAGE, 0, "Histogram")},
    "Histogram": {"min": (1, DOUBLE, 0), "max": (2, DOUBLE, 0), "num": (3, DOUBLE, 0), "sum": (4, DOUBLE, 0),
                  "sum_squares": (5, DOUBLE, 0), "bucket_limit": (6, DOUBLE, 1), "bucket": (7, DOUBLE, 1)},
}


def event_class():
    file = descriptor_pb2.FileDescriptorProto(name="event.proto", package="t", syntax="proto3")
    for name, fields in MESSAGES.items():
        message = file.message_type.add(name=name)
        for field, (number, kind, repeated, *of) in fields.items():
            message.field.add(name=field, number=number, type=kind, label=3 if repeated else 1,
                              type_name=f".t.{of[0]}" if of else None)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    event = pool.FindMessageTypeByName("t.Event")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(event)
    return message_factory.MessageFactory(pool).GetPrototype(event)


def crc32c(data):
    """CRC-32C by long division, one bit at a time."""
    rest = 0xffffffff
    for byte in data:
        for bit in range(8):
            odd = (rest ^ byte >> bit) & 1
            rest = rest >> 1 ^ (0x82f63b78 if odd else 0)
    return rest ^ 0xffffffff


def masked(data):
    c = crc32c(data)
    return ((c >> 15 | c << 17) + 0xa282ead8) & 0xffffffff


def records(data):
    at = 0
    while at < len(data):
        head = data[at:at + 8]
        size, of_size = struct.unpack("<QI", data[at:at + 12])
        body = data[at + 12:at + 12 + size]
        of_body, = struct.unpack("<I", data[at + 12 + size:at + 16 + size])
        assert masked(head) == of_size, "checksum of the length"
        assert masked(body) == of_body, "checksum of the event"
        yield body
        at += 16 + size


assert crc32c(b"123456789") == 0xe3069283
Event = event_class()
for i, body in enumerate(records(open(sys.argv[1], "rb").read())):
    event = Event.FromString(body)
    assert (i == 0) == (event.file_version == "brain.Event:2"), \
        "only the first event has the version"
    for value in event.summary.value:
        line = {"step": event.step, "time": event.wall_time, "tag": value.tag}
        if value.HasField("histo"):
            histo = value.histo
            line |= {name: getattr(histo, name) for name in ("min", "max", "num", "sum", "sum_squares")}
            line |= {"limits": list(histo.bucket_limit), "counts": list(histo.bucket)}
        else:
            line["value"] = value.simple_value
        print(json.dumps(line))
