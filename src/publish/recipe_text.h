// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A recipe as it may be published.
#pragma once

#include <string>

#include "core/value.h"

namespace roentgen::publish {

/// The recipe as TOML, without the folders of the files that it names: those are of the machine it ran on.
[[nodiscard]] std::string recipe_text(Value recipe);

}  // namespace roentgen::publish
