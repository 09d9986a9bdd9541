// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Network for benchmark cases that compute: its options, compilation for training or inference, and training steps.
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

/// A network, options for compiling it, and the number of steps to run.
struct NetworkOptions {
  /// Name of a model in models/model_list.h. Sizes have the meanings of models::ModelConfig.
  std::string model = "resnet50";
  /// Graph to use instead of the model; its sizes must equal those of this struct.
  std::optional<graph::Graph> graph{};
  std::int64_t batch = 16;
  std::int64_t image_px = 224;
  std::int64_t channels = 3;
  std::int64_t labels = 14;
  /// Number of warm-up steps, at least 0.
  std::int64_t warmup = 3;
  std::int64_t steps = 10;
  /// Number of compute threads; 0: runtime::default_compute_threads().
  int threads = 0;
  /// Device, as text for engine::make_engine().
  std::string device = "cpu";
  /// True if several ranks may compute on one device (train::require_own_device()).
  bool may_share_device = false;
  /// Graph passes: value of engine::CompileOptions::fuse.
  std::string fuse = "on";
  /// Convolution kernels: value of engine::CompileOptions::algorithms.
  std::string algorithms = "auto";
  /// Dtype of activations and products: value of engine::CompileOptions::dtype.
  std::string dtype = "f32";
  /// Values that backward recomputes: value of engine::CompileOptions::recompute.
  std::string recompute = "auto";
  /// True if the result has the table `profile`, with the time of each kind of kernel.
  bool has_profile = false;
};

/// Returns `options` with threads 0 replaced by the default number. Throws ConfigError if warm-up, steps or threads are
/// out of range.
[[nodiscard]] NetworkOptions checked(NetworkOptions options);

/// Number of compute threads and input slots for compile_step().
struct StepTeam {
  int threads = 1;
  int slots = 2;
  /// Size of a gradient bucket in bytes.
  std::size_t bucket_bytes = std::size_t{4} << 20U;
  /// Properties of the machine from which the engine selects kernels; null: properties of this machine and `threads`.
  const engine::ChoiceInputs* choice = nullptr;
};

/// Compiles the model or graph of the options for training, with a sigmoid loss and random weights. Fills every slot
/// with random images, of Engine::slot_dtype() as in training, and labels, and binds slot 0. Throws ConfigError if the
/// sizes of the graph differ from the options, and like compile().
[[nodiscard]] std::unique_ptr<engine::Executable> compile_step(const NetworkOptions& options, engine::Engine& engine,
                                                               StepTeam team);

/// Returns a table with `case` and the options in `names`. The possible names are model, batch, image_px, channels,
/// labels, threads, device, fuse, algorithms, dtype, recompute, warmup and n.
[[nodiscard]] Value settings_of(std::string_view case_name, const NetworkOptions& options,
                                std::initializer_list<std::string_view> names);

/// Returns the plan of compile_step() without allocating its memory.
[[nodiscard]] engine::Plan plan_step(const NetworkOptions& options, engine::Engine& engine, StepTeam team);

/// Returns Engine::measure_choices() for the network of compile_step().
[[nodiscard]] std::vector<engine::MeasuredChoice> measure_step_choices(const NetworkOptions& options,
                                                                       engine::Engine& engine, StepTeam team);

/// Compiles the model for inference, without loss and labels, with one slot. Running statistics are random too, so that
/// batch norms change values.
[[nodiscard]] std::unique_ptr<engine::Executable> compile_inference(const NetworkOptions& options,
                                                                    engine::Engine& engine, int threads);
/// Returns the plan of compile_inference() without allocating its memory.
[[nodiscard]] engine::Plan plan_inference(const NetworkOptions& options, engine::Engine& engine, int threads);

/// Returns slots 0 to `count` - 1 of a compiled network, for a Loader. The Loader writes its labels to `labels`, which
/// must outlive the slots, because benchmark images need no labels. The loss uses the random labels instead.
[[nodiscard]] std::vector<data::BatchSlot> batch_slots(engine::Executable& executable, int count,
                                                       std::size_t label_count,
                                                       std::vector<std::vector<float>>& labels);

/// Runs training steps of a compiled network by SGD with momentum. Not thread-safe.
class SgdSteps {
 public:
  /// `executable` must be compiled for training and outlive this object.
  explicit SgdSteps(engine::Executable& executable, double lr = 1e-4);

  /// Runs forward, backward and update on the bound slot. Returns the time of the update in seconds.
  double run();
  /// Returns the loss of the last step. Throws DataError if it is not finite.
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
