// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Pictures and heat-maps for the gallery of `roentgen report`.
#pragma once

#include <cstdint>
#include <filesystem>

#include "cli/image_list.h"
#include "eval/predictions.h"
#include "publish/gallery.h"

namespace roentgen::cli {

/// What the gallery is made of.
struct GalleryRequest {
  std::filesystem::path checkpoint{};
  /// Folder with the images, anywhere below.
  std::filesystem::path data{};
  /// Of each kind and finding.
  std::int64_t cases = 3;
  ImageNames names = ImageNames::Hidden;
};

/// The worst cases of the predictions (eval/worst_cases.h), with the checkpoint's heat-maps of them. Images are found
/// below the folder as NameIndex::find() does, also under another image ending, each for one prediction. ConfigError as
/// train::load_checkpoint() with heat-maps; DataError on a label that the checkpoint does not know, images that are not
/// there (with the counts) or cannot be read.
[[nodiscard]] publish::Gallery make_gallery(const eval::Predictions& predictions, const GalleryRequest& request);

}  // namespace roentgen::cli
