// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Images of 1024 px at default options against 59 originals of NIH ChestX-ray14, whose figures are those that
// tools/peers/nih_bytes.py prints (docs/synthetic.md, "Film"). Means of as many images of one seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "synth/film_file.h"
#include "synth/film_testing.h"
#include "synth/layout.h"
#include "synth/synth.h"

namespace roentgen::synth {
namespace {
constexpr std::int64_t kSize = 1024;
constexpr std::int64_t kImages = 59;

struct Measured {
  std::map<std::string, double> mean;
  std::vector<double> bytes;
};

Measured measure() {
  Measured result;
  auto& mean = result.mean;
  const SynthOptions options;
  for (const Entry& entry : list_studies(5, kImages)) {
    const Study study = render_study(entry.key, kSize, options.population, options.film);
    const auto file = encode_film(study, options.film, options.png_level);
    const testing::ReadPng png = testing::read_png(file);
    double sum = 0.0, squares = 0.0;
    for (const std::uint8_t pixel : study.pixels) {
      sum += pixel;
      squares += double{1.0} * pixel * pixel;
    }
    const auto n = static_cast<double>(study.pixels.size());
    result.bytes.push_back(static_cast<double>(file.size()));
    mean["bytes"] += static_cast<double>(file.size()) / kImages;
    mean["gray"] += sum / n / kImages;
    mean["sd"] += std::sqrt(squares / n - sum * sum / (n * n)) / kImages;
    mean["noise"] += testing::noise_of(study.pixels, kSize) / kImages;
    mean["slope"] += testing::spectrum_slope(study.pixels, kSize) / kImages;
    const char* filters[] = {"none", "sub", "up", "average", "paeth"};
    for (std::size_t i = 0; i < 5; ++i) mean[filters[i]] += 100.0 * png.rows[i] / kSize / kImages;
  }
  std::ranges::sort(result.bytes);
  return result;
}

TEST(FilmBytes, of_large_images_behave_like_nihs) {
  const Measured measured = measure();
  for (const auto& [name, value] : measured.mean) std::printf("%-8s %10.3f\n", name.c_str(), value);
  const auto near = [&](const char* name, double real, double share) {
    EXPECT_NEAR(measured.mean.at(name), real, share * std::abs(real)) << name;
  };
  near("bytes", 390'200, 0.15);
  near("gray", 131.1, 0.15);
  near("sd", 57.2, 0.15);
  near("noise", 0.80, 0.15);
  near("slope", -2.95, 0.15);
  near("average", 32.8, 0.15);
  near("paeth", 57.3, 0.15);
  EXPECT_NEAR(measured.mean.at("up"), 9.4, 5.0);
  EXPECT_NEAR(measured.mean.at("sub"), 0.5, 3.0);
  EXPECT_NEAR(measured.mean.at("none"), 0.0, 1.0);
  EXPECT_NEAR(measured.bytes[kImages / 10], 338'000, 0.15 * 338'000);
  EXPECT_NEAR(measured.bytes[kImages - 1 - kImages / 10], 438'600, 0.15 * 438'600);
}

}  // namespace
}  // namespace roentgen::synth
