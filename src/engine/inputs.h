// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// InputSpec and InputNorm: what a batch slot contains, and how pixels in a slot become values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/shape.h"
#include "graph/graph.h"

namespace roentgen::engine {

/// Content of a batch slot for one graph input. The engine specifies it; the data pipeline fills the slot.
struct InputSpec {
  std::string name;  ///< name of the input in the graph
  /// Shape in the graph: (N, C, H, W) or (N, K).
  Shape shape;
  /// F32: the slot holds values. U8 or U16: it holds pixels, which the executable converts to values (InputNorm).
  DType dtype = DType::F32;
  /// Bytes of one slot: row-major in the order of `shape`, so images are planar.
  std::size_t bytes = 0;
};

/// Lets the slots of one input (N, C, H, W) hold pixels instead of values, in a quarter or half of the bytes. The
/// executable computes x = (pixel / white - mean[c]) / stddev[c] in float32, where white is 255 or 65535. This is the
/// definition of data::Preprocess, for pixels as in data::SlotView.
struct InputNorm {
  std::string input = "image";      ///< name of the input in the graph
  DType dtype = DType::U16;         ///< type of a pixel: U8 or U16
  std::vector<double> mean{0.5};    ///< mean of each channel (C), on the [0, 1] scale of pixel / white
  std::vector<double> stddev{0.5};  ///< standard deviation of each channel (C), on the [0, 1] scale; positive
};

/// Constants that convert a pixel of one channel: value = pixel * scale + shift.
struct PixelScale {
  double scale = 1.0;  ///< 1 / (white * stddev)
  double shift = 0.0;  ///< -mean / stddev
};

/// Returns the PixelScale of each channel.
[[nodiscard]] std::vector<PixelScale> pixel_scales(const InputNorm& norm);

/// Inputs of the graph, in graph order. Throws ConfigError if `norm` does not name an image input, or lacks a mean and
/// a standard deviation for each of its channels.
[[nodiscard]] std::vector<InputSpec> input_specs(const graph::Graph& graph, const std::optional<InputNorm>& norm);

}  // namespace roentgen::engine
