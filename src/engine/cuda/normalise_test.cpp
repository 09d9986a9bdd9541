// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the argument checks of normalise(), which need no device. normalise_gpu_test.cpp tests the computed values.
#include "engine/cuda/normalise.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/error.h"

namespace roentgen::engine::cuda {
namespace {

constexpr Normalise kWork{
    .src = DType::U16, .dst = DType::Bf16, .images = 2, .channels = 3, .pixels = 35, .dst_channels = 8};

TEST(Normalise, counts_bytes_of_both_sides) {
  EXPECT_EQ(src_bytes(kWork), 2U * 3U * 35U * 2U);
  EXPECT_EQ(dst_bytes(kWork), 2U * 35U * 8U * 2U);
}

template <typename Change>
Normalise changed(const Change& change) {
  Normalise work = kWork;
  change(work);
  return work;
}

TEST(Normalise, refuses_what_the_kernel_cannot_do) {
  EXPECT_NO_THROW(check_normalise(kWork));
  EXPECT_THROW(check_normalise(changed([](Normalise& w) { w.src = DType::F32; })), ConfigError);
  EXPECT_THROW(check_normalise(changed([](Normalise& w) { w.dst = DType::F64; })), ConfigError);
  EXPECT_THROW(check_normalise(changed([](Normalise& w) { w.channels = 2; })), ConfigError);
  EXPECT_THROW(check_normalise(changed([](Normalise& w) { w.dst_channels = 3; })), ConfigError);
  EXPECT_THROW(check_normalise(changed([](Normalise& w) { w.images = 0; })), ConfigError);
  EXPECT_THROW(check_normalise(changed([](Normalise& w) { w.pixels = -1; })), ConfigError);
  EXPECT_THROW(check_normalise(changed([](Normalise& w) { w.pixels = std::numeric_limits<std::int64_t>::max() / 2; })),
               ConfigError);
}

TEST(Normalise, refuses_streams_of_the_cpu) {
  const auto device = runtime::make_cpu_device();
  const auto stream = device->make_stream();
  const auto src = device->make_device_buffer(src_bytes(kWork));
  const auto dst = device->make_device_buffer(dst_bytes(kWork));
  EXPECT_THROW(normalise(*stream, kWork, src->address(), dst->address()), DeviceError);
}

}  // namespace
}  // namespace roentgen::engine::cuda
