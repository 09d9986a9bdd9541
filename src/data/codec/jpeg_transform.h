// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// libjpeg's reduced inverse DCT (jidctred.c), bit for bit, for many blocks at once.
#pragma once

#include <cstdint>

#include "data/codec/jpeg_scan.h"

namespace roentgen::data {

/// scan.blocks, a row of units, to the rows of scan.out that are wanted of it.
void transform_jpeg_row(const JpegScan& scan, std::int64_t unit_y);

}  // namespace roentgen::data
