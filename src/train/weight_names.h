// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Names of our networks' tensors in other programs: today's and earlier torchvision, timm and torchxrayvision, and the
// prefixes of wrappers around them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "graph/parameter.h"
#include "train/weights.h"

namespace roentgen::train {

/// Today's torchvision name of a tensor: prefixes "module.", "model.", "_orig_mod." and "<model>." dropped;
/// "classifier.0." and "fc.0." without the 0; DenseNet's old "denselayer3.norm.1.weight" to "denselayer3.norm1.weight";
/// timm's "pre_logits.fc1.weight" of VGG to "classifier.0.weight".
[[nodiscard]] std::string torchvision_name(std::string_view name);

/// True for a tensor that belongs to torchxrayvision's models and is no weight: "op_threshs".
[[nodiscard]] bool is_operating_points(std::string_view name);

/// Gives tensors the names of a graph's parameters: a name without its prefixes where a parameter has it, else
/// torchvision_name(). A convolution that is a linear layer of ours (timm's VGG) gets that shape. Returns how many were
/// renamed. Failure where two get one name.
/// @param what file name, for errors
[[nodiscard]] Result<std::int64_t> rename_tensors(std::vector<NamedTensor>& tensors,
                                                  const std::vector<graph::Parameter>& parameters,
                                                  std::string_view what);

}  // namespace roentgen::train
