// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fills the gallery of a report: the images on which a model errs most, with heat-maps from its checkpoint.
#pragma once

#include <cstdint>
#include <filesystem>

#include "eval/predictions.h"
#include "publish/gallery.h"
#include "publish/heatmap_files.h"

namespace roentgen::engine {
class Engine;
}

namespace roentgen::publish {

/// Inputs of the gallery.
struct GalleryRequest {
  std::filesystem::path checkpoint{};
  /// Folder with the images, anywhere below.
  std::filesystem::path data{};
  /// Number of pictures of each kind and finding.
  std::int64_t cases = 3;
  ImageNames names = ImageNames::Hidden;
};

/// The worst cases of the predictions (eval/worst_cases.h), with the checkpoint's heat-maps of them.
/// data::NameIndex::find() finds the images below the folder, also under another image ending, each for one prediction.
/// Throws ConfigError as train::load_checkpoint() with heat-maps. Throws DataError on a label that the checkpoint does
/// not know, and on images that are missing (with the counts) or cannot be read.
[[nodiscard]] Gallery make_gallery(const eval::Predictions& predictions, const GalleryRequest& request,
                                   engine::Engine& engine);

}  // namespace roentgen::publish
