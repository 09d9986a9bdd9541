// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/plan/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "core/error.h"
#include "engine/cpu/choice/conv_choice.h"
#include "engine/cpu/plan/lowering.h"
#include "engine/cpu/update/flat.h"
#include "engine/cpu/update/update.h"
#include "engine/plan/finish_plan.h"
#include "engine/plan/parameter_map.h"
#include "engine/plan/plan_memory.h"
#include "engine/plan/step_runner.h"
#include "graph/passes/pass_list.h"
#include "runtime/aligned_buffer.h"
#include "runtime/cores.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "runtime/team.h"

namespace roentgen::engine::cpu {
namespace {
// Sets the team size and the denormal mode, which belong to the calling thread. A team smaller than the plan's is an
// error: kernels of oneDNN would wait for the missing members for ever.
void prepare_threads(int threads) {
  const int given = runtime::prepare_team(threads);
  if (given == threads) return;
  throw DeviceError(error_text("engine.cpu", "OpenMP team", fmt::format("{} threads, as planned", threads),
                               fmt::to_string(given), "unset OMP_THREAD_LIMIT, or fewer threads"));
}

// Lowers the graph and plans memory.
Arenas build(Lowering& lowering) {
  prepare_threads(lowering.threads());
  lowering.build();
  return finish_plan(lowering);
}

class CpuExecutable final : public Executable {
 public:
  CpuExecutable(const graph::Graph& original, const CompileOptions& options)
      : options_(settled(options)), graph_(original) {
    const graph::Graph graph = graph::run_passes(original, options_.fuse, purpose_of(options_.form));
    Lowering lowering(graph, options_, options_.threads);
    const Arenas arenas = build(lowering);
    plan_ = std::move(lowering.plan);
    buckets_ = arenas.buckets;
    runtime::require_memory("engine.cpu", plan_.memory.total(), "a smaller batch, image or model");
    map_.emplace(original, lowering, plan_);
    memory_.emplace(plan_, arenas, options_.form, *device_, *stream_);
    runner_.emplace(lowering, plan_, buckets_.size(), *device_, *stream_);
    step_state_ = lowering.take_step_state();
    take_inputs(lowering);
    for (const auto& [name, tensor] : lowering.output_tensors) {
      const std::size_t bytes = plan_.tensors[static_cast<std::size_t>(tensor)].bytes;
      outputs_[name] = {memory_->addresses().f32(tensor), bytes / sizeof(float)};
    }
    bind_slot(0);
    runner_->bind(memory_->addresses());
  }

  [[nodiscard]] const graph::Graph& graph() const override { return graph_; }
  [[nodiscard]] const Plan& plan() const override { return plan_; }
  [[nodiscard]] const std::vector<InputSpec>& inputs() const override { return inputs_; }
  [[nodiscard]] std::span<std::byte> slot(std::int64_t input, int slot) override {
    return slots_.at(static_cast<std::size_t>(slot)).at(static_cast<std::size_t>(input)).bytes();
  }
  void bind_slot(int slot) override {
    for (std::size_t i = 0; i < input_tensors_.size(); ++i) {
      memory_->set_input(input_tensors_[i], slots_.at(static_cast<std::size_t>(slot))[i].data());
    }
    runner_->bind_inputs(memory_->addresses());
  }
  void set_step(std::int64_t step) override { step_state_->step = step; }

  void forward() override {
    prepare_threads(options_.threads);
    runner_->prepare();
    runner_->forward();
    const auto loss = outputs_.find("loss");
    if (loss != outputs_.end() && !std::isfinite(loss->second.front())) is_sound_ = false;
  }
  void backward(const BucketCallback& on_bucket) override {
    if (options_.form != Form::Training) {
      throw ConfigError(error_text("engine.cpu", "backward", "an executable compiled for training", "inference"));
    }
    runner_->backward(on_bucket);
  }
  [[nodiscard]] std::span<const float> read(std::string_view name) const override {
    const auto found = outputs_.find(name);
    if (found != outputs_.end()) return found->second;
    throw ConfigError(error_text("engine.cpu", "output", "an output of the graph", name));
  }

