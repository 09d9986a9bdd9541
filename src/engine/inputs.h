// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// InputSpec and InputNorm: content of batch slots, and how pixels in a slot become values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/shape.h"
#include "graph/graph.h"

namespace roentgen::engine {

/// Content of a batch slot for one graph input. The engine says it; the pipeline fills it.
struct InputSpec {
  std::string name;  ///< name in the graph
  /// Shape as in the graph: (N, C, H, W) or (N, K).
  Shape shape;
  /// F32: values. U8 or U16: pixels, of which the executable makes values (InputNorm).
  DType dtype = DType::F32;
  /// Bytes of one slot: row-major in the order of `shape`, so images are planar.
  std::size_t bytes = 0;
};

/// Pixels instead of values in the slots of one input (N, C, H, W), which take a quarter or half of the bytes. The
/// executable computes x = (pixel / white - mean[c]) / stddev[c] in float32, white being 255 or 65535. That is the
/// definition of data::Preprocess, for pixels as in data::SlotView.
struct InputNorm {
  std::string input = "image";      ///< name in the graph
  DType dtype = DType::U16;         ///< type of a pixel: U8 or U16
  std::vector<double> mean{0.5};    ///< (C), on the [0, 1] scale
  std::vector<double> stddev{0.5};  ///< (C), on the [0, 1] scale; above zero
};

/// Value of a pixel of one channel: pixel * scale + shift.
struct PixelScale {
  double scale = 1.0;  ///< 1 / (white stddev)
  double shift = 0.0;  ///< -mean / stddev
};

/// Scales of all channels.
[[nodiscard]] std::vector<PixelScale> pixel_scales(const InputNorm& norm);

/// Inputs of the graph, in graph order. ConfigError unless `norm` names an image among them and has a mean and a
/// standard deviation of each of its channels.
[[nodiscard]] std::vector<InputSpec> input_specs(const graph::Graph& graph, const std::optional<InputNorm>& norm);

}  // namespace roentgen::engine
