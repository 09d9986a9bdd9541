// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Interrupts of long work that runs without Python's lock.
#pragma once

namespace roentgen::python {

/// Ends work at an interrupt: throws KeyboardInterrupt, or the error that the handler of a signal raised. To be called
/// between batches, without the GIL. Does nothing on other threads than Python's main thread.
void throw_if_interrupted();

}  // namespace roentgen::python
