// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Files and folders on a command line, as the list of images in them: for predictions of images that no table
// describes.
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

/// Images in the order of the arguments, and within a folder by name.
struct ImageList {
  /// No labels, no patients, no split.
  Dataset dataset;
  /// DICOM files in the folders that are left out: exclusion_of().
  Tally dicom;
  /// Counts of everything else in the folders that is skipped or left out.
  LeftOut left_out;
  /// Lines on files that are listed twice by links.
  std::vector<std::string> notes;
  /// Folders among the arguments, and the images taken of each.
  std::vector<std::pair<std::filesystem::path, std::int64_t>> folders;
};

/// Lists images. A named file is taken whatever its ending and whatever the header of a DICOM file says. Folders are
/// walked, also through links, each real folder once, without hidden names and companion folders.
/// The name (Sample::id) is a file's base name, or its path below the folder that was named. Where two names would be
/// equal, all names are the paths as given. Throws DataError naming the argument: nothing there, no images below a
/// folder, an image named twice.
[[nodiscard]] ImageList list_images(const std::vector<std::string>& arguments);

/// Lines on the folders of a list that inspect, train and eval read as folders of classes, taking another number of
/// images.
/// @param source data.source of the model's recipe, and its labels
[[nodiscard]] std::vector<std::string> class_folder_notes(const ImageList& list, const SourceOptions& source);

/// Lists images as list_images(). Where all arguments are folders with record files, lists the images in these, without
/// labels where there are several.
[[nodiscard]] Dataset images_or_records(const std::vector<std::string>& arguments);

}  // namespace roentgen::data
