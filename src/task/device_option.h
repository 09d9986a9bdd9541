// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The option --device of all commands and benchmarks that compute.
#pragma once

#include <string>

#include "core/option.h"

namespace roentgen::task {

/// Makes the option --device, which sets `device` for engine::make_engine().
/// @param further text to add to the help, about other values or the recipe key that the option sets
[[nodiscard]] inline Option device_option(std::string& device, const std::string& further = {}) {
  return {.name = "--device",
          .target = &device,
          .doc = "device: auto (see roentgen doctor), cpu, cuda or cuda:N" + further};
}

}  // namespace roentgen::task
