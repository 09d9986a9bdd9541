// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// NativeCall: work without Python's lock, with its own floating-point settings.
#pragma once

#include <nanobind/nanobind.h>

#include <cfenv>

#include "python/core/native_work.h"

namespace roentgen::python {

/// Saves the thread's floating-point environment and restores it in the destructor. Kernels flush denormals to zero;
/// numpy and PyTorch on the same thread must not.
class KeptArithmetic {
 public:
  KeptArithmetic() { std::fegetenv(&environment_); }
  ~KeptArithmetic() { std::fesetenv(&environment_); }
  KeptArithmetic(const KeptArithmetic&) = delete;
  KeptArithmetic& operator=(const KeptArithmetic&) = delete;

 private:
  std::fenv_t environment_{};
};

/// Releases the GIL for as long as it lives, in a call that the end of the interpreter waits for. Every release of the
/// GIL is one: a thread that asks for the GIL of an interpreter that is gone ends the process. Throws as CountedCall.
class NativeCall {
 private:
  CountedCall counted_;  // held until the GIL is acquired again
  KeptArithmetic kept_;
  nanobind::gil_scoped_release released_;
};

}  // namespace roentgen::python
