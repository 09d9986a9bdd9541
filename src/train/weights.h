// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Named tensors, by which weights move between files and executables: row-major f32 with torchvision's names.
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

/// A tensor in memory, with its name.
struct NamedTensor {
  std::string name;           ///< name in torchvision
  Shape shape;                ///< shape without padding
  std::vector<float> values;  ///< row-major
};

/// Copies all parameters and running statistics of an executable, in the graph's order. Allocates.
[[nodiscard]] std::vector<NamedTensor> weights_of(const engine::Executable& executable);

/// Writes weights in a form that torchvision's model loads without any difference. Every batch norm gets a scalar
/// "num_batches_tracked" (i64), the number of updates. The file is replaced atomically. Throws DataError if the disk is
/// full.
void write_weights(const std::filesystem::path& path, const std::vector<NamedTensor>& weights, std::int64_t updates,
                   const std::map<std::string, std::string>& metadata);

/// Handling of tensors that do not fit the graph: Strict is an error, Partial skips them.
enum class Strictness : std::uint8_t { Strict, Partial };

/// Differences between a set of tensors and a graph's parameters. All three lists are empty if everything fits.
struct LoadReport {
  /// Parameters without a tensor.
  std::vector<std::string> missing;
  /// Tensors without a parameter.
  std::vector<std::string> unexpected;
  /// Tensors of a wrong shape: "name: (2, 3), not (2, 4)".
  std::vector<std::string> misshapen;
  /// True if all tensors fit.
  [[nodiscard]] bool is_clean() const { return missing.empty() && unexpected.empty() && misshapen.empty(); }
  /// Summary in one line: "2 missing (a, b), 1 unexpected (c)". Names at most three tensors of each kind.
  [[nodiscard]] std::string text() const;
};

/// Compares names and shapes of the tensors with the parameters.
[[nodiscard]] LoadReport compare(const std::vector<NamedTensor>& tensors,
                                 const std::vector<graph::Parameter>& parameters);

/// Throws ConfigError with the report unless all tensors fit.
/// @param what file name, for the error
void require_fit(const LoadReport& report, const graph::Graph& graph, std::string_view what);

/// Throws ConfigError naming the first tensor with an impossible value: not finite, or a negative running variance.
/// @param what file name, for the error
void require_sound(const std::vector<NamedTensor>& tensors, const std::vector<graph::Parameter>& parameters,
                   std::string_view what);

/// Checks the tensors with require_sound(), then loads them by name. Strict: throws ConfigError with the report if any
/// tensor does not fit, before anything is loaded. Partial: loads only the tensors that fit.
/// @param what file name, for errors
LoadReport load_weights(const std::vector<NamedTensor>& tensors, engine::Executable& executable, std::string_view what,
                        Strictness strictness);

/// Reads all floating-point tensors of a file, except "num_batches_tracked" and names that start with `skip_prefix` (if
/// not empty). Throws DataError or ConfigError for tensors that cannot be read.
[[nodiscard]] std::vector<NamedTensor> read_tensors(const io::SafetensorsReader& reader, std::string_view skip_prefix);

}  // namespace roentgen::train
