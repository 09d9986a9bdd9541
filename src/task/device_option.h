// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The option --device of all commands and benchmarks that compute.
#pragma once

#include <string>

#include "core/option.h"

namespace roentgen::task {

/// --device, bound to `device`, for engine::make_engine().
/// @param further other values that it takes, or the recipe key that it sets, for the help
[[nodiscard]] inline Option device_option(std::string& device, const std::string& further = {}) {
  return {.name = "--device",
          .target = &device,
          .doc = "device: auto (see roentgen doctor), cpu, cuda or cuda:N" + further};
}

}  // namespace roentgen::task
