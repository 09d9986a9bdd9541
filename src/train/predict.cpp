// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "core/error.h"
#include "core/foreign_text.h"
#include "data/source/dataset.h"
#include "data/stage/image_store.h"
#include "data/stage/loader.h"
#include "engine/engine.h"
#include "train/inference_loop.h"
#include "train/ranks.h"

namespace roentgen::train {
namespace {

constexpr int kSlots = 2;

std::optional<std::int64_t> input_index(const engine::Executable& executable, std::string_view name) {
  const auto& inputs = executable.inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].name == name) return static_cast<std::int64_t>(i);
  }
  return std::nullopt;
}

std::span<float> as_floats(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

// Returns the names, patients and true labels of the images, without probabilities.
eval::Predictions describe(const data::Dataset& dataset, const std::vector<std::uint32_t>& samples) {
  eval::Predictions result;
  result.label_names = dataset.label_names;
  const std::vector<std::string> hashes = data::sample_patient_hashes(dataset, samples, "");
  std::unordered_map<std::string, std::int64_t> numbers;
  std::int64_t next_number = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const data::Sample& sample = dataset.samples[samples[i]];
    result.image_ids.push_back(sample.id);
    // an image with an unknown patient counts as a separate patient
    const auto [entry, is_new] = numbers.try_emplace(hashes[i].empty() ? sample.id : hashes[i], next_number);
    if (is_new) ++next_number;
    result.patients.push_back(entry->second);
    for (const float label : sample.labels) {
      result.labels.push_back(std::isnan(label) ? eval::kUnknown : static_cast<std::int8_t>(label > 0.5F ? 1 : 0));
    }
  }
  result.probabilities.reserve(result.labels.size());
  return result;
}

// Converts the first `rows` rows of logits (N, K) to probabilities and appends them.
void append(std::span<const float> logits, std::int64_t rows, std::string_view loss, eval::Predictions& predictions) {
  const std::size_t K = predictions.label_names.size();
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    const std::size_t begin = predictions.probabilities.size();
    predictions.probabilities.resize(begin + K);
    to_probabilities(logits.subspan(i * K, K), loss, std::span(predictions.probabilities).subspan(begin),
                     fmt::format("image {} of the split", begin / K));
  }
}

}  // namespace

std::optional<engine::InputNorm> input_norm(const data::Preprocess& preprocess, const engine::Engine& engine) {
  if (engine.slot_dtype() == DType::F32) return std::nullopt;
  return engine::InputNorm{.dtype = engine.slot_dtype(), .mean = preprocess.mean, .stddev = preprocess.stddev};
}

SlotMemory::SlotMemory(engine::Executable& owner, int slots, std::int64_t label_columns) {
  const auto image = input_index(owner, "image");
  if (!image)
    throw ConfigError(error_text("train.predict", owner.graph().name(), "an input named image", "none",
                                 "renaming the input in the graph text"));
  const engine::InputSpec& spec = owner.inputs()[static_cast<std::size_t>(*image)];
  batch_ = spec.shape[0];
  dtype_ = spec.dtype;
  const auto memory = [&](const char* name, int slot) -> std::span<float> {
    if (const auto index = input_index(owner, name)) return as_floats(owner.slot(*index, slot));
    return own_.emplace_back(static_cast<std::size_t>(batch_ * label_columns));
  };
  for (int slot = 0; slot < slots; ++slot) {
    slots_.push_back(
        {.images = owner.slot(*image, slot), .labels = memory("labels", slot), .mask = memory("mask", slot)});
  }
}

data::LoaderOptions prediction_loading(const SlotMemory& memory, const PredictOptions& options, data::LoadMode mode) {
  data::LoaderOptions loading;
  loading.mode = mode;
  loading.shard = {.batch = memory.batch(), .tail = data::Tail::Pad};
  loading.workers = options.workers;
  loading.most_readers = options.most_readers;
  loading.cores = options.cores;
  loading.epochs = 1;
  loading.preprocess = options.preprocess;
  loading.dtype = memory.dtype();
  loading.cache = options.cache;
  loading.pixel_hashes = options.pixel_hashes;
  return loading;
}

