// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// NativeCall: runs native work without the GIL (Python's global interpreter lock), with its own floating-point
// settings.
#pragma once

#include <nanobind/nanobind.h>

#include <cfenv>

#include "python/core/native_work.h"

namespace roentgen::python {

/// Restores the thread's floating-point settings at its end. Kernels flush denormals to zero, but numpy and PyTorch on
/// the same thread must not.
class KeptArithmetic {
 public:
  KeptArithmetic() { std::fegetenv(&environment_); }
  ~KeptArithmetic() { std::fesetenv(&environment_); }
  KeptArithmetic(const KeptArithmetic&) = delete;
  KeptArithmetic& operator=(const KeptArithmetic&) = delete;

 private:
  std::fenv_t environment_{};
};

/// Releases the GIL for its lifetime, and makes the end of the interpreter wait for it. Use it for every release: a
/// thread that requests the GIL after the interpreter's end kills the process. Throws as CountedCall does.
class NativeCall {
 private:
  CountedCall counted_;  // destroyed after the GIL is acquired again
  KeptArithmetic kept_;
  nanobind::gil_scoped_release released_;
};

}  // namespace roentgen::python
