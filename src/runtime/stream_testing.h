// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Checks that every Device must pass, shared by the tests of the CPU and CUDA. Test code only.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "runtime/stream.h"

namespace roentgen::runtime {

inline void fill_randomly(std::span<std::byte> bytes, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next_u32());
}

inline bool is_all_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
}

inline void expect_memory_is_zeroed_and_aligned(Device& device) {
  const auto stream = device.make_stream();
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{1'000'003}}) {
    const auto pinned = device.make_pinned_buffer(bytes);
    const auto buffer = device.make_device_buffer(bytes);
    ASSERT_EQ(pinned->bytes().size(), bytes);
    EXPECT_EQ(buffer->size_bytes(), bytes);
    EXPECT_TRUE(is_all_zero(pinned->bytes()));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pinned->bytes().data()) % 64, 0U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->address()) % 64, 0U);
    fill_randomly(pinned->bytes(), bytes);
    stream->download(*buffer, *pinned);
    stream->synchronize();
    EXPECT_TRUE(is_all_zero(pinned->bytes())) << "device buffer of " << bytes << " bytes";
  }
}

inline void expect_bytes_come_back(Device& device) {
  constexpr std::size_t kBytes = 3'000'001;
  const auto stream = device.make_stream();
  const auto sent = device.make_pinned_buffer(kBytes);
  const auto received = device.make_pinned_buffer(kBytes);
  const auto buffer = device.make_device_buffer(kBytes + 5);
  fill_randomly(sent->bytes(), 1);
  stream->upload(*sent, *buffer);
  stream->download(*buffer, *received);
  stream->synchronize();
  EXPECT_TRUE(std::ranges::equal(sent->bytes(), received->bytes()));
}

inline void expect_parts_come_back(Device& device) {
  const auto stream = device.make_stream();
  const auto buffer = device.make_device_buffer(1000);
  std::vector<std::byte> sent(300), received(200);
  fill_randomly(sent, 2);
  stream->upload(sent, *buffer, 650);
  stream->download(*buffer, 700, received);
  stream->synchronize();
  EXPECT_TRUE(std::equal(received.begin(), received.end(), sent.begin() + 50));
  EXPECT_THROW(stream->upload(sent, *buffer, 701), ShapeError);
  EXPECT_THROW(stream->download(*buffer, 801, received), ShapeError);
}

/// Expects that bytes copied to the device and back are unchanged, for a device with separate memory.
inline void expect_copies_for_the_host_come_back(Device& device) {
  const auto stream = device.make_stream();
  const auto buffer = device.make_device_buffer(1000);
  ASSERT_NE(buffer->copies(), nullptr);
  std::vector<std::byte> sent(300), received(200), downloaded(300);
  fill_randomly(sent, 3);
  buffer->copies()->write(sent, buffer->address() + 650);
  buffer->copies()->read(buffer->address() + 700, received);
  EXPECT_TRUE(std::equal(received.begin(), received.end(), sent.begin() + 50));
  stream->download(*buffer, 650, downloaded);
  stream->synchronize();
  EXPECT_EQ(downloaded, sent);
}

inline void expect_second_stream_waits_for_event(Device& device) {
  constexpr std::size_t kBytes = 32U << 20;
  const auto upload = device.make_stream();
  const auto compute = device.make_stream();
  const auto event = device.make_event();
  const auto sent = device.make_pinned_buffer(kBytes);
  const auto received = device.make_pinned_buffer(kBytes);
  const auto buffer = device.make_device_buffer(kBytes);
  for (std::uint64_t round = 0; round < 4; ++round) {
    fill_randomly(sent->bytes().first(4096), round);
    fill_randomly(sent->bytes().last(4096), round + 100);
    upload->upload(*sent, *buffer);
    upload->record(*event);
    compute->wait_for(*event);
    compute->download(*buffer, *received);
    compute->synchronize();
    EXPECT_TRUE(event->is_reached());
    EXPECT_TRUE(std::ranges::equal(sent->bytes(), received->bytes())) << "round " << round;
  }
}

inline void expect_event_counts_as_reached_before_its_first_record(Device& device) {
  const auto event = device.make_event();
  EXPECT_TRUE(event->is_reached());
  event->wait();
  const auto stream = device.make_stream();
  stream->wait_for(*event);
  stream->synchronize();
}

inline void expect_host_may_write_after_event(Device& device) {
  constexpr std::size_t kBytes = 16U << 20;
  const auto stream = device.make_stream();
  const auto event = device.make_event();
  const auto slot = device.make_pinned_buffer(kBytes);
  const auto buffer = device.make_device_buffer(kBytes);
  fill_randomly(slot->bytes(), 7);
  const std::vector<std::byte> before(slot->bytes().begin(), slot->bytes().end());
  stream->upload(*slot, *buffer);
  stream->record(*event);
  event->wait();
  std::ranges::fill(slot->bytes(), std::byte{0xFF});
  const auto received = device.make_pinned_buffer(kBytes);
  stream->download(*buffer, *received);
  stream->synchronize();
  EXPECT_TRUE(std::ranges::equal(received->bytes(), before));
}

inline void expect_copies_into_too_little_are_refused(Device& device) {
  const auto stream = device.make_stream();
  const auto pinned = device.make_pinned_buffer(65);
  const auto buffer = device.make_device_buffer(64);
  EXPECT_THROW(stream->upload(*pinned, *buffer), ShapeError);
  EXPECT_THROW(stream->download(*buffer, *pinned), ShapeError);
}

inline void expect_no_bytes_are_fine(Device& device) {
  const auto stream = device.make_stream();
  const auto pinned = device.make_pinned_buffer(0);
  const auto buffer = device.make_device_buffer(0);
  EXPECT_TRUE(pinned->bytes().empty());
  stream->upload(*pinned, *buffer);
  stream->download(*buffer, *pinned);
  stream->synchronize();
  EXPECT_EQ(buffer->size_bytes(), 0U);
}

inline void expect_absurd_sizes_are_refused(Device& device) {
  EXPECT_THROW(static_cast<void>(device.make_device_buffer(std::size_t{1} << 60)), DeviceError);
  EXPECT_THROW(static_cast<void>(device.make_pinned_buffer(std::size_t{1} << 60)), DeviceError);
  // A failed allocation must not leave an error that the next call would report.
  EXPECT_EQ(device.make_device_buffer(64)->size_bytes(), 64U);
}

}  // namespace roentgen::runtime
