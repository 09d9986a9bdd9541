// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// NativeCall: work without Python's lock.
#pragma once

#include <nanobind/nanobind.h>

#include "python/core/native_work.h"

namespace roentgen::python {

/// Releases the GIL for as long as it lives, in a call that the end of the interpreter waits for. Every release of the
/// GIL is one: a thread that asks for the GIL of an interpreter that is gone ends the process. Throws as CountedCall.
class NativeCall {
 private:
  CountedCall counted_;  // until the GIL is held again
  nanobind::gil_scoped_release released_;
};

}  // namespace roentgen::python
