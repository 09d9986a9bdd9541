// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Test fixture for tests that need a CUDA device. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "runtime/stream.h"

namespace roentgen::runtime {

/// Fixture with the first CUDA device. If there is none, its tests are skipped with the reason.
class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    const CudaInventory inventory = find_cuda_devices();
    if (inventory.devices.empty()) GTEST_SKIP() << "NO CUDA DEVICE, NOTHING TESTED: " << inventory.why_none;
    device_ = make_cuda_device(0);
  }
  std::unique_ptr<Device> device_;
};

}  // namespace roentgen::runtime
