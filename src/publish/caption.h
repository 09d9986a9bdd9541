// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Short lines of text in gray pictures, in a 5x7 dot matrix.
#pragma once

#include <cstdint>
#include <string_view>

#include "publish/gray_picture.h"

namespace roentgen::publish {

/// Height of a caption's letters, in pixels, at scale 1; a letter takes 6 pixels of width.
inline constexpr std::int64_t kCaptionHeight = 7;

/// Writes `text` with its top left corner at (x, y), `scale` pixels a dot, as 255. Letters appear as capitals, unknown
/// characters as a hollow box. Pixels outside the picture are left out.
void write_caption(GrayPicture& picture, std::int64_t x, std::int64_t y, std::int64_t scale, std::string_view text);

}  // namespace roentgen::publish
