// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The luma of baseline JPEG files at an eighth, a quarter or half of their size: all coefficients are parsed, and only
// those of the part that is needed are transformed, by libjpeg's reduced inverse DCT to the bit (each pixel is the mean
// of 8 x 8, 4 x 4 or 2 x 2). Only what the transform looks at is stored, and many blocks are transformed at once.
#pragma once

#include <cstddef>
#include <span>

#include "data/codec/codec.h"
#include "data/image.h"

namespace roentgen::data {

/// Fills `out` (8 bits, 1 channel) with at least the part `need` of the picture: whole blocks of 8 x 8 source pixels.
/// False, and nothing is said about the file, when it is no baseline file of one scan, when its first component is
/// subsampled, or when anything about it is odd, damage included: libjpeg is to be asked then. need.reduction: 2, 4 or
/// 8. `out` is undefined after false.
[[nodiscard]] bool decode_reduced_luma(std::span<const std::byte> file, const ImageNeed& need, DecodeScratch& scratch,
                                       Image& out);

}  // namespace roentgen::data
