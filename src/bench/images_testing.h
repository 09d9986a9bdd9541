// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A few small images on disk for tests of cases that read images. Test code only.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "bench/input.h"
#include "data/source/dataset.h"
#include "io/io_testing.h"
#include "io/png_writer.h"

namespace roentgen::bench {

/// Network whose training step takes well under a millisecond.
inline constexpr std::string_view kNet = R"(graph "tiny"
input image (N, C, S, S)
v = conv2d(image, out=8, kernel=3x3, bias=no)
p = global_avg_pool(v)
f = flatten(p)
l = linear(f, out=K)
output logits = l
)";

/// Fixture with 9 images of 8x8 px.
class ImagesTest : public testing::Test {
 protected:
  ImagesTest() {
    std::filesystem::create_directory(images());
    for (int i = 0; i < 9; ++i) {
      std::array<std::byte, 64> pixels{};
      for (std::size_t j = 0; j < pixels.size(); ++j) pixels[j] = static_cast<std::byte>(20 * i + static_cast<int>(j));
      const auto bytes = io::encode_png({.width_px = 8, .height_px = 8, .pixels = pixels}, 1);
      const auto path = images() / fmt::format("{}.png", i);
      std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
      data::Sample sample;
      sample.id = path.filename();
      sample.path = path;
      dataset_.samples.push_back(sample);
    }
  }

  [[nodiscard]] std::filesystem::path images() const { return folder_.path() / "images"; }
  /// Returns input options with 2 threads and batches of 4 images of 16 px: 1 warm-up batch, then 6 measured batches.
  [[nodiscard]] static InputOptions small() {
    return {.batch = 4, .image_px = 16, .workers = 2, .warmup = 1, .steps = 6};
  }

  io::testing::TemporaryFolder folder_;
  data::Dataset dataset_;
};

}  // namespace roentgen::bench
