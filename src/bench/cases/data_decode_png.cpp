// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case `data.decode_png`: one thread decodes an 8-bit gray PNG of 1024x1024 px, the format of NIH ChestX-ray14. The
// picture is a smooth shape with noise of +-8 levels. The decoded pixels must equal the encoded ones.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "core/error.h"
#include "core/random.h"
#include "data/codec/codec.h"
#include "io/png_writer.h"

namespace roentgen::bench {
namespace {
constexpr std::int64_t kSide = 1024;

std::vector<std::byte> make_picture() {
  std::vector<std::byte> pixels(static_cast<std::size_t>(kSide * kSide));
  Random random(1, RandomStage::Test);
  for (std::int64_t y = 0; y < kSide; ++y) {
    for (std::int64_t x = 0; x < kSide; ++x) {
      const auto dx = static_cast<double>(x) / kSide - 0.5;
      const auto dy = static_cast<double>(y) / kSide - 0.5;
      const double level = 230.0 * std::max(0.0, 1.0 - 2.5 * (dx * dx + dy * dy)) + random.uniform(-8.0, 8.0);
      pixels[static_cast<std::size_t>(y * kSide + x)] = static_cast<std::byte>(std::clamp(level, 0.0, 255.0));
    }
  }
  return pixels;
}

Value decode_png(const CaseOptions& options) {
  const std::vector<std::byte> pixels = make_picture();
  const std::vector<std::byte> file = io::encode_png({.width_px = kSide, .height_px = kSide, .pixels = pixels});
  data::Decoder decoder;
  data::Image image;
  const auto run = [&] {
    static_cast<void>(decoder.decode(file, "bench.png", {.channels = data::Channels::Gray}, image).or_throw());
    return -1.0;
  };
  const auto check = [&] {
    if (!std::ranges::equal(image.bytes(), pixels)) {
      throw DataError(error_text("bench.decode_png", "bench.png", "the pixels that were encoded", "different pixels"));
    }
    return checksum(image.bytes());
  };
  return measure("data.decode_png", options,
                 {.run = run,
                  .check = check,
                  .amount = static_cast<double>(kSide * kSide),
                  .unit = "pixels",
                  .facts = Value::Table{{"width_px", kSide}, {"height_px", kSide}, {"file_bytes", file.size()}}});
}

}  // namespace

std::unique_ptr<Case> make_data_decode_png_case() {
  return make_repeated_case("one thread decodes a gray PNG of 1024 px, as NIH ChestX-ray14 has them",
                            "roentgen bench data.decode_png --steps 20", decode_png);
}

}  // namespace roentgen::bench
