// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Networks that torchvision can build, so that their weights load there.
#pragma once

#include <string>

#include "core/value.h"

namespace roentgen::train {
struct Recipe;
}

namespace roentgen::publish {

/// Setting of a recipe that makes the network differ from torchvision's of that name: "model.width = 32". Empty when
/// the weights load there; gray networks need `export --channels 3`.
[[nodiscard]] std::string torchvision_obstacle(const Value& recipe);

/// Warning, before training, about a network that torchvision cannot build: only its tensors load there. Empty when the
/// weights load into torchvision's model.
[[nodiscard]] std::string torchvision_note(const train::Recipe& recipe);

}  // namespace roentgen::publish
