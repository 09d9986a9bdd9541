// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads the part of a header that defines how stored values become gray levels. Only the files of this folder include
// it.
#pragma once

#include <string_view>

#include "data/codec/dicom/dataset.h"
#include "data/codec/dicom/file.h"

namespace roentgen::data {

/// Reads photometric interpretation, lookup tables, rescale, windows and padding into header.meaning. Its bits and sign
/// must already be set. A table or number that cannot be read sets header.view.fault. A deviation from what the file
/// states is added to header.view.notes.
void read_meaning(DcmItem& dataset, std::string_view what, DicomHeader& header);

}  // namespace roentgen::data
