// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Decodes the luma of baseline JPEG files at 1/8, 1/4 or 1/2 of their size. Parses all coefficients but transforms only
// the part that is needed. The transform is bit-identical to libjpeg's reduced inverse DCT. A pixel is the mean
// of 8 x 8, 4 x 4 or 2 x 2 pixels. Only coefficients that the transform reads are stored, and many blocks are
// transformed at once.
#pragma once

#include <cstddef>
#include <span>

#include "data/codec/codec.h"
#include "data/image.h"

namespace roentgen::data {

/// Fills `out` (8 bits, 1 channel) with at least the part `need` of the picture, in whole blocks of 8 x 8 source
/// pixels. need.reduction is 2, 4 or 8. Returns false if the file is not baseline with one scan, or if its first
/// component is subsampled. Also returns false for any unusual or damaged file. The caller then uses libjpeg, and `out`
/// is undefined.
[[nodiscard]] bool decode_reduced_luma(std::span<const std::byte> file, const ImageNeed& need, DecodeScratch& scratch,
                                       Image& out);

}  // namespace roentgen::data
