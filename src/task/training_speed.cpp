// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "task/training_speed.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/stage/loader.h"
#include "engine/engine.h"
#include "graph/loss.h"
#include "task/model.h"
#include "train/optimizer/optimizer.h"
#include "train/predict.h"
#include "train/recipe.h"

namespace roentgen::task {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSlots = 3;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::unique_ptr<engine::Executable> compile(const train::Recipe& recipe, const data::Dataset& dataset, int threads) {
  const graph::Graph model = make_model(recipe.model, {.batch = recipe.train.batch,
                                                       .channels = recipe.preprocess.channels,
                                                       .image_px = recipe.preprocess.size_px,
                                                       .labels = std::ssize(dataset.label_names)});
  const graph::LossConfig loss = train::loss_config(recipe.loss, dataset.summary(data::Split::Train));
  const std::unique_ptr<engine::Engine> engine = engine::make_engine(recipe.train.device);
  engine::CompileOptions options{.threads = threads,
                                 .slots = kSlots,
                                 .input_norm = train::input_norm(recipe.preprocess, *engine),
                                 .fuse = recipe.train.fuse,
                                 .algorithms = engine::parse_algorithms(recipe.train.algorithms),
                                 .dtype = engine::parse_dtype(recipe.train.dtype),
                                 .recompute = recipe.train.recompute};
  auto executable = engine->compile(graph::with_loss(model, loss), options);
  engine::initialise(*executable, static_cast<std::uint64_t>(recipe.train.seed));
  return executable;
}

data::LoaderOptions loader_options(const train::Recipe& recipe, DType dtype) {
  data::LoaderOptions options;
  options.shard = {.batch = recipe.train.batch, .tail = data::parse_tail(recipe.train.tail)};
  options.workers = train::decode_workers(recipe.train);
  options.seed = static_cast<std::uint64_t>(recipe.train.seed);
  options.preprocess = recipe.preprocess;
  options.augment = recipe.augment;
  options.dtype = dtype;
  options.max_bad_share = 1.0;  // unreadable images do not stop a speed measurement
  return options;
}

// Measures the images per second of decoding without training.
double decoding_speed(data::Loader& loader, const SpeedLimits& limits) {
  const auto start = Clock::now();
  std::int64_t images = 0;
  for (std::int64_t i = 0; i < limits.most_batches; ++i) {
    const std::optional<data::Batch> batch = loader.next();
    if (!batch) break;
    images += batch->valid;
    loader.release(batch->slot);
    if (limits.on_step) limits.on_step();
    if (seconds_since(start) >= limits.decoding_s) break;
  }
  return static_cast<double>(images) / seconds_since(start);
}

/// Runs updates of an executable with the present contents of its slots. The learning rate is 0, so weights do not
/// change.
class Updates {
 public:
  Updates(engine::Executable& executable, const train::OptimizerRecipe& recipe)
      : executable_(executable),
        optimizer_(recipe.name, recipe.rules, executable),
        ranges_{{.begin = 0, .count = executable.parameters().elements(), .weight_decay = recipe.weight_decay}} {}

  void make(int slot) {
    executable_.bind_slot(slot);
    executable_.set_step(count_);
    executable_.begin_update();
    executable_.forward();
    executable_.backward({});
    optimizer_.apply({.ranges = ranges_, .lr = 0.0, .step = ++count_}, executable_.gradients());
    static_cast<void>(executable_.read("loss"));  // waits for the device
  }

 private:
  engine::Executable& executable_;
  train::Optimizer optimizer_;
  std::vector<engine::UpdateRange> ranges_;
  std::int64_t count_ = 0;
};

}  // namespace

double median_update_s(std::span<const double> seconds) {
  RG_ASSERT(!seconds.empty());
  constexpr std::size_t kSpans = 9;
  const std::size_t length = std::max<std::size_t>(seconds.size() / kSpans, 1), spans = seconds.size() / length;
  std::vector<double> means;
  for (std::size_t i = 0; i < spans; ++i) {
    const std::span<const double> part = seconds.subspan(i * length, length);
    means.push_back(std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(length));
  }
  std::ranges::sort(means);
  return (means[(spans - 1) / 2] + means[spans / 2]) / 2.0;
}

TrainingSpeed measure_training_speed(const train::Recipe& recipe, const data::Dataset& dataset,
                                     const SpeedLimits& limits) {
  TrainingSpeed speed{.threads = train::compute_threads(recipe.train)};
  const auto executable = compile(recipe, dataset, speed.threads);
  const bool is_class = recipe.loss.name == "softmax";
  const train::SlotMemory memory(*executable, kSlots, is_class ? 1 : std::ssize(dataset.label_names));
  data::LoaderOptions options = loader_options(recipe, memory.dtype());
  if (is_class) options.label_form = data::LabelForm::ClassIndex;
  data::Loader loader(dataset, data::samples_of(dataset, data::Split::Train), std::move(options), memory.slots());
  speed.decoded_per_s = decoding_speed(loader, limits);
  Updates updates(*executable, recipe.optimizer);
  const auto start = Clock::now();
  double waiting = 0.0;
  std::vector<double> seconds;
  const auto is_over = [&](std::int64_t step) {
    return speed.updates > 0 && (step >= limits.most_updates || seconds_since(start) >= limits.training_s);
  };
  for (std::int64_t step = 0; !is_over(step); ++step) {
    const auto begin = Clock::now();
    const std::optional<data::Batch> batch = loader.next();
    if (!batch) break;
    const double waited = seconds_since(begin);
    updates.make(batch->slot);
    loader.release(batch->slot);
    if (limits.on_step) limits.on_step();
    // Skips the first updates, which use prefetched batches and touch memory for the first time.
    if (step < kSlots && seconds_since(start) < limits.training_s / 2.0) continue;
    seconds.push_back(seconds_since(begin));
    waiting += waited;
    ++speed.updates;
  }
  speed.unreadable = loader.bad_samples();
  speed.images_per_s = static_cast<double>(recipe.train.batch) / median_update_s(seconds);
  speed.wait_share = waiting / std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return speed;
}

}  // namespace roentgen::task
