// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Value representations of the DICOM elements that this folder reads. Files in implicit VR do not store them. DCMTK
// reads them from a file of its installation, which a wheel, a tarball or a copied program lacks.
#pragma once

namespace roentgen::data {

/// Adds every element that this folder reads and that DCMTK's dictionary lacks. Thread-safe.
void complete_dictionary();

}  // namespace roentgen::data
