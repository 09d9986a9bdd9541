// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes short lines of text into gray pictures, with letters of 5x7 dots.
#pragma once

#include <cstdint>
#include <string_view>

#include "publish/gray_picture.h"

namespace roentgen::publish {

/// Height of a letter in pixels at scale 1; a letter is 6 pixels wide, gap included.
inline constexpr std::int64_t kCaptionHeight = 7;

/// Writes `text` in white (255) with its top left corner at (x, y) px; each dot is `scale` pixels wide. Letters are
/// written as capitals, unknown characters as a hollow box. Pixels outside the picture are clipped.
void write_caption(GrayPicture& picture, std::int64_t x, std::int64_t y, std::int64_t scale, std::string_view text);

}  // namespace roentgen::publish
