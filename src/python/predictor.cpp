// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "python/predictor.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"
#include "data/source/image_list.h"
#include "publish/heatmap_files.h"
#include "python/interrupt.h"
#include "task/export_model.h"
#include "train/heatmap.h"
#include "train/predict_files.h"
#include "train/recipe.h"

namespace roentgen::python {
namespace {

// Appends the features of row `row`, (C): means over the cells of the feature map, which are the input of the last
// linear layer.
void add_features(const engine::Executable& executable, std::int64_t row, std::vector<float>& features) {
  const Shape& shape = executable.graph().node(executable.graph().output(train::kFeaturesOutput)).shape;
  const auto channels = static_cast<std::size_t>(shape[1]), cells = static_cast<std::size_t>(shape[2] * shape[3]);
  const std::span<const float> values = executable.read(train::kFeaturesOutput);
  for (std::size_t c = 0; c < channels; ++c) {
    const auto plane = values.subspan((static_cast<std::size_t>(row) * channels + c) * cells, cells);
    double sum = 0.0;
    for (const float value : plane) sum += value;
    features.push_back(static_cast<float>(sum / static_cast<double>(cells)));
  }
}

// Collects the results of one batch after the other.
class Collector {
 public:
  Collector(Predicted& predicted, const train::LoadedModel& model, Extras extras)
      : predicted_(predicted), model_(model), has_features_(extras == Extras::Features) {}

  void operator()(std::span<const train::PredictedImage> images) {
    for (const train::PredictedImage& image : images) {
      if (image.reason.empty()) {
        predicted_.probabilities.insert(predicted_.probabilities.end(), image.probabilities.begin(),
                                        image.probabilities.end());
      } else {
        predicted_.probabilities.resize(predicted_.probabilities.size() + model_.info.labels.size(), kUnread);
      }
      predicted_.reasons.push_back(image.reason);
      if (has_features_) add(image);
    }
  }

 private:
  static constexpr float kUnread = std::numeric_limits<float>::quiet_NaN();

  void add(const train::PredictedImage& image) {
    const std::size_t before = predicted_.features.size();
    add_features(*model_.executable, image.row, predicted_.features);
    if (!image.reason.empty())
      std::fill(predicted_.features.begin() + static_cast<std::ptrdiff_t>(before), predicted_.features.end(), kUnread);
  }

  Predicted& predicted_;
  const train::LoadedModel& model_;
  const bool has_features_;
};

// Progress callback that checks for an interrupt after each batch.
void interruptible(std::int64_t /*done*/) { throw_if_interrupted(); }

}  // namespace

Predictor::Predictor(PredictorOptions options)
    : options_(std::move(options)),
      engine_(engine::make_engine(options_.device)),
      weights_(task::convert_weights(options_.weights)) {
  const train::LoadedModel& model = model_for(0, false);
  preprocess_ = model.preprocess;
  dtype_ = model.executable->plan().dtype();
}

void Predictor::export_onnx(const std::filesystem::path& out, std::int64_t opset, bool is_folding) const {
  require_threads();
  task::export_model(weights_.checkpoint, {.checkpoint = options_.weights.file,
                                           .out = out,
                                           .form = "onnx",
                                           .device = options_.device,
                                           .opset = opset,
                                           .is_folding = is_folding});
}

train::LoadedModel& Predictor::model_for(std::int64_t images, bool has_features) {
  require_threads();
  const std::int64_t batch = train::batch_for(images, options_.batch);
  const auto key = std::pair(batch, has_features);
  const auto known = models_.find(key);
  if (known != models_.end()) return known->second;
  train::LoadedModel model = train::load_checkpoint(weights_.checkpoint, *engine_,
                                                    {.batch = batch,
                                                     .threads = static_cast<int>(options_.threads),
                                                     .dtype = options_.dtype,
                                                     .has_heatmaps = has_features});
  return models_.emplace(key, std::move(model)).first->second;
}

Predicted Predictor::predict_files(const std::vector<std::string>& paths, Extras extras) {
  const data::ImageList list = data::list_images(paths);
  require_threads();  // throws in a forked process, where the mutex may stay locked for ever
  const std::scoped_lock lock(mutex_);
  train::LoadedModel& model = model_for(std::ssize(list.dataset.samples), extras == Extras::Features);
  Predicted predicted;
  for (const data::Sample& sample : list.dataset.samples) predicted.images.push_back(sample.path.string());
  train::predict_files(*model.executable, list.dataset,
                       {.preprocess = preprocess_,
                        .loss = info().loss,
                        .workers = train::decode_workers({.workers = options_.workers}),
                        .on_progress = interruptible},
                       Collector(predicted, model, extras));
  return predicted;
}

Predicted Predictor::predict_images(std::span<const data::Image> images, Extras extras) {
  require_threads();
  const std::scoped_lock lock(mutex_);
  train::LoadedModel& model = model_for(std::ssize(images), extras == Extras::Features);
  Predicted predicted;
  train::predict_images(*model.executable, images,
                        {.preprocess = preprocess_, .loss = info().loss, .on_progress = interruptible},
                        Collector(predicted, model, extras));
  return predicted;
}

PictureMap Predictor::heatmap(const std::string& path, const std::string& finding) {
  const auto label = std::ranges::find(info().labels, finding);
  if (label == info().labels.end()) {
    throw ConfigError(
        error_text("python.model", "finding", "a label of the checkpoint", finding, "one of Model.labels"));
  }
  const auto index = label - info().labels.begin();
  const data::ImageList list = data::list_images({path});
  if (list.dataset.samples.size() != 1) {
    throw ConfigError(error_text("python.model", "path " + path, "one image",
                                 std::to_string(list.dataset.samples.size()) + " images", "the path of an image file"));
  }
  require_threads();
  const std::scoped_lock lock(mutex_);
  train::LoadedModel& model = model_for(1, true);
  train::HeatMapper mapper(*model.executable, *model.heat);
  publish::Picture picture(data::parse_intensity(preprocess_.intensity));
  PictureMap result{.method = std::string(train::name_of(mapper.head().method))};
  const auto add = [&](std::span<const train::PredictedImage> images) {
    const train::PredictedImage& image = images.front();
    if (!image.reason.empty()) throw DataError(image.reason);
    result.probability = image.probabilities[static_cast<std::size_t>(index)];
    if (const Status status = picture.load(list.dataset.samples.front()); !status) throw DataError(status.error());
    result.map = picture.map_back(mapper.map(image.row, index), preprocess_);
    result.gray = picture.gray();
  };
  train::predict_files(*model.executable, list.dataset, {.preprocess = preprocess_, .loss = info().loss}, add);
  return result;
}

}  // namespace roentgen::python
