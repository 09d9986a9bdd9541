// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Converts between Value and Python objects.
#pragma once

#include <nanobind/nanobind.h>

#include "core/value.h"

namespace roentgen::python {

/// Converts a value to None, bool, int, float, str, list or dict. Needs the GIL.
[[nodiscard]] nanobind::object to_python(const Value& value);

/// Converts None, bool, int, float, str, paths (os.PathLike), lists, tuples, and dicts whose keys are str. Throws
/// ConfigError for any other object. Needs the GIL.
/// @param what name of the argument in the error text; entries of a dict are named by their keys
[[nodiscard]] Value from_python(nanobind::handle object, const char* what);

}  // namespace roentgen::python
