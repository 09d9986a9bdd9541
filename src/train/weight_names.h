// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Maps tensor names of other programs to those of the built-in networks: current and earlier torchvision, timm,
// torchxrayvision, and prefixes of wrapper modules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "graph/parameter.h"
#include "train/weights.h"

namespace roentgen::train {

/// Converts a tensor's name to its name in current torchvision. Drops the prefixes "module.", "model.", "_orig_mod."
/// and "<model>."; drops the 0 from "classifier.0." and "fc.0.". Renames DenseNet's old "denselayer3.norm.1.weight" to
/// "denselayer3.norm1.weight". Renames "pre_logits.fc1.weight" of timm's VGG to "classifier.0.weight".
[[nodiscard]] std::string torchvision_name(std::string_view name);

/// Returns true for "op_threshs", a tensor of torchxrayvision's models that is not a weight.
[[nodiscard]] bool is_operating_points(std::string_view name);

/// Renames tensors to a graph's parameters. Drops a prefix if a parameter has the remaining name, else uses
/// torchvision_name(). timm's VGG stores some linear layers as convolutions: these get the shape of a linear layer.
/// Returns how many tensors were renamed. Fails if two tensors get one name.
/// @param what file name, for errors
[[nodiscard]] Result<std::int64_t> rename_tensors(std::vector<NamedTensor>& tensors,
                                                  const std::vector<graph::Parameter>& parameters,
                                                  std::string_view what);

}  // namespace roentgen::train
