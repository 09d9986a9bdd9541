// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Evaluation of a checkpoint on a part of a data set, shared by `roentgen eval` and Python's Run.evaluate(). Reads the
// data by the checkpoint's recipe, checks that no patient or image was trained on, and predicts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/dataset.h"
#include "eval/leak.h"
#include "score/eval_set.h"

namespace roentgen::data {
class PixelHashes;
}
namespace roentgen::score {
struct Part;
}
namespace roentgen::train {
class Ranks;
struct CheckpointInfo;
struct LoadedModel;
}  // namespace roentgen::train

namespace roentgen::task {

/// Makes the [data] options that list data with the same splits as in training. They combine the checkpoint's recipe
/// with its labels, patient namespace and split rule. Throws ConfigError as train::parse_recipe() and
/// data::place_folders() do.
/// @param what file name of the checkpoint, for errors
/// @param folders data folders, each "DIR" or "NAME=DIR"
/// @param overrides settings "data.key=value"
[[nodiscard]] data::SourceOptions source_of_checkpoint(const train::CheckpointInfo& info, std::string_view what,
                                                       const std::vector<std::string>& folders,
                                                       std::span<const std::string> overrides = {});

/// Reports the result of a check for training images or patients in the evaluated data. If `leak` is empty, returns the
/// line `clean`; otherwise throws DataError or warns, as `on_overlap` says. Both texts come from eval/leak.h.
[[nodiscard]] std::string settle_leak(const std::string& leak, const std::string& clean, eval::OnOverlap on_overlap);

/// Refuses to evaluate patients that the model was trained on, found by their salted hashes. For the training split
/// itself, it only warns and checks nothing. Warns of patient numbers that differ only in leading zeros.
/// @return as settle_leak(); empty for the training split
[[nodiscard]] std::string check_patients(const train::CheckpointInfo& info, const data::Dataset& dataset,
                                         const score::Part& part, eval::OnOverlap on_overlap);

/// Refuses to evaluate images whose pixels the model was trained on. predict_part() must have hashed the images before.
/// @return as settle_leak(); empty for the training split
[[nodiscard]] std::string check_pixels(const train::CheckpointInfo& info, const score::Part& part,
                                       const data::PixelHashes& hashes, eval::OnOverlap on_overlap);

/// Options of predict_part().
struct PartOptions {
  std::int64_t workers = 0;    ///< number of decoding threads; 0 for one per core
  std::string views = "none";  ///< test-time augmentation, a name for data::test_views()
  /// Callback after each batch with the number of images done; each view counts as an image. May throw to stop. May be
  /// empty.
  std::function<void(std::int64_t done, std::int64_t total)> on_progress{};
};

/// Predicts a part of the data set. All ranks must call it. Throws DataError if an image is unreadable.
/// @param hashes receives the pixel hashes of the part's images
[[nodiscard]] score::EvalSet predict_part(const train::Ranks& ranks, train::LoadedModel& model,
                                          const data::Dataset& dataset, const score::Part& part,
                                          data::PixelHashes& hashes, const PartOptions& options);

}  // namespace roentgen::task
