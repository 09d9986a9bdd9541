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

/// Settings of an export.
struct ExportOptions {
  std::filesystem::path checkpoint{};       ///< checkpoint written by training
  std::filesystem::path out{};              ///< file to write; the model card is FILE.md in the same folder
  std::string form{};                       ///< "onnx" or "safetensors"; if empty, chosen by the suffix of `out`
  std::filesystem::path evaluation{};       ///< JSON of `roentgen eval` for the model card; may be empty
  std::filesystem::path points{};           ///< operating points of `roentgen eval`, for the temperature; may be empty
  std::string device = "auto";              ///< argument of engine::make_engine()
  std::int64_t opset = io::kOnnxMostOpset;  ///< version of the ONNX operator set
  bool is_folding = false;                  ///< onnx: fold batch norms into the convolutions before them
  std::int64_t channels = 0;    ///< safetensors: 3 converts a gray network to three input channels; 0 keeps the number
  bool keeps_patients = false;  ///< safetensors: include the salted hashes of the training patients

  /// Path of the model card.
  [[nodiscard]] std::filesystem::path card() const { return out.string() + ".md"; }
  /// Path of data.json of the run that contains the checkpoint; empty if the checkpoint is not in a run folder.
  [[nodiscard]] std::filesystem::path run_data() const;
};

/// Returns the output format that the options select, "onnx" or "safetensors". Throws ConfigError for an unknown
/// format, or an option that the format does not support.
[[nodiscard]] std::string export_form(const ExportOptions& options);

/// Writes the file and its model card, each atomically. Returns the contents of the card. Throws ConfigError as
/// export_form(), train::load_checkpoint() and publish::to_onnx() do. Throws ConfigError also if the output would
/// replace an input file, a file of the checkpoint's run, or a file in the run's data folders. Throws DataError if
/// files cannot be read or written.
publish::CardInput export_model(const ExportOptions& options);
/// Exports a checkpoint in memory; ExportOptions::checkpoint is only its file name. Throws as the overload above does.
publish::CardInput export_model(const train::Checkpoint& checkpoint, const ExportOptions& options);

}  // namespace roentgen::task
