// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/plan/executable.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <map>
#include <optional>

#include "core/error.h"
#include "engine/cuda/input_slots.h"
#include "engine/cuda/plan/lowering.h"
#include "engine/cuda/plan/step_words.h"
#include "engine/cuda/update/updates.h"
#include "engine/plan/finish_plan.h"
#include "engine/plan/parameter_map.h"
#include "engine/plan/plan_memory.h"
#include "engine/plan/step_runner.h"
#include "graph/passes/pass_list.h"

namespace roentgen::engine::cuda {
namespace {
// Lowers the graph and plans memory.
Arenas build(Lowering& lowering) {
  lowering.build();
  lowering.size_copies();
  Arenas arenas = finish_plan(lowering);
  lowering.place_copies();
  return arenas;
}

class CudaExecutable final : public Executable {
 public:
  CudaExecutable(const graph::Graph& original, const CompileOptions& options, DeviceSetup setup)
      : options_(settled(options)), graph_(original), setup_(std::move(setup)), stream_(setup_.device->make_stream()) {
    const graph::Graph graph = graph::run_passes(original, options_.fuse, purpose_of(options_.form));
    Lowering lowering(
        graph, options_,
        {.stream = stream_.get(), .convolutions = *setup_.convolutions, .multiprocessors = setup_.multiprocessors});
    const Arenas arenas = build(lowering);
    plan_ = std::move(lowering.plan);
    buckets_ = arenas.buckets;
    const MemoryReport& memory = plan_.memory;
    // Slots are the host's; the device has two copies of a batch.
    const std::size_t bytes =
        memory.total() - memory.inputs + 2 * memory.inputs / static_cast<std::size_t>(options_.slots);
    runtime::require_device_memory(setup_.device->name(), "the plan, " + memory.text(), bytes,
                                   setup_.device->free_bytes());
    map_.emplace(original, lowering, plan_);
    memory_.emplace(plan_, arenas, options_.form, *setup_.device, *stream_);
    runner_.emplace(lowering, plan_, buckets_.size(), *setup_.device, *stream_);
    state_ = reinterpret_cast<StepState*>(memory_->addresses().bytes(lowering.step_state()));
    const std::int64_t growth_updates = lowering.has_loss_scale() ? options_.loss_scaling.growth_updates : 0;
    updates_.emplace(*setup_.device, *stream_, state_, growth_updates);
    if (growth_updates > 0) {
      loss_scale_ = Output{lowering.step_state(), setup_.device->make_pinned_buffer(sizeof(StepState))};
    }
    upload_constants(lowering);
    take_inputs(lowering);
    take_outputs(lowering);
    runner_->bind(memory_->addresses());
  }

  [[nodiscard]] const graph::Graph& graph() const override { return graph_; }
  [[nodiscard]] const Plan& plan() const override { return plan_; }
  [[nodiscard]] const std::vector<InputSpec>& inputs() const override { return inputs_; }
  [[nodiscard]] std::span<std::byte> slot(std::int64_t input, int slot) override { return slots_->slot(input, slot); }
  // The slot is uploaded by forward(): until then it may be filled.
  void bind_slot(int slot) override {
    slots_->wait_for_upload();
    bound_slot_ = slot;
  }
  void set_step(std::int64_t step) override { store_step(*stream_, state_, step); }

  void forward() override {
    runner_->prepare();
    slots_->done(*stream_);
    slots_->bind(bound_slot_, *stream_);
    bind_inputs();
    runner_->bind_inputs(memory_->addresses());
    recorded().forward.run(setup_.graphs.get(), *stream_, [this] { queue_forward(); });
    stream_->record(*outputs_ready_);
  }
  void backward(const BucketCallback& on_bucket) override {
    if (options_.form != Form::Training) {
      throw ConfigError(error_text("engine.cuda", "backward", "an executable compiled for training", "inference"));
    }
    std::vector<RecordedWork>& parts = recorded().backward;
    runner_->backward_by(
        [&](std::size_t i, EntryRange part) {
          parts[i].run(setup_.graphs.get(), *stream_, [&] { runner_->run(part); });
        },
        on_bucket);
    // The caller may then let the slot be filled again.
    slots_->wait_for_upload();
  }
  [[nodiscard]] std::span<const float> read(std::string_view name) const override {
    const auto found = outputs_.find(name);
    if (found == outputs_.end()) {
      throw ConfigError(error_text("engine.cuda", "output", "an output of the graph", name));
    }
    outputs_ready_->wait();
    const std::span<std::byte> bytes = found->second.host->bytes();
    return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
  }

  void begin_update() override { forget_unsound(*stream_, state_); }
  const runtime::Event& update(const UpdateRule& rule, const UpdateWork& work) override {
    runner_->parameters_changed();
    return updates_->run(rule, work);
  }
  [[nodiscard]] double read_norm() const override { return updates_->read_norm(); }
  [[nodiscard]] std::optional<LossScale> loss_scale() const override {
    if (!loss_scale_) return std::nullopt;
    outputs_ready_->wait();
    StepState now;
    std::memcpy(&now, loss_scale_->host->bytes().data(), sizeof now);
    return LossScale{.scale = now.loss_scale, .good_updates = now.good_updates, .skipped = now.skipped};
  }
  [[nodiscard]] std::optional<LossScale> read_loss_scale() const override {
    if (!loss_scale_) return std::nullopt;
    download(*loss_scale_);
    stream_->synchronize();
    return loss_scale();
  }
  void set_loss_scale(const LossScale& scale) override {
    if (loss_scale_) store_loss_scale(*stream_, state_, scale);
  }

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
    return runner_->time_entry(entry, repeats);
  }

