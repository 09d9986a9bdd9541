// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fills the error gallery of a report: the images on which a model errs most, with heat-maps from its checkpoint.
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

/// Inputs of make_gallery().
struct GalleryRequest {
  std::filesystem::path checkpoint{};
  /// Folder that contains the images, in any subfolder.
  std::filesystem::path data{};
  /// Number of pictures for each finding and each kind of error.
  std::int64_t cases = 3;
  ImageNames names = ImageNames::Hidden;
};

/// Selects the worst cases of the predictions (eval/worst_cases.h) and draws their heat-maps with the checkpoint. Finds
/// each image below the data folder by its name (data::NameIndex::find()); its file name may have another ending.
/// Throws ConfigError like train::load_checkpoint() with heat-maps. Throws DataError for a label that the checkpoint
/// does not know, and for images that are missing (with the counts) or cannot be read.
[[nodiscard]] Gallery make_gallery(const eval::Predictions& predictions, const GalleryRequest& request,
                                   engine::Engine& engine);

}  // namespace roentgen::publish
