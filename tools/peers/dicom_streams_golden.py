#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
"""Prints the JPEG 2000 streams of src/data/codec/dicom/jpeg2000_test.cpp, for which no encoder is linked.

Needs imagecodecs (OpenJPEG and OpenJPH): pip install imagecodecs. Both hold value(x, y) = 517 * (x + 4 * y) % 4096 + top
in 8 x 6 pixels, where top is 0 for HTJ2K and 600 for JPEG 2000, whose greatest samples therefore need 13 bits.
"""
import one_line_errors  # noqa: F401  imported first, so that errors of other imports have one line, too
import imagecodecs
import numpy

WIDTH_PX, HEIGHT_PX = 8, 6


def picture(top):
    y, x = numpy.mgrid[0:HEIGHT_PX, 0:WIDTH_PX]
    return (517 * (x + 4 * y) % 4096 + top).astype(numpy.uint16)


def show(name, stream):
    print(f"{name}, {len(stream)} bytes")
    text = bytes(stream).hex()
    for begin in range(0, len(text), 112):
        print(f'    "{text[begin:begin + 112]}"')


show("HTJ2K", imagecodecs.htj2k_encode(picture(0)))
show(
    "JPEG 2000",
    imagecodecs.jpeg2k_encode(picture(600), bitspersample=13, codecformat="j2k", reversible=True, level=0),
)
