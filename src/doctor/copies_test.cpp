// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "doctor/copies.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace roentgen::doctor {
namespace {

TEST(Copies, of_a_device_have_a_speed) {
  const auto device = runtime::make_cpu_device();
  const CopySpeed speed = measure_copies(*device, std::size_t{1} << 20U, 3);
  // Slower than 1 MB/s, or faster than any memory, would be a wrong unit.
  for (const double each : {speed.upload_bytes_per_s, speed.download_bytes_per_s}) {
    EXPECT_GT(each, 1e6);
    EXPECT_LT(each, 1e13);
  }
}

}  // namespace
}  // namespace roentgen::doctor
