// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Host code of the kernel in normalise.cu: sizes and checks.
#include "engine/cuda/normalise.h"

#include "core/error.h"

namespace roentgen::engine::cuda {
namespace {
void require(bool holds, std::string_view field, std::string_view expected, const std::string& got) {
  if (holds) return;
  throw ConfigError(
      error_text("engine.cuda.normalise", "input image, " + std::string(field), expected, got, "reporting this bug"));
}
}  // namespace

std::size_t src_bytes(const Normalise& work) {
  return static_cast<std::size_t>(work.images * work.channels * work.pixels) * size_of(work.src);
}

std::size_t dst_bytes(const Normalise& work) {
  return static_cast<std::size_t>(work.images * work.pixels * work.dst_channels) * size_of(work.dst);
}

void check_normalise(const Normalise& work) {
  require(work.src == DType::U8 || work.src == DType::U16, "src", "u8 or u16", std::string(name_of(work.src)));
  require(work.dst == DType::F32 || work.dst == DType::Bf16 || work.dst == DType::F16, "dst", "f32, bf16 or f16",
          std::string(name_of(work.dst)));
  require(work.channels == 1 || work.channels == 3, "channels", "1 or 3", std::to_string(work.channels));
  require(work.dst_channels == 4 || work.dst_channels == 8, "dst_channels", "4 or 8",
          std::to_string(work.dst_channels));
  // One thread per pixel; a grid has at most 2^31 - 1 blocks.
  constexpr std::int64_t kMost = std::int64_t{1} << 38;
  require(work.images > 0 && work.images < kMost, "images", "1 to 2^38", std::to_string(work.images));
  require(work.pixels > 0 && work.pixels < kMost / work.images, "pixels", "1 to 2^38 over all images",
          std::to_string(work.pixels));
}

std::unique_ptr<Kernel> normalise_kernel(const Located& from, const Located& to, const std::vector<PixelScale>& scales,
                                         runtime::Stream* stream) {
  Normalise work{.src = from.layout.dtype,
                 .dst = to.layout.dtype,
                 .images = to.shape[0],
                 .channels = to.shape[1],
                 .pixels = pixels(to.shape),
                 .dst_channels = padded_channels(to.shape, to.layout)};
  check_normalise(work);
  for (std::size_t c = 0; c < scales.size(); ++c) {
    work.scale[c] = static_cast<float>(scales[c].scale);
    work.shift[c] = static_cast<float>(scales[c].shift);
  }
  return make_kernel([=](const Addresses& at) {
    return [=, src = at.bytes(from.tensor), dst = at.bytes(to.tensor)] { normalise(*stream, work, src, dst); };
  });
}

}  // namespace roentgen::engine::cuda
