// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reduced inverse DCT of many blocks at once, bit-identical to libjpeg's (jidctred.c).
#pragma once

#include <cstdint>

#include "data/codec/jpeg_scan.h"

namespace roentgen::data {

/// Transforms the row of units (MCUs) number `unit_y` from scan.blocks into the needed rows of scan.out.
void transform_jpeg_row(const JpegScan& scan, std::int64_t unit_y);

}  // namespace roentgen::data
