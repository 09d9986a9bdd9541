// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Predictor: a network that predicts images from files or memory, and draws heat-maps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "data/image.h"
#include "data/source/dataset.h"
#include "engine/engine.h"
#include "eval/heatmap.h"
#include "python/core/process.h"
#include "task/convert_weights.h"
#include "train/load_checkpoint.h"

namespace roentgen::python {

/// Settings of a Predictor.
struct PredictorOptions {
  task::ForeignWeights weights{};  ///< a checkpoint, or weights of another program
  std::string device = "auto";     ///< argument of engine::make_engine()
  std::string dtype = "f32";       ///< argument of engine::parse_dtype()
  std::int64_t batch = 32;         ///< largest batch size
  std::int64_t threads = 0;        ///< compute threads; 0: all cores
  std::int64_t workers = 0;        ///< decoding threads; 0: chosen from the number of cores
};

/// Predictions for N images and K labels.
struct Predicted {
  std::vector<std::string> images;   ///< (N) paths as given, or relative to a given folder; empty for images in memory
  std::vector<float> probabilities;  ///< (N, K); NaN where the image could not be read
  std::vector<float> features;       ///< (N, C) if requested, else empty
  std::vector<std::string> reasons;  ///< (N) reason why the image could not be read; empty if it was read
};

/// A heat-map, and the picture to which it belongs.
struct PictureMap {
  eval::HeatMap map;               ///< a value for each pixel of the picture
  std::vector<std::uint8_t> gray;  ///< gray levels of the picture, (height_px, width_px)
  float probability = 0.0F;        ///< predicted probability of the finding
  std::string method;              ///< name of the train::HeatMethod
};

/// Values that predict() returns besides probabilities.
enum class Extras : std::uint8_t { None, Features };

/// Thread-safe: calls are executed one after the other. Throws in a process forked from one that has computed.
class Predictor {
 public:
  /// Throws ConfigError as task::convert_weights() and train::load_checkpoint() do.
  explicit Predictor(PredictorOptions options);

  [[nodiscard]] const train::CheckpointInfo& info() const { return weights_.checkpoint.info; }  ///< metadata
  [[nodiscard]] const data::Preprocess& preprocess() const { return preprocess_; }              ///< the network's input
  [[nodiscard]] const std::string& dtype() const { return dtype_; }  ///< type of the computation, such as "bf16"
  /// Assumptions about weights of another program (task::ConvertedWeights::notes).
  [[nodiscard]] const std::vector<std::string>& notes() const { return weights_.notes; }
  /// Writes the network as an ONNX file with its model card. Throws as task::export_model() does.
  void export_onnx(const std::filesystem::path& out, std::int64_t opset, bool is_folding) const;
  /// Predicts files, as `roentgen predict` does. Throws as data::list_images() and train::predict_files() do, and at an
  /// interrupt.
  /// @param paths files and folders
  [[nodiscard]] Predicted predict_files(const std::vector<std::string>& paths, Extras extras);
  /// Predicts decoded images. Throws as train::predict_images() does, and at an interrupt.
  [[nodiscard]] Predicted predict_images(std::span<const data::Image> images, Extras extras);
  /// Draws a heat-map of a finding for one file. Throws ConfigError for a label that the checkpoint lacks, and
  /// DataError for a file that cannot be read.
  [[nodiscard]] PictureMap heatmap(const std::string& path, const std::string& finding);

 private:
  [[nodiscard]] train::LoadedModel& model_for(std::int64_t images, bool has_features);

  const PredictorOptions options_;
  const std::unique_ptr<engine::Engine> engine_;
  const task::ConvertedWeights weights_;
  data::Preprocess preprocess_;
  std::string dtype_;
  std::mutex mutex_;
  // Compiled networks, by batch size and by whether they return features.
  std::map<std::pair<std::int64_t, bool>, train::LoadedModel> models_;
};

}  // namespace roentgen::python