void to_probabilities(std::span<const float> logits, std::string_view loss, std::span<float> probabilities,
                      std::string_view image) {
  RG_ASSERT(logits.size() == probabilities.size() && !logits.empty());
  const auto bad = std::ranges::find_if_not(logits, [](float logit) { return std::isfinite(logit); });
  if (bad != logits.end()) {
    throw DataError(error_text("train.predict", image, "finite outputs of the network", fmt::to_string(*bad),
                               "other weights, or training with a lower optimizer.lr or with train.clip_norm"));
  }
  if (loss != "softmax") {
    std::transform(logits.begin(), logits.end(), probabilities.begin(),
                   [](float logit) { return static_cast<float>(1.0 / (1.0 + std::exp(-static_cast<double>(logit)))); });
    return;
  }
  const auto largest = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  std::transform(logits.begin(), logits.end(), probabilities.begin(),
                 [&](float logit) { return static_cast<float>(std::exp(static_cast<double>(logit) - largest) / sum); });
}

namespace {

// Inference over all samples, repeated for each augmented view.
class Pass {
 public:
  Pass(engine::Executable& executable, const data::Dataset& dataset, const std::vector<std::uint32_t>& samples,
       const PredictOptions& options)
      : executable_(executable),
        dataset_(dataset),
        samples_(samples),
        options_(options),
        has_loss_(executable.graph().output("loss") >= 0),
        wants_class_(options.loss == "softmax" && has_loss_),
        memory_(executable, kSlots, wants_class_ ? 1 : static_cast<std::int64_t>(dataset.label_names.size())) {}

  // Appends the probabilities of one view; progress starts at `done` images.
  void run(const std::optional<data::AugmentDraw>& view, std::int64_t done, eval::Predictions& predictions);

  [[nodiscard]] std::vector<BatchLoss>& losses() { return losses_; }
  [[nodiscard]] const data::LoaderStats& stats() const { return stats_; }

 private:
  engine::Executable& executable_;
  const data::Dataset& dataset_;
  const std::vector<std::uint32_t>& samples_;
  const PredictOptions& options_;
  bool has_loss_;
  bool wants_class_;
  SlotMemory memory_;
  std::vector<BatchLoss> losses_;
  data::LoaderStats stats_;
};

void Pass::run(const std::optional<data::AugmentDraw>& view, std::int64_t done, eval::Predictions& predictions) {
  const std::vector<data::BatchSlot> slots = memory_.slots();
  data::LoaderOptions loading = prediction_loading(memory_, options_, data::LoadMode::Evaluation);
  loading.label_form = wants_class_ ? data::LabelForm::ClassIndex : data::LabelForm::MultiLabel;
  loading.view = view;
  data::Loader loader(dataset_, samples_, loading, slots);
  struct Rows {
    std::int64_t valid = 0;
    double known = 0.0;  // number of known labels
  };
  const auto describe = [&](const data::Batch& batch) {
    Rows rows{.valid = batch.valid};
    for (const float mask : slots[static_cast<std::size_t>(batch.slot)].mask) rows.known += static_cast<double>(mask);
    return rows;
  };
  run_inference(executable_, loader, describe, [&](const Rows& rows) {
    append(executable_.read("logits"), rows.valid, options_.loss, predictions);
    if (has_loss_) {
      losses_.push_back({.loss = static_cast<double>(executable_.read("loss")[0]), .known = rows.known});
    }
    done += rows.valid;
    if (options_.on_progress) options_.on_progress(done);
  });
  stats_ = loader.stats();
}

double mean_loss(const std::vector<BatchLoss>& losses) {
  double sum = 0.0;
  double known = 0.0;
  for (const BatchLoss& batch : losses) {
    sum += batch.loss * batch.known;
    known += batch.known;
  }
  return known > 0.0 ? sum / known : 0.0;
}

bool is_plain(const std::vector<data::AugmentDraw>& views) {
  return views.empty() || (views.size() == 1 && views[0] == data::AugmentDraw{});
}

}  // namespace

