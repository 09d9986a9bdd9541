// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Value representations (VR) of the DICOM elements that this folder reads. Files in implicit VR do not store them.
// DCMTK reads them from a data file of its installation. A wheel, a tarball or a copied program lacks this file.
#pragma once

namespace roentgen::data {

/// Adds all elements that this folder reads to DCMTK's dictionary, unless they are known. Thread-safe.
void complete_dictionary();

}  // namespace roentgen::data
