// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decides whether torchvision can build a network, so that the network's weights can be loaded in torchvision.
#pragma once

#include <string>

#include "core/value.h"

namespace roentgen::train {
struct Recipe;
}

namespace roentgen::publish {

/// Returns the first recipe setting that makes the network differ from torchvision's model of the same name, such as
/// "model.width = 32". Empty if the weights can be loaded into torchvision's model; networks with one channel need
/// `export --channels 3` first.
[[nodiscard]] std::string torchvision_obstacle(const Value& recipe);

/// Returns a warning, for the start of training, that torchvision cannot build the network, so that only single tensors
/// can be loaded there. Empty if the weights can be loaded into torchvision's model.
[[nodiscard]] std::string torchvision_note(const train::Recipe& recipe);

}  // namespace roentgen::publish