PredictResult predict(engine::Executable& executable, const data::Dataset& dataset,
                      const std::vector<std::uint32_t>& samples, const PredictOptions& options) {
  PredictResult result;
  result.predictions = describe(dataset, samples);
  Pass pass(executable, dataset, samples, options);
  if (is_plain(options.views)) {
    pass.run(std::nullopt, 0, result.predictions);
  } else {
    std::vector<double> sums(result.predictions.labels.size(), 0.0);
    std::vector<float>& probabilities = result.predictions.probabilities;
    for (std::size_t i = 0; i < options.views.size(); ++i) {
      probabilities.clear();
      pass.run(options.views[i], static_cast<std::int64_t>(i * samples.size()), result.predictions);
      for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += static_cast<double>(probabilities[k]);
    }
    const auto count = static_cast<double>(options.views.size());
    std::transform(sums.begin(), sums.end(), probabilities.begin(),
                   [&](double sum) { return static_cast<float>(sum / count); });
  }
  result.losses = std::move(pass.losses());
  result.loss = mean_loss(result.losses);
  result.loader = pass.stats();
  return result;
}

PredictResult predict(const Ranks& ranks, engine::Executable& executable, const data::Dataset& dataset,
                      const std::vector<std::uint32_t>& samples, const PredictOptions& options) {
  if (ranks.size() == 1) return predict(executable, dataset, samples, options);
  const auto image = static_cast<std::size_t>(input_index(executable, "image").value_or(0));
  const auto batch = static_cast<std::size_t>(executable.inputs()[image].shape[0]);
  const auto N = static_cast<std::size_t>(ranks.size());
  const std::size_t batches = (samples.size() + batch - 1) / batch;
  const auto first_of = [&](std::size_t rank) { return std::min(samples.size(), rank * batches / N * batch); };
  const auto rank = static_cast<std::size_t>(ranks.rank());
  const std::vector<std::uint32_t> own(samples.begin() + static_cast<std::ptrdiff_t>(first_of(rank)),
                                       samples.begin() + static_cast<std::ptrdiff_t>(first_of(rank + 1)));
  PredictOptions shared = options;
  if (options.on_progress) {  // estimates the progress of all ranks from this rank
    shared.on_progress = [&](std::int64_t done) {
      options.on_progress(std::min(done * std::int64_t{ranks.size()}, std::ssize(samples)));
    };
  }
  PredictResult mine;
  if (!own.empty()) mine = predict(executable, dataset, own, shared);

  PredictResult result;
  result.predictions = describe(dataset, samples);
  result.loader = mine.loader;
  constexpr dist::Phase kPhase{.name = "predictions"};
  for (const auto& values : ranks.gather_values<float>(mine.predictions.probabilities, kPhase)) {
    result.predictions.probabilities.insert(result.predictions.probabilities.end(), values.begin(), values.end());
  }
  const auto losses = ranks.gather_values<BatchLoss>(mine.losses, kPhase);
  // Add losses in the order that one process would use: all batches of each view in turn.
  const std::size_t views = is_plain(options.views) ? 1 : options.views.size();
  for (std::size_t view = 0; view < views; ++view) {
    for (const std::vector<BatchLoss>& theirs : losses) {
      const auto part = static_cast<std::ptrdiff_t>(theirs.size() / views);
      const auto begin = theirs.begin() + static_cast<std::ptrdiff_t>(view) * part;
      result.losses.insert(result.losses.end(), begin, begin + part);
    }
  }
  result.loss = mean_loss(result.losses);
  return result;
}

std::string predictions_header(const std::vector<std::string>& labels) {
  std::string text = "Image Index";
  for (const std::string& label : labels) text += "," + csv_field("prob_" + label);
  return text + "\n";
}

std::string predictions_rows(const eval::Predictions& predictions) {
  std::string text;
  const std::size_t K = predictions.label_names.size();
  for (std::size_t i = 0; i < predictions.image_ids.size(); ++i) {
    text += csv_field(predictions.image_ids[i]);
    for (std::size_t k = 0; k < K; ++k) text += fmt::format(",{:.9g}", predictions.probabilities[i * K + k]);
    text += "\n";
  }
  return text;
}

std::string predictions_csv(const eval::Predictions& predictions) {
  return predictions_header(predictions.label_names) + predictions_rows(predictions);
}

}  // namespace roentgen::train
