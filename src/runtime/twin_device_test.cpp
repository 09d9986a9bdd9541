// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/twin_device_testing.h"

#include <gtest/gtest.h>

#include <atomic>

#include "runtime/stream_testing.h"

namespace roentgen::runtime {
namespace {

TEST(TwinDevice, does_what_every_device_must) {
  TwinDevice device;
  expect_memory_is_zeroed_and_aligned(device);
  expect_bytes_come_back(device);
  expect_parts_come_back(device);
  expect_copies_for_the_host_come_back(device);
  expect_second_stream_waits_for_event(device);
  expect_event_counts_as_reached_before_its_first_record(device);
  expect_host_may_write_after_event(device);
  expect_copies_into_too_little_are_refused(device);
  expect_no_bytes_are_fine(device);
  expect_absurd_sizes_are_refused(device);
}

TEST(TwinDeviceDeathTest, ends_a_host_that_reads_its_memory) {
  TwinDevice device;
  const auto buffer = device.make_device_buffer(64);
  EXPECT_DEATH(static_cast<void>(*static_cast<volatile std::byte*>(buffer->address())), "");
}

TEST(TwinDevice, tells_what_waits_of_work_that_threw) {
  TwinDevice device;
  const auto stream = device.make_twin_stream();
  const auto event = device.make_event();
  std::atomic<bool> has_run = false;
  stream->run([] { throw DeviceError("broken"); });
  stream->run([&] { has_run = true; });
  stream->record(*event);
  EXPECT_THROW(event->wait(), DeviceError);
  EXPECT_THROW(stream->synchronize(), DeviceError);
  EXPECT_FALSE(has_run);
}

TEST(TwinDevice, does_the_work_later) {
  TwinDevice device;
  const auto stream = device.make_twin_stream();
  const auto event = device.make_event();
  std::mutex gate;
  std::unique_lock closed(gate);
  stream->run([&] { const std::scoped_lock open(gate); });
  stream->record(*event);
  EXPECT_FALSE(event->is_reached());
  closed.unlock();
  event->wait();
  EXPECT_TRUE(event->is_reached());
}

}  // namespace
}  // namespace roentgen::runtime
