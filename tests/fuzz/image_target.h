// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Common part of the targets of all image codecs.
#pragma once

#include <string_view>

#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

/// Decodes a file in every form of channels, under limits that its pixels must keep. A codec by another name is taken.
void decode_any(Input input);

}  // namespace roentgen::fuzz
