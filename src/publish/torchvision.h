// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decides whether torchvision can build a network, so that its weights load there.
#pragma once

#include <string>

#include "core/value.h"

namespace roentgen::train {
struct Recipe;
}

namespace roentgen::publish {

/// The first recipe setting that makes the network differ from torchvision's model of that name, such as "model.width =
/// 32". Empty if the weights load into torchvision's model; gray networks need `export --channels 3` first.
[[nodiscard]] std::string torchvision_obstacle(const Value& recipe);

/// Warning before training that torchvision cannot build the network, so that only its tensors can be loaded there.
/// Empty if the weights load into torchvision's model.
[[nodiscard]] std::string torchvision_note(const train::Recipe& recipe);

}  // namespace roentgen::publish
