// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// PlanExecutable: the functions of an executable that need only its plan. Each engine derives a class that adds upload
// of inputs, queueing of entries, updates, and download of outputs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "engine/plan/parameter_map.h"
#include "engine/plan/plan_memory.h"
#include "engine/plan/step_runner.h"
#include "runtime/stream.h"

namespace roentgen::engine {

/// Plan, memory and parameters of an executable on one device. Not thread-safe.
class PlanExecutable : public Executable {
 public:
  [[nodiscard]] const graph::Graph& graph() const final { return graph_; }
  [[nodiscard]] const Plan& plan() const final { return plan_; }
  [[nodiscard]] runtime::Device& memory_device() const final { return device_; }
  [[nodiscard]] const std::vector<InputSpec>& inputs() const final { return inputs_; }

  [[nodiscard]] Arena& parameters() final {
    runner_->parameters_changed();
    return memory_->parameters();
  }
  [[nodiscard]] const Arena& parameters() const final { return memory_->parameters(); }
  [[nodiscard]] Arena& gradients() final { return memory_->gradients(); }
  [[nodiscard]] const Arena& gradients() const final { return memory_->gradients(); }
  [[nodiscard]] Arena& state() final {
    runner_->parameters_changed();
    return memory_->state();
  }
  [[nodiscard]] const Arena& state() const final { return memory_->state(); }
  [[nodiscard]] std::unique_ptr<Arena> make_arena(ArenaKind kind) final { return memory_->make_arena(kind); }
  [[nodiscard]] const std::vector<ParameterSlice>& slices() const final { return map_->slices(); }
  [[nodiscard]] const std::vector<Bucket>& buckets() const final { return buckets_; }

  using Executable::load;
  using Executable::store;
  [[nodiscard]] std::vector<float> store(std::int32_t parameter, const Arena& arena) const final {
    return map_->store(parameter, arena);
  }
  void load(std::int32_t parameter, std::span<const float> values, Arena& arena) const final {
    map_->load(parameter, values, arena);
  }

  [[nodiscard]] std::vector<EntryTime> profile() const final { return runner_->times(); }
  void reset_profile() final { runner_->reset_times(); }
  [[nodiscard]] double time_entry(std::int32_t entry, int repeats) override {
    return runner_->time_entry(entry, repeats);
  }

 protected:
  /// @param original graph given to compile()
  /// @param options options in which every automatic value is already resolved
  /// @param device device of the memory; must outlive this object
  PlanExecutable(const graph::Graph& original, CompileOptions options, runtime::Device& device);
  /// Takes over the plan and kernels of `builder`, which finish_plan() placed in `arenas`, and allocates their memory.
  /// Call it once, before all functions below, then bind_input() and the runner's bind(). Throws DeviceError if the
  /// device lacks memory.
  void take(PlanBuilder& builder, const Arenas& arenas);

  /// An output of the graph and the tensor that holds it.
  struct Output {
    std::string name;
    TensorId tensor = -1;
    std::size_t bytes = 0;
  };
  [[nodiscard]] const std::vector<Output>& outputs() const { return outputs_; }
  /// Returns the index of an output. Throws ConfigError if the name is unknown.
  [[nodiscard]] std::size_t output_index(std::string_view name) const;
  /// Index of the loss among the outputs; nullopt if the graph has no loss.
  [[nodiscard]] std::optional<std::size_t> loss_index() const { return loss_; }
  /// Sets the device address at which entries read input number `input`.
  void bind_input(std::size_t input, std::byte* address) { memory_->set_input(input_tensors_[input], address); }
  /// Throws ConfigError if the executable was not compiled for training.
  void require_training() const;

  [[nodiscard]] const CompileOptions& options() const { return options_; }
  [[nodiscard]] runtime::Stream& stream() const { return *stream_; }
  [[nodiscard]] const PlanMemory& memory() const { return *memory_; }
  [[nodiscard]] StepRunner& runner() { return *runner_; }

 private:
  CompileOptions options_;
  graph::Graph graph_;
  Plan plan_;
  std::vector<Bucket> buckets_;
  runtime::Device& device_;
  std::unique_ptr<runtime::Stream> stream_;
  std::optional<ParameterMap> map_;
  std::optional<PlanMemory> memory_;
  std::optional<StepRunner> runner_;
  std::vector<InputSpec> inputs_;
  std::vector<TensorId> input_tensors_;
  std::vector<Output> outputs_;
  std::optional<std::size_t> loss_;
};

}  // namespace roentgen::engine
