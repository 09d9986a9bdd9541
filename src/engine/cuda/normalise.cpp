// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The host's side of normalise.cu: sizes and checks.
#include "engine/cuda/normalise.h"

#include "core/error.h"

namespace roentgen::engine::cuda {
namespace {
void require(bool holds, std::string_view field, std::string_view expected, const std::string& got) {
  if (!holds) throw ConfigError(error_text("engine.cuda.normalise", field, expected, got));
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
  require(work.dst == DType::F32 || work.dst == DType::Bf16, "dst", "f32 or bf16", std::string(name_of(work.dst)));
  require(work.channels == 1 || work.channels == 3, "channels", "1 or 3", std::to_string(work.channels));
  require(work.dst_channels == 4 || work.dst_channels == 8, "dst_channels", "4 or 8",
          std::to_string(work.dst_channels));
  // One thread a pixel: the grid has at most 2^31 - 1 blocks.
  constexpr std::int64_t kMost = std::int64_t{1} << 38;
  require(work.images > 0 && work.images < kMost, "images", "1 to 2^38", std::to_string(work.images));
  require(work.pixels > 0 && work.pixels < kMost / work.images, "pixels", "1 to 2^38 over all images",
          std::to_string(work.pixels));
}

}  // namespace roentgen::engine::cuda
