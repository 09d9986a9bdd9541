// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// libjpeg's reduced inverse DCT (jidctred.c), bit for bit, for many blocks at once.
#pragma once

#include <cstdint>

#include "data/codec/jpeg_scan.h"

namespace roentgen::data {

/// Transforms a row of units from scan.blocks into the needed rows of scan.out.
void transform_jpeg_row(const JpegScan& scan, std::int64_t unit_y);

}  // namespace roentgen::data
