// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The luma of baseline JPEG files at an eighth, a quarter or half of their size. All coefficients are parsed, but only
// those of the needed part are transformed. The transform is bit-identical to libjpeg's reduced inverse DCT (each pixel
// is the mean of 8 x 8, 4 x 4 or 2 x 2). Only coefficients that the transform reads are stored, and many blocks are
// transformed at once.
#pragma once

#include <cstddef>
#include <span>

#include "data/codec/codec.h"
#include "data/image.h"

namespace roentgen::data {

/// Fills `out` (8 bits, 1 channel) with at least the part `need` of the picture: whole blocks of 8 x 8 source pixels.
/// Returns false when the file is no baseline file of one scan, or when its first component is subsampled. Returns
/// false also when anything about it is unusual, damage included. The caller then asks libjpeg, and `out` is undefined.
/// need.reduction: 2, 4 or 8.
[[nodiscard]] bool decode_reduced_luma(std::span<const std::byte> file, const ImageNeed& need, DecodeScratch& scratch,
                                       Image& out);

}  // namespace roentgen::data
