// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "python/interrupt.h"

#include <nanobind/nanobind.h>

#include "python/core/native_work.h"

namespace roentgen::python {

void throw_if_interrupted() {
  throw_if_interpreter_ends();
  const nanobind::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();  // calls signal handlers only on Python's main thread
}

void FrequentInterruptCheck::operator()() {
  constexpr std::chrono::milliseconds kPeriod{20};
  throw_if_interpreter_ends();
  const auto now = std::chrono::steady_clock::now();
  if (now - asked_ < kPeriod) return;
  throw_if_interrupted();
  asked_ = std::chrono::steady_clock::now();
}

}  // namespace roentgen::python
