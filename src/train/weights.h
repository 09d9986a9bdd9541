// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Named tensors between files and executables: plain row-major f32 under torchvision's names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"
#include "graph/parameter.h"

namespace roentgen::engine {
class Executable;
}
namespace roentgen::graph {
class Graph;
}
namespace roentgen::io {
class SafetensorsReader;
}

namespace roentgen::train {

/// Prefix of the names of optimizer state in a resume file.
inline constexpr std::string_view kOptimizerPrefix = "optimizer.";

/// A tensor in memory.
struct NamedTensor {
  std::string name;           ///< torchvision's name
  Shape shape;                ///< plain
  std::vector<float> values;  ///< row-major
};

/// All parameters and running statistics of an executable, in the graph's order. Allocates.
[[nodiscard]] std::vector<NamedTensor> weights_of(const engine::Executable& executable);

/// Writes weights so that torchvision's model loads them strictly: with a "num_batches_tracked" (i64 scalar, here the
/// number of updates) for every batch norm. Atomic; DataError on a full disk.
void write_weights(const std::filesystem::path& path, const std::vector<NamedTensor>& weights, std::int64_t updates,
                   const std::map<std::string, std::string>& metadata);

/// Treatment of tensors that do not fit.
enum class Strictness : std::uint8_t { Strict, Partial };

/// Differences between a set of tensors and a graph's parameters. All three lists are empty after a strict load.
struct LoadReport {
  /// Parameters without a tensor.
  std::vector<std::string> missing;
  /// Tensors without a parameter.
  std::vector<std::string> unexpected;
  /// "name: (2, 3), not (2, 4)".
  std::vector<std::string> misshapen;
  /// Did all fit?
  [[nodiscard]] bool is_clean() const { return missing.empty() && unexpected.empty() && misshapen.empty(); }
  /// One line: "2 missing (a, b), 1 unexpected (c)"; names at most three of each.
  [[nodiscard]] std::string text() const;
};

/// Compares names and shapes; nothing is changed.
[[nodiscard]] LoadReport compare(const std::vector<NamedTensor>& tensors,
                                 const std::vector<graph::Parameter>& parameters);

/// Throws ConfigError with the report unless all lists are empty.
/// @param what file name, for the error
void require_fit(const LoadReport& report, const graph::Graph& graph, std::string_view what);

/// Throws ConfigError naming the first tensor with an impossible value for a graph with these parameters. Impossible
/// are values that are not finite, and a negative running variance.
/// @param what file name, for the error
void require_sound(const std::vector<NamedTensor>& tensors, const std::vector<graph::Parameter>& parameters,
                   std::string_view what);

/// Loads tensors by name after require_sound(). Strict: ConfigError with the report when anything does not fit, before
/// anything is loaded. Partial: loads what fits.
/// @param what file name, for errors
LoadReport load_weights(const std::vector<NamedTensor>& tensors, engine::Executable& executable, std::string_view what,
                        Strictness strictness);

/// Reads all floating-point tensors of a file. Leaves out "num_batches_tracked" and names that start with `skip_prefix`
/// (unless empty). Throws DataError or ConfigError for tensors that cannot be read.
[[nodiscard]] std::vector<NamedTensor> read_tensors(const io::SafetensorsReader& reader, std::string_view skip_prefix);

}  // namespace roentgen::train
