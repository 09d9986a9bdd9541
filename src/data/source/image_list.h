// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Turns files and folders on a command line into a list of images, for predictions without a label table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "data/source/dataset.h"
#include "data/source/dicom_choice.h"
#include "data/source/folder_walk.h"

namespace roentgen::data {

/// Images in the order of the arguments; within a folder sorted by name.
struct ImageList {
  /// Images without labels, patients and splits.
  Dataset dataset;
  /// DICOM files in the folders that were excluded, by reason (exclusion_of()).
  Tally dicom;
  /// Counts of everything else in the folders that was skipped.
  LeftOut left_out;
  /// Lines about files that are listed twice because of links.
  std::vector<std::string> notes;
  /// Folders among the arguments, and the number of images from each.
  std::vector<std::pair<std::filesystem::path, std::int64_t>> folders;
};

/// Lists images. Named files are always accepted, with any extension and any DICOM header. Folders are walked, also
/// through links, each real folder once; hidden names and companion folders are skipped.
/// A sample's name (Sample::id) is the base name of a file argument, or the path below a folder argument. If two names
/// would be equal, all names become the paths as given. Throws DataError that names the argument if it does not exist,
/// a folder contains no images, or an image is named twice.
[[nodiscard]] ImageList list_images(const std::vector<std::string>& arguments);

/// Notes to print about class folders in the list of which inspect, train and eval use more or fewer images than the
/// list contains.
/// @param source data.source and labels from the recipe of the model
[[nodiscard]] std::vector<std::string> class_folder_notes(const ImageList& list, const SourceOptions& source);

/// Lists images as list_images() does. If all arguments are folders with record files, lists the images in the records,
/// without labels if there are several folders.
[[nodiscard]] Dataset images_or_records(const std::vector<std::string>& arguments);

}  // namespace roentgen::data
