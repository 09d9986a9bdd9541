// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Common part of the fuzz targets of all image codecs.
#pragma once

#include <string_view>

#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

/// Decodes a file in every channel format, and checks that its pixels respect the limits. Any codec that recognises the
/// bytes is used.
void decode_any(Input input);

}  // namespace roentgen::fuzz
