// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Shrinks a whole picture, for a cache of training images.
#pragma once

#include <cstdint>

#include "data/image.h"
#include "data/transform/preprocess.h"

namespace roentgen::data {

/// Resizes `image` to a short side of `side_px` and keeps its aspect ratio, with the antialiased resize of transform.h.
/// Values are rounded to the image's type; bits, max_value and channels do not change. Returns false and does nothing
/// if the short side is at most `side_px`.
bool shrink(Image& image, std::int64_t side_px, Filter filter);

}  // namespace roentgen::data
