// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Measures copies between host memory and a device.
#pragma once

#include <cstddef>

#include "runtime/stream.h"

namespace roentgen::doctor {

/// Bandwidth of copies between page-locked host memory and a device, in bytes per second.
struct CopySpeed {
  double upload_bytes_per_s = 0.0;    ///< host to device
  double download_bytes_per_s = 0.0;  ///< device to host
};

/// Copies `bytes` bytes to the device and back, `times` times after a warm-up, and returns the best speeds: other work
/// of the machine only makes copies slower. Throws DeviceError if the device fails or returns other bytes.
/// @param bytes size of a copy, at least 1
/// @param times number of measurements, at least 1
[[nodiscard]] CopySpeed measure_copies(runtime::Device& device, std::size_t bytes, int times);

}  // namespace roentgen::doctor
