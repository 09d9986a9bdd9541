#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Prints the properties of a CUDA device by which cuDNN plans, as JSON: for `roentgen inspect --plan --card FILE.json`.

  python3 tools/gpu/card_properties.py [--device N] > card.json

Needs cuDNN 9.8 or later (libcudnn.so.9 on the loader's path, or $ROENTGEN_CUDNN).
"""
import argparse
import ctypes
import json
import os
import sys

# Values of cudnn_graph.h.
DEVICE_PROPERTIES = 38
DEVICE_ID, JSON_TEXT = 2700, 2702
TYPE_INT32, TYPE_CHAR = 23, 24


class Properties:
    """A device property descriptor of cuDNN's graph API. RuntimeError when a call fails."""

    def __init__(self):
        self.cudnn = ctypes.CDLL(os.environ.get("ROENTGEN_CUDNN", "libcudnn.so.9"))
        self.descriptor = ctypes.c_void_p()
        self._check("create", self.cudnn.cudnnBackendCreateDescriptor(DEVICE_PROPERTIES, ctypes.byref(self.descriptor)))

    def _check(self, what, status):
        if status != 0:
            words = ctypes.create_string_buffer(512)
            self.cudnn.cudnnGetLastErrorString(words, ctypes.c_size_t(len(words)))
            raise RuntimeError(f"{what}: status {status} {words.value.decode(errors='replace')}".strip())

    def _set(self, name, kind, count, address):
        self._check("set", self.cudnn.cudnnBackendSetAttribute(self.descriptor, name, kind, ctypes.c_int64(count), address))
        self._check("finalize", self.cudnn.cudnnBackendFinalize(self.descriptor))

    def take_device(self, index):
        """Describes a device of this machine."""
        self._set(DEVICE_ID, TYPE_INT32, 1, ctypes.byref(ctypes.c_int32(index)))
        return self

    def take_text(self, text):
        """Describes the device of an earlier text()."""
        self._set(JSON_TEXT, TYPE_CHAR, len(text.encode()), text.encode())
        return self

    def text(self):
        """The properties as JSON."""
        count = ctypes.c_int64()
        get = self.cudnn.cudnnBackendGetAttribute
        self._check("size", get(self.descriptor, JSON_TEXT, TYPE_CHAR, ctypes.c_int64(0), ctypes.byref(count), None))
        text = ctypes.create_string_buffer(count.value)
        self._check("get", get(self.descriptor, JSON_TEXT, TYPE_CHAR, count, ctypes.byref(count), text))
        return text.raw[:count.value].decode().rstrip("\0")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", type=int, default=0, help="number of the device")
    arguments = parser.parse_args()
    try:
        text = Properties().take_device(arguments.device).text()
    except (OSError, RuntimeError) as error:
        print(f"[card_properties] cuda:{arguments.device}: expected a device and cuDNN 9.8 or later, got {error}",
              file=sys.stderr)
        return 1
    json.loads(text)
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
