// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Exports a checkpoint for other programs, with its model card; shared by `roentgen export` and Python's export_onnx().
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "io/onnx.h"
#include "publish/model_card.h"
#include "train/load_checkpoint.h"

namespace roentgen::task {

/// Form and places of an export.
struct ExportOptions {
  std::filesystem::path checkpoint{};       ///< file that training wrote
  std::filesystem::path out{};              ///< file to write; the card goes beside it as FILE.md
  std::string form{};                       ///< "onnx" or "safetensors"; empty: by the ending of `out`
  std::filesystem::path evaluation{};       ///< JSON of `roentgen eval`, for the card; empty: none
  std::filesystem::path points{};           ///< points of `roentgen eval`, for their temperature; empty: none
  std::string device = "auto";              ///< argument of engine::make_engine()
  std::int64_t opset = io::kOnnxMostOpset;  ///< ONNX operator set
  bool is_folding = false;                  ///< onnx: batch norms become part of the convolutions before them
  std::int64_t channels = 0;    ///< safetensors: 3 unfolds the first convolution of a gray network; 0: as it is
  bool keeps_patients = false;  ///< safetensors: with the salted hashes of the training patients

  /// File of the model card.
  [[nodiscard]] std::filesystem::path card() const { return out.string() + ".md"; }
  /// data.json of the run that the checkpoint lies in; empty where it lies elsewhere.
  [[nodiscard]] std::filesystem::path run_data() const;
};

/// Form that the options name. ConfigError for an unknown form, or an option that the form does not have.
[[nodiscard]] std::string export_form(const ExportOptions& options);

/// Writes the file and its card, each atomically. Returns the content of the card. Throws ConfigError as export_form(),
/// train::load_checkpoint() and publish::to_onnx(). Throws ConfigError also for an output that would replace an input,
/// a file of the checkpoint's run or one in the run's data folders. Throws DataError for files that cannot be read or
/// written.
publish::CardInput export_model(const ExportOptions& options);
/// Exports a checkpoint in memory; ExportOptions::checkpoint names its file. Throws as the overload above.
publish::CardInput export_model(const train::Checkpoint& checkpoint, const ExportOptions& options);

}  // namespace roentgen::task
