// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/inputs.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace roentgen::engine {
namespace {

void require(bool holds, const std::string& field, const std::string& expected, const std::string& got) {
  if (!holds) throw ConfigError(error_text("engine.inputs", "input_norm." + field, expected, got));
}

void check(const InputNorm& norm, const InputSpec& image) {
  require(norm.dtype == DType::U8 || norm.dtype == DType::U16, "dtype", "u8 or u16", std::string(name_of(norm.dtype)));
  require(image.shape.rank() == 4, "input", "an image of shape (N, C, H, W)", norm.input + " " + image.shape.text());
  const auto channels = static_cast<std::size_t>(image.shape[1]);
  const std::string expected = std::to_string(channels) + " numbers, one for each channel";
  require(norm.mean.size() == channels, "mean", expected, std::to_string(norm.mean.size()));
  require(norm.stddev.size() == channels, "stddev", expected, std::to_string(norm.stddev.size()));
  for (const double mean : norm.mean) require(std::isfinite(mean), "mean", "a finite number", std::to_string(mean));
  for (const double stddev : norm.stddev) {
    require(std::isfinite(stddev) && stddev > 0.0, "stddev", "a number above 0", std::to_string(stddev));
  }
}

}  // namespace

std::vector<PixelScale> pixel_scales(const InputNorm& norm) {
  const double white = norm.dtype == DType::U8 ? 255.0 : 65535.0;
  std::vector<PixelScale> scales;
  for (std::size_t c = 0; c < norm.mean.size(); ++c) {
    scales.push_back({.scale = 1.0 / (white * norm.stddev[c]), .shift = -norm.mean[c] / norm.stddev[c]});
  }
  return scales;
}

std::vector<InputSpec> input_specs(const graph::Graph& graph, const std::optional<InputNorm>& norm) {
  std::vector<InputSpec> specs;
  for (const graph::Node& node : graph.nodes()) {
    if (node.is_input()) specs.push_back({.name = node.name, .shape = node.shape});
  }
  if (norm) {
    const auto image = std::ranges::find(specs, norm->input, &InputSpec::name);
    require(image != specs.end(), "input", "the name of a graph input", norm->input);
    check(*norm, *image);
    image->dtype = norm->dtype;
  }
  for (InputSpec& spec : specs) spec.bytes = static_cast<std::size_t>(spec.shape.elements()) * size_of(spec.dtype);
  return specs;
}

}  // namespace roentgen::engine
