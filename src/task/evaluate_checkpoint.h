// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// A checkpoint on a part of a data set: the data as its recipe reads them, the check for patients trained on, and the
// predictions. What `roentgen eval` and Run.evaluate() of Python share.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/dataset.h"
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

/// Result of a check for patients that were trained on. One of `leak` and `clean` is empty.
struct PatientCheck {
  std::string leak{};   ///< eval::leak_text()
  std::string clean{};  ///< eval::clean_check_text()
  std::string doubt{};  ///< eval::similar_patients_text(); empty: none
};

/// Compares the patients of a part with those trained on, by salted hashes.
[[nodiscard]] PatientCheck check_patients(const train::CheckpointInfo& info, const data::Dataset& dataset,
                                          const score::Part& part);

/// How predict_part() predicts.
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
