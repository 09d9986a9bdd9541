// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The input kernel and the slots on a CUDA device. Skipped where there is none.
#include "engine/cuda/normalise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "engine/cuda/input_slots_testing.h"

namespace roentgen::engine::cuda {
namespace {

// One fused multiply-add against double: half a unit in the last place of float32, 2^-24; double that for room.
constexpr double kFloatTolerance = 0x1p-23;
// bf16 keeps 8 bits: rounding to nearest is off by 2^-9 relative at most; double that for room.
constexpr double kBf16Tolerance = 0x1p-8;

class NormaliseGpu : public testing::Test {
 protected:
  void SetUp() override {
    const runtime::CudaInventory inventory = runtime::find_cuda_devices();
    if (inventory.devices.empty()) GTEST_SKIP() << "NO CUDA DEVICE, NOTHING TESTED: " << inventory.why_none;
    device_ = runtime::make_cuda_device(0);
    stream_ = device_->make_stream();
  }

  /// Runs the kernel on random samples and compares every element with the formula in double.
  void expect_formula_holds(const Normalise& work) {
    const auto host = device_->make_pinned_buffer(src_bytes(work));
    const auto result = device_->make_pinned_buffer(dst_bytes(work));
    const auto src = device_->make_device_buffer(src_bytes(work));
    const auto dst = device_->make_device_buffer(dst_bytes(work));
    std::ranges::copy(random_bytes(src_bytes(work), 11), host->bytes().begin());
    // What the kernel must overwrite: NaNs, in either type.
    std::ranges::fill(result->bytes(), std::byte{0xFF});
    stream_->upload(*result, *dst);
    stream_->upload(*host, *src);
    normalise(*stream_, work, *src, *dst);
    stream_->download(*dst, *result);
    stream_->synchronize();
    const double tolerance = work.dst == DType::F32 ? kFloatTolerance : kBf16Tolerance;
    std::int64_t wrong = 0;
    for (std::int64_t n = 0; n < work.images; ++n) {
      for (std::int64_t p = 0; p < work.pixels; ++p) {
        for (std::int64_t c = 0; c < work.dst_channels; ++c) {
          const double got = element(*result, work, (n * work.pixels + p) * work.dst_channels + c);
          const double wanted = expected(*host, work, {n, c, p});
          // Relative to the larger term too: the sum may cancel.
          const double bound = tolerance * (std::abs(wanted) + (c < work.channels ? 4.0 : 0.0));
          if (!(std::abs(got - wanted) <= bound) && ++wrong < 4) {
            ADD_FAILURE() << "image " << n << " pixel " << p << " channel " << c << ": " << got << ", not " << wanted;
          }
        }
      }
    }
    EXPECT_EQ(wrong, 0);
  }

  struct Index {
    std::int64_t image;
    std::int64_t channel;
    std::int64_t pixel;
  };
  static double expected(const runtime::PinnedBuffer& host, const Normalise& work, Index at) {
    if (at.channel >= work.channels) return 0.0;
    const auto i = static_cast<std::size_t>((at.image * work.channels + at.channel) * work.pixels + at.pixel);
    std::uint16_t sample = 0;
    if (work.src == DType::U8) {
      sample = std::to_integer<std::uint16_t>(host.bytes()[i]);
    } else {
      std::memcpy(&sample, host.bytes().data() + 2 * i, 2);
    }
    const auto c = static_cast<std::size_t>(at.channel);
    return double{work.scale[c]} * sample + work.shift[c];
  }
  static double element(const runtime::PinnedBuffer& result, const Normalise& work, std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    if (work.dst == DType::F32) {
      float value = 0.0F;
      std::memcpy(&value, result.bytes().data() + 4 * i, 4);
      return value;
    }
    std::uint16_t bits = 0;
    std::memcpy(&bits, result.bytes().data() + 2 * i, 2);
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
  }

  std::unique_ptr<runtime::Device> device_;
  std::unique_ptr<runtime::Stream> stream_;
};

/// (v / white - mean) / stddev with torchvision's constants.
Normalise with_constants(Normalise work) {
  const float white = work.src == DType::U8 ? 255.0F : 65535.0F;
  constexpr std::array<float, 3> kMean{0.485F, 0.456F, 0.406F};
  constexpr std::array<float, 3> kStddev{0.229F, 0.224F, 0.225F};
  for (std::size_t c = 0; c < 3; ++c) {
    work.scale[c] = 1.0F / (white * kStddev[c]);
    work.shift[c] = -kMean[c] / kStddev[c];
  }
  return work;
}

TEST_F(NormaliseGpu, formula_holds_for_all_types_and_channels) {
  for (const DType src : {DType::U8, DType::U16}) {
    for (const DType dst : {DType::F32, DType::Bf16}) {
      for (const std::int64_t channels : {1, 3}) {
        for (const std::int64_t dst_channels : {4, 8}) {
          SCOPED_TRACE(std::string(name_of(src)) + " to " + std::string(name_of(dst)));
          expect_formula_holds(with_constants({.src = src,
                                               .dst = dst,
                                               .images = 3,
                                               .channels = channels,
                                               .pixels = 61 * 53,
                                               .dst_channels = dst_channels}));
        }
      }
    }
  }
}

TEST_F(NormaliseGpu, formula_holds_at_the_edges_of_a_block) {
  for (const std::int64_t pixels : {1, 255, 256, 257}) {
    expect_formula_holds(with_constants({.images = 1, .channels = 1, .pixels = pixels}));
  }
}

TEST_F(NormaliseGpu, every_batch_arrives_whole) { expect_every_batch_arrives_whole(*device_); }

}  // namespace
}  // namespace roentgen::engine::cuda
