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

/// [data] of a checkpoint's recipe, with the checkpoint's labels, patients' namespace and rule of splits: the splits
/// are those of the training. ConfigError as train::parse_recipe() and data::place_folders().
/// @param what file of the checkpoint, for errors
/// @param folders data folders, each "DIR" or "NAME=DIR"
/// @param overrides "data.key=value"
[[nodiscard]] data::SourceOptions source_of_checkpoint(const train::CheckpointInfo& info, std::string_view what,
                                                       const std::vector<std::string>& folders,
                                                       std::span<const std::string> overrides = {});

/// Reports a check for images or patients of the training set. `leak` and `clean` are texts of eval/leak.h; `leak` is
/// empty where there is none.
[[nodiscard]] std::string settle_leak(const std::string& leak, const std::string& clean, eval::OnOverlap on_overlap);

/// Refuses a part with patients that were trained on; compares salted hashes. Warns of the training part itself, for
/// which nothing is checked, and of numbers of patients that differ in leading zeros.
/// @return as settle_leak(); empty for the training part
[[nodiscard]] std::string check_patients(const train::CheckpointInfo& info, const data::Dataset& dataset,
                                         const score::Part& part, eval::OnOverlap on_overlap);

/// Refuses a part with the pixels of images that were trained on, once predict_part() has hashed them.
/// @return as settle_leak(); empty for the training part
[[nodiscard]] std::string check_pixels(const train::CheckpointInfo& info, const score::Part& part,
                                       const data::PixelHashes& hashes, eval::OnOverlap on_overlap);

/// Options of predict_part().
struct PartOptions {
  std::int64_t workers = 0;    ///< decoding threads; 0: as many as there are cores for them
  std::string views = "none";  ///< data::test_views()
  /// Called after each batch with the images done, views counted as images; may throw to end it. May be empty.
  std::function<void(std::int64_t done, std::int64_t total)> on_progress{};
};

/// Predicts a part; all ranks must call it. DataError on an unreadable image.
/// @param hashes gets those of the part's pixels
[[nodiscard]] score::EvalSet predict_part(const train::Ranks& ranks, train::LoadedModel& model,
                                          const data::Dataset& dataset, const score::Part& part,
                                          data::PixelHashes& hashes, const PartOptions& options);

}  // namespace roentgen::task
