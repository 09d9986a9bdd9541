// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "python/interrupt.h"

#include <nanobind/nanobind.h>

namespace roentgen::python {

void throw_if_interrupted() {
  const nanobind::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace roentgen::python
