// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The network of the cases that compute: its options, compiled for training or inference, and its training step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/value.h"
#include "data/stage/batch.h"
#include "graph/graph.h"
#include "train/optimizer/optimizer.h"

namespace roentgen::engine {
struct ChoiceInputs;
class Engine;
class Executable;
struct MeasuredChoice;
struct Plan;
}  // namespace roentgen::engine

namespace roentgen::bench {

/// A network, options for compiling it, and the number of runs.
struct NetworkOptions {
  /// Name of a model of models/model_list.h; sizes as in models::ModelConfig.
  std::string model = "resnet50";
  /// Graph that replaces the model of that name; its sizes must be these.
  std::optional<graph::Graph> graph{};
  std::int64_t batch = 16;
  std::int64_t image_px = 224;
  std::int64_t channels = 3;
  std::int64_t labels = 14;
  /// Warm-up steps and measured steps; at least 0 and 1.
  std::int64_t warmup = 3;
  std::int64_t steps = 10;
  /// Compute threads; 0 = runtime::default_compute_threads().
  int threads = 0;
  /// Device for engine::make_engine().
  std::string device = "cpu";
  /// Several ranks may compute on one device (train::require_own_device()).
  bool may_share_device = false;
  /// Graph passes, as engine::CompileOptions::fuse.
  std::string fuse = "on";
  /// Convolution kernels, as engine::CompileOptions::algorithms.
  std::string algorithms = "auto";
  /// Dtype of activations and products, as engine::CompileOptions::dtype.
  std::string dtype = "f32";
  /// Values that backward computes again, as engine::CompileOptions::recompute.
  std::string recompute = "auto";
  /// Adds the per-kind table `profile`.
  bool has_profile = false;
};

/// Returns `options` with the default number of threads for 0. ConfigError on warm-up, steps and threads out of range.
[[nodiscard]] NetworkOptions checked(NetworkOptions options);

/// Compute threads, and batches that can be filled ahead.
struct StepTeam {
  int threads = 1;
  int slots = 2;
  /// Gradients that become ready together.
  std::size_t bucket_bytes = std::size_t{4} << 20U;
  /// Inputs of the choice of kernels; null: this machine and these threads.
  const engine::ChoiceInputs* choice = nullptr;
};

/// Compiles the model that the options name, or their graph, with a sigmoid loss and drawn weights. Every slot is
/// filled with random images, of Engine::slot_dtype() as in training, and labels, and slot 0 is bound. Throws
/// ConfigError on a graph of other sizes, and the errors of compile().
[[nodiscard]] std::unique_ptr<engine::Executable> compile_step(const NetworkOptions& options, engine::Engine& engine,
                                                               StepTeam team);

/// Table of `case` and of the options in `names`, by the names that results use. These are model, batch, image_px,
/// channels, labels, threads, device, fuse, algorithms, dtype, recompute, warmup, n.
[[nodiscard]] Value settings_of(std::string_view case_name, const NetworkOptions& options,
                                std::initializer_list<std::string_view> names);

/// The plan of compile_step() with this batch, without its memory.
[[nodiscard]] engine::Plan plan_step(const NetworkOptions& options, engine::Engine& engine, StepTeam team);

/// Engine::measure_choices() of that network.
[[nodiscard]] std::vector<engine::MeasuredChoice> measure_step_choices(const NetworkOptions& options,
                                                                       engine::Engine& engine, StepTeam team);

/// The model compiled for inference: without loss and labels; one slot. Running statistics are drawn as well, so that
/// batch norms do something.
[[nodiscard]] std::unique_ptr<engine::Executable> compile_inference(const NetworkOptions& options,
                                                                    engine::Engine& engine, int threads);
/// Plans inference without allocating its memory.
[[nodiscard]] engine::Plan plan_inference(const NetworkOptions& options, engine::Engine& engine, int threads);

/// Slots 0 to `count` - 1 of a compiled network, for a Loader. Labels, which a benchmark's images need not have, go
/// into `labels`, which outlives the slots; the loss sees those that were drawn.
[[nodiscard]] std::vector<data::BatchSlot> batch_slots(engine::Executable& executable, int count,
                                                       std::size_t label_count,
                                                       std::vector<std::vector<float>>& labels);

/// Training steps of a compiled network with SGD with momentum. One thread.
class SgdSteps {
 public:
  /// `executable`, compiled for training, outlives it.
  explicit SgdSteps(engine::Executable& executable, double lr = 1e-4);

  /// Runs forward, backward and update on the slot that is bound. Returns the seconds of the update.
  double run();
  /// Loss of the last step. DataError when it is not finite.
  [[nodiscard]] float loss() const;
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::size_t state_bytes() const { return optimizer_.state_bytes(); }

 private:
  engine::Executable& executable_;
  train::Optimizer optimizer_;
  std::vector<engine::UpdateRange> ranges_;
  double lr_;
  std::int64_t count_ = 0;
};

}  // namespace roentgen::bench
