// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Networks that torchvision can build, so that weights load into them there.
#pragma once

#include <string>

#include "core/value.h"

namespace roentgen::train {
struct Recipe;
}

namespace roentgen::publish {

/// The setting of a recipe that makes the network another one than torchvision's of that name, with any number of
/// classes: "model.width = 32". Empty where weights load there, those of a gray network with `export --channels 3`.
[[nodiscard]] std::string torchvision_obstacle(const Value& recipe);

/// A line about a network that torchvision cannot make, for before it is trained: its weights load there as tensors
/// only. Empty where they load into torchvision's model.
[[nodiscard]] std::string torchvision_note(const train::Recipe& recipe);

}  // namespace roentgen::publish