 private:
  /// A kept tensor, and the host memory that forward() copies it to.
  struct Output {
    TensorId tensor = -1;
    std::unique_ptr<runtime::PinnedBuffer> host;
  };

  /// Graphs of a step that reads one device copy of the inputs.
  struct Recorded {
    const std::byte* input = nullptr;  // address of the first input
    RecordedWork forward;
    std::vector<RecordedWork> backward;  // one a part
  };
  Recorded& recorded() {
    const std::byte* const input = inputs_.empty() ? nullptr : slots_->bound(0).address();
    for (Recorded& one : recorded_) {
      if (one.input == input) return one;
    }
    Recorded& made = recorded_.emplace_back();
    made.input = input;
    made.backward.resize(runner_->backward_parts().size());
    return made;
  }

  void queue_forward() {
    runner_->forward();
    const auto loss = outputs_.find("loss");
    if (loss != outputs_.end()) check_loss(*stream_, state_, memory_->addresses().f32(loss->second.tensor));
    for (const auto& [name, output] : outputs_) download(output);
    if (loss_scale_) download(*loss_scale_);
  }
  void download(const Output& output) const {
    const std::size_t at = plan_.tensors[static_cast<std::size_t>(output.tensor)].offset;
    stream_->download(memory_->kept(), at, output.host->bytes());
  }
  void upload_constants(Lowering& lowering) {
    for (const auto& [tensor, bytes] : lowering.take_constants()) {
      stream_->upload(bytes, memory_->kept(), plan_.tensors[static_cast<std::size_t>(tensor)].offset);
    }
    stream_->synchronize();
  }
  void take_inputs(const Lowering& lowering) {
    for (const auto& [node, tensor] : lowering.input_tensors) {
      const graph::Node& input = lowering.node(node);
      const std::size_t bytes = plan_.tensors[static_cast<std::size_t>(tensor)].bytes;
      input_tensors_.push_back(tensor);
      inputs_.push_back({.name = input.name, .shape = input.shape, .dtype = DType::F32, .bytes = bytes});
    }
    slots_.emplace(*setup_.device, inputs_, options_.slots);
    bind_inputs();
  }
  void take_outputs(const Lowering& lowering) {
    for (const auto& [name, tensor] : lowering.output_tensors) {
      const std::size_t bytes = plan_.tensors[static_cast<std::size_t>(tensor)].bytes;
      outputs_[name] = {tensor, setup_.device->make_pinned_buffer(bytes)};
    }
  }
  void bind_inputs() {
    for (std::size_t i = 0; i < input_tensors_.size(); ++i) {
      memory_->set_input(input_tensors_[i], slots_->bound(static_cast<std::int64_t>(i)).address());
    }
  }

  CompileOptions options_;
  graph::Graph graph_;
  DeviceSetup setup_;
  std::unique_ptr<runtime::Stream> stream_;
  std::unique_ptr<runtime::Event> outputs_ready_ = setup_.device->make_event();
  Plan plan_;
  std::vector<Bucket> buckets_;
  std::optional<ParameterMap> map_;
  std::optional<PlanMemory> memory_;
  std::optional<StepRunner> runner_;
  StepState* state_ = nullptr;
  std::optional<Updates> updates_;
  std::vector<InputSpec> inputs_;
  std::vector<TensorId> input_tensors_;
  std::optional<InputSlots> slots_;
  int bound_slot_ = 0;
  std::map<std::string, Output, std::less<>> outputs_;
  std::optional<Output> loss_scale_;  // StepState, where gradients are scaled
  std::vector<Recorded> recorded_;
};
}  // namespace

CompileOptions settled(CompileOptions options) {
  if (options.slots < 1) {
    throw ConfigError(error_text("engine.cuda", "slots", "at least 1", std::to_string(options.slots), "1"));
  }
  const auto& [start, growth_updates] = options.loss_scaling;
  if (!(start > 0.0 && std::isfinite(start)) || growth_updates < 1) {
    throw ConfigError(error_text("engine.cuda", "loss scale", "a positive start that grows after at least 1 update",
                                 fmt::format("{} after {}", start, growth_updates)));
  }
  if (!options.dtype) options.dtype = options.form == Form::Training ? DType::Bf16 : DType::F32;
  // No kernel that runs anyway writes a value again.
  if (options.recompute == "auto") options.recompute = "none";
  return options;
}

Plan make_plan(const graph::Graph& original, const CompileOptions& options, Convolutions& convolutions,
               int multiprocessors) {
  const CompileOptions filled = settled(options);
  const graph::Graph graph = graph::run_passes(original, filled.fuse, purpose_of(filled.form));
  Lowering lowering(graph, filled,
                    {.stream = nullptr, .convolutions = convolutions, .multiprocessors = multiprocessors});
  static_cast<void>(build(lowering));
  return std::move(lowering.plan);
}

std::unique_ptr<Executable> make_executable(const graph::Graph& graph, const CompileOptions& options,
                                            DeviceSetup setup) {
  return std::make_unique<CudaExecutable>(graph, options, std::move(setup));
}

}  // namespace roentgen::engine::cuda