  void begin_update() override { is_sound_ = true; }
  const runtime::Event& update(const UpdateRule& rule, const UpdateWork& work) override {
    double scale = work.scale;
    if (work.clip_norm > 0.0) {
      // Elements outside the slices are zero, so the whole arena may be summed.
      norm_ = scale * std::sqrt(sum_of_squares(work.source.host(), options_.threads));
      is_sound_ = is_sound_ && std::isfinite(norm_);
      scale *= std::min(1.0, work.clip_norm / (norm_ + 1e-6));
    }
    const UpdateCall call{.work = work, .scale = scale, .threads = options_.threads};
    if (is_sound_) std::visit([&](const auto& one) { cpu::update(one, call); }, rule);
    return runtime::reached_event();
  }
  [[nodiscard]] double read_norm() const override { return norm_; }

  [[nodiscard]] Arena& parameters() override {
    runner_->parameters_changed();
    return memory_->parameters();
  }
  [[nodiscard]] const Arena& parameters() const override { return memory_->parameters(); }
  [[nodiscard]] Arena& gradients() override { return memory_->gradients(); }
  [[nodiscard]] const Arena& gradients() const override { return memory_->gradients(); }
  [[nodiscard]] Arena& state() override {
    runner_->parameters_changed();
    return memory_->state();
  }
  [[nodiscard]] const Arena& state() const override { return memory_->state(); }
  [[nodiscard]] std::unique_ptr<Arena> make_arena(ArenaKind kind) override { return memory_->make_arena(kind); }
  [[nodiscard]] const std::vector<ParameterSlice>& slices() const override { return map_->slices(); }
  [[nodiscard]] const std::vector<Bucket>& buckets() const override { return buckets_; }

  [[nodiscard]] std::vector<float> store(std::int32_t parameter, const Arena& arena) const override {
    return map_->store(parameter, arena);
  }
  void load(std::int32_t parameter, std::span<const float> values, Arena& arena) const override {
    map_->load(parameter, values, arena);
  }

  [[nodiscard]] std::vector<EntryTime> profile() const override { return runner_->times(); }
  void reset_profile() override { runner_->reset_times(); }
  [[nodiscard]] double time_entry(std::int32_t entry, int repeats) override {
    prepare_threads(options_.threads);
    return runner_->time_entry(entry, repeats);
  }

 private:
  void take_inputs(const Lowering& lowering) {
    slots_.resize(static_cast<std::size_t>(options_.slots));
    inputs_ = lowering.inputs;
    input_tensors_ = lowering.input_tensors;
    for (auto& slot : slots_) {
      for (const InputSpec& input : inputs_) slot.emplace_back(input.bytes);
    }
  }

  CompileOptions options_;
  graph::Graph graph_;
  Plan plan_;
  std::vector<Bucket> buckets_;
  std::unique_ptr<runtime::Device> device_ = runtime::make_cpu_device();
  std::unique_ptr<runtime::Stream> stream_ = device_->make_stream();
  std::optional<ParameterMap> map_;
  std::optional<PlanMemory> memory_;
  std::optional<StepRunner> runner_;
  std::unique_ptr<StepState> step_state_;
  std::vector<InputSpec> inputs_;
  std::vector<TensorId> input_tensors_;
  std::vector<std::vector<runtime::AlignedBuffer>> slots_;
  std::map<std::string, std::span<const float>, std::less<>> outputs_;
  /// No loss or norm since begin_update() was not finite.
  bool is_sound_ = true;
  /// Norm of the last update with a limit.
  double norm_ = 0.0;
};
}  // namespace

CompileOptions settled(CompileOptions options) {
  if (options.threads < 1) options.threads = runtime::default_compute_threads();
  options.threads = runtime::given_team(options.threads);
  if (options.slots < 1) {
    throw ConfigError(error_text("engine.cpu", "slots", "at least 1", std::to_string(options.slots), "1"));
  }
  if (options.dtype == DType::F16) {
    throw ConfigError(error_text("engine.cpu", "dtype", "f32, bf16 or auto", "f16", "bf16, or the device cuda"));
  }
  if (!options.dtype) {
    const bool is_worth =
        options.form == Form::Training && has_bf16_products(choice_context(options, DType::F32).instruction_set);
    options.dtype = is_worth ? DType::Bf16 : DType::F32;
  }
  return options;
}

Plan make_plan(const graph::Graph& original, const CompileOptions& options) {
  const CompileOptions filled = settled(options);
  const graph::Graph graph = graph::run_passes(original, filled.fuse, purpose_of(filled.form));
  Lowering lowering(graph, filled, filled.threads);
  static_cast<void>(build(lowering));
  return std::move(lowering.plan);
}

std::unique_ptr<Executable> make_executable(const graph::Graph& graph, const CompileOptions& options) {
  return std::make_unique<CpuExecutable>(graph, options);
}

}  // namespace roentgen::engine::cpu
