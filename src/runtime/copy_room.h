// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Range check for copies to and from device buffers, shared by all devices. Internal to src/runtime.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "core/error.h"

namespace roentgen::runtime {

/// Throws ShapeError unless the `bytes` bytes from offset `at` fit into a device buffer of `room` bytes.
inline void require_room(std::size_t room, std::size_t at, std::size_t bytes) {
  if (at <= room && bytes <= room - at) return;
  throw ShapeError(error_text("runtime.stream", "copy of " + std::to_string(bytes) + " bytes",
                              "a device buffer that can hold them",
                              std::to_string(room - std::min(at, room)) + " bytes", "reporting this bug"));
}

}  // namespace roentgen::runtime
