// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Runs the tests of the CPU device on a CUDA device. Skipped if there is no CUDA device.
#include "runtime/cuda/stream.h"

#include "runtime/cuda/check.h"
#include "runtime/cuda/gpu_testing.h"
#include "runtime/stream_testing.h"

namespace roentgen::runtime::cuda {
namespace {

using CudaDeviceTest = GpuTest;

TEST_F(CudaDeviceTest, is_called_cuda_0) { EXPECT_EQ(device_->name(), "cuda:0"); }
TEST_F(CudaDeviceTest, memory_is_zeroed_and_aligned) { expect_memory_is_zeroed_and_aligned(*device_); }
TEST_F(CudaDeviceTest, bytes_come_back) { expect_bytes_come_back(*device_); }
TEST_F(CudaDeviceTest, parts_come_back) { expect_parts_come_back(*device_); }
TEST_F(CudaDeviceTest, copies_for_the_host_come_back) { expect_copies_for_the_host_come_back(*device_); }
TEST_F(CudaDeviceTest, second_stream_waits_for_event) { expect_second_stream_waits_for_event(*device_); }
TEST_F(CudaDeviceTest, event_counts_as_reached_before_its_first_record) {
  expect_event_counts_as_reached_before_its_first_record(*device_);
}
TEST_F(CudaDeviceTest, host_may_write_after_event) { expect_host_may_write_after_event(*device_); }
TEST_F(CudaDeviceTest, copies_into_too_little_are_refused) { expect_copies_into_too_little_are_refused(*device_); }
TEST_F(CudaDeviceTest, no_bytes_are_fine) { expect_no_bytes_are_fine(*device_); }
TEST_F(CudaDeviceTest, absurd_sizes_are_refused) { expect_absurd_sizes_are_refused(*device_); }

TEST_F(CudaDeviceTest, refuses_streams_and_events_of_the_cpu) {
  const auto cpu = make_cpu_device();
  const auto cpu_stream = cpu->make_stream();
  EXPECT_THROW(static_cast<void>(as_cuda(*cpu_stream)), DeviceError);
  EXPECT_THROW(device_->make_stream()->record(*cpu->make_event()), DeviceError);
}

TEST_F(CudaDeviceTest, a_failed_call_does_not_spoil_the_next) {
  EXPECT_THROW(check(cudaSetDevice(100'000), "a device that is not there"), DeviceError);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  expect_bytes_come_back(*device_);
}

}  // namespace
}  // namespace roentgen::runtime::cuda
