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

/// One split as it was when the model was trained.
struct SplitRecord {
  /// "train", "val", "test".
  std::string split;
  std::int64_t images = 0;    ///< images in it
  std::int64_t patients = 0;  ///< distinct known patients
  /// io::name_list_sha256 of its base names.
  std::string list_sha256;
  friend bool operator==(const SplitRecord&, const SplitRecord&) = default;
};

/// Describes one split: "30 images of 12 patients, list 0123456789ab", or "no images" where `splits` has none of that
/// name.
[[nodiscard]] std::string split_text(const std::vector<SplitRecord>& splits, std::string_view name);

/// Metadata of best.safetensors and resume.safetensors. Plain value.
struct CheckpointInfo {
  /// (K) label names, in the order of the logits.
  std::vector<std::string> labels;
  /// data::Preprocess as a table: the one definition of the network's input.
  Value preprocess;
  /// "sigmoid" or "softmax": how logits become probabilities.
  std::string loss = "sigmoid";
  /// Resolved recipe, TOML.
  std::string recipe;
  /// graph::print_graph_any_batch of the model, without loss.
  std::string graph;
  /// Salted hashes of the training patients (data::patient_hashes), sorted, with their salt.
  std::vector<std::string> training_patients;
  std::string patient_salt;       ///< salt of the hashes
  std::string patient_namespace;  ///< data::Dataset::patient_namespace
  /// Hashes of the images trained on (data::pixel_hash_text), sorted; empty in older files, which have none.
  std::vector<std::string> training_pixels{};
  std::vector<SplitRecord> splits;  ///< train, val and test, those that have images
  /// Rule by which the splits were drawn. Files written before the rule existed mean SplitRule::Written.
  data::SplitRule split_rule = data::SplitRule::Normal;
  /// Updates made and epochs finished.
  std::int64_t step = 0;
  std::int64_t epoch = 0;  ///< epochs finished
  /// Figure that selected the epoch, "auroc" or "loss"; empty without validation.
  std::string metric;
  double metric_value = 0.0;  ///< value of `metric_name` in that epoch
  friend bool operator==(const CheckpointInfo&, const CheckpointInfo&) = default;
};

/// Metadata of a safetensors file; key "format" is kCheckpointFormat.
[[nodiscard]] std::map<std::string, std::string> to_metadata(const CheckpointInfo& info);
/// Parses the metadata. Failure naming file and key; names files that are no checkpoint of Roentgen.
/// @param remedy step to try, for the error; it depends on the purpose of the file
Result<CheckpointInfo> from_metadata(const std::map<std::string, std::string>& metadata, std::string_view what,
                                     std::string_view remedy = "a checkpoint as roentgen train wrote it");

inline constexpr std::string_view kCheckpointFormat = "roentgen-1";  ///< value of the key "format"

}  // namespace roentgen::train
