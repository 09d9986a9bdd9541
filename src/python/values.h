// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Conversion between Value and Python's own objects, both ways.
#pragma once

#include <nanobind/nanobind.h>

#include "core/value.h"

namespace roentgen::python {

/// Makes None, bool, int, float, str, list and dict of a value. Needs the GIL.
[[nodiscard]] nanobind::object to_python(const Value& value);

/// Reads None, bool, int, float, str, paths (os.PathLike), lists, tuples and dicts with keys of type str. ConfigError
/// for any other object. Needs the GIL.
/// @param what name of the argument, for the error; entries of dicts are named by their keys
[[nodiscard]] Value from_python(nanobind::handle object, const char* what);

}  // namespace roentgen::python
