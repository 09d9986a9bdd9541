// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Description of a checkpoint, and its conversion to the string map of a safetensors file. docs/reference/formats has
// the keys.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/value.h"
#include "data/source/dataset.h"

namespace roentgen::train {

/// One split of the data set as it was when the model was trained.
struct SplitRecord {
  /// Name of the split: "train", "val" or "test".
  std::string split;
  std::int64_t images = 0;    ///< number of images in the split
  std::int64_t patients = 0;  ///< number of distinct known patients
  /// Result of io::name_list_sha256 for the base names of the split's images.
  std::string list_sha256;
  friend bool operator==(const SplitRecord&, const SplitRecord&) = default;
};

/// Describes one split: "30 images of 12 patients, list 0123456789ab". Returns "no images" if `splits` has no split of
/// this name.
[[nodiscard]] std::string split_text(const std::vector<SplitRecord>& splits, std::string_view name);

/// Metadata of best.safetensors and resume.safetensors. Plain value.
struct CheckpointInfo {
  /// Names of the K labels, in the order of the logits.
  std::vector<std::string> labels;
  /// data::Preprocess as a table. It alone defines how an image becomes the network's input.
  Value preprocess;
  /// "sigmoid" or "softmax": how logits become probabilities.
  std::string loss = "sigmoid";
  /// Recipe with all defaults filled in, as TOML.
  std::string recipe;
  /// Text of the model without its loss, by graph::print_graph_any_batch.
  std::string graph;
  /// Salted hashes of the training patients (data::patient_hashes), sorted.
  std::vector<std::string> training_patients;
  std::string patient_salt;       ///< salt of the patient hashes
  std::string patient_namespace;  ///< value of data::Dataset::patient_namespace
  /// Hashes of the pixels of the training images (data::pixel_hash_text), sorted. Empty if an older version wrote the
  /// file.
  std::vector<std::string> training_pixels{};
  std::vector<SplitRecord> splits;  ///< splits that have images, among train, val and test
  /// Rule that drew the splits. Files written before this key existed mean SplitRule::Written.
  data::SplitRule split_rule = data::SplitRule::Normal;
  /// Number of updates made.
  std::int64_t step = 0;
  std::int64_t epoch = 0;  ///< number of finished epochs
  /// Metric that selected the best epoch, "auroc" or "loss"; empty if the run had no validation.
  std::string metric;
  double metric_value = 0.0;  ///< value of `metric` in that epoch
  friend bool operator==(const CheckpointInfo&, const CheckpointInfo&) = default;
};

/// Converts to the metadata of a safetensors file. Its key "format" is kCheckpointFormat.
[[nodiscard]] std::map<std::string, std::string> to_metadata(const CheckpointInfo& info);
/// Parses the metadata. Fails with an error that names the file and the key, also for files that are not Roentgen
/// checkpoints.
/// @param remedy advice for the error message; it depends on the purpose of the file
Result<CheckpointInfo> from_metadata(const std::map<std::string, std::string>& metadata, std::string_view what,
                                     std::string_view remedy = "a checkpoint that roentgen train wrote");

inline constexpr std::string_view kCheckpointFormat = "roentgen-1";  ///< value of the key "format"

}  // namespace roentgen::train
