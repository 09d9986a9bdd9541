// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Adapts weights of other programs. Renames tensors (weight_names.h), converts the input convolution to the channels
// and normalisation of the recipe, and resets the head if the labels differ. Pure functions on tensors in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/transform/preprocess.h"
#include "graph/graph.h"
#include "train/weights.h"

namespace roentgen::train {

/// Network that receives imported weights.
struct ImportTarget {
  /// Model with an output "logits".
  const graph::Graph& model;
  std::vector<std::string> labels;
  data::Preprocess preprocess;
  /// Seed of the parameters that are initialised at random instead of imported.
  std::uint64_t seed = 0;
};

/// Content of an imported file.
struct ImportSource {
  std::vector<NamedTensor> tensors;
  /// Names of the labels; empty if the file states none.
  std::vector<std::string> labels;
  data::Preprocess preprocess;
  /// File name, for errors.
  std::string what;
  std::vector<std::string> notes{};  ///< parts of the file that are not imported, one line each
};

/// Tensors ready for load_weights(), and a note for each change to them.
struct Import {
  std::vector<NamedTensor> tensors;
  std::vector<std::string> notes;
};

/// Fits a file's tensors to the target: renames them, converts the input convolution (fold_input()) and initialises the
/// last layer anew if labels differ. Throws ConfigError if the input convolution cannot be converted. Examples are gray
/// weights for a colour input, and a convolution with neither bias nor batch norm after it.
[[nodiscard]] Import adapt(ImportSource source, const ImportTarget& target);

/// Reads a file for --init, in any form that read_weights_file() accepts. The preprocessing comes from the file (a
/// Roentgen checkpoint) or from the named preset. Weights of torchxrayvision have the preset "xrv". Throws ConfigError
/// if there is no preprocessing, or if file and preset disagree.
[[nodiscard]] ImportSource read_import(const std::filesystem::path& path, std::string_view preset);

/// Converts the input convolution from one channel count and normalisation to another. The result is exact except at
/// the border, where zero padding means another gray value. With normalised input v = x s + m:
///   w'_c = w_c s'_c / s_c
///   b_o = sum_c sum_kh,kw w_oc (m'_c - m_c) / s_c, a constant for the following layer From three channels to one, w'
///   is also summed over c, and s'_c and m'_c are those of the gray channel.
/// @param weights (OC, IC, KH, KW), replaced by (OC, IC', KH, KW)
/// @return b, (OC)
[[nodiscard]] std::vector<double> fold_input(NamedTensor& weights, const data::Preprocess& from,
                                             const data::Preprocess& to);

}  // namespace roentgen::train
