// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cuda/plan/executable.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "core/error.h"
#include "engine/cuda/elementwise/wire.h"
#include "engine/cuda/input_slots.h"
#include "engine/cuda/plan/lowering.h"
#include "engine/cuda/plan/step_words.h"
#include "engine/cuda/update/updates.h"
#include "engine/plan/finish_plan.h"
#include "engine/plan/plan_executable.h"
#include "graph/passes/pass_list.h"

namespace roentgen::engine::cuda {
namespace {
// Number of times that a timed entry is queued before the host waits for the device.
constexpr int kQueuedRuns = 8;

// Lowers the graph and plans memory.
Arenas build(Lowering& lowering) {
  lowering.build();
  lowering.size_copies();
  Arenas arenas = finish_plan(lowering);
  lowering.place_copies();
  return arenas;
}

// DeviceSetup is a base class, so that it outlives the kernels, which use it.
class CudaExecutable final : private DeviceSetup, public PlanExecutable {
 public:
  CudaExecutable(const graph::Graph& original, const CompileOptions& given, DeviceSetup setup)
      : DeviceSetup(std::move(setup)), PlanExecutable(original, settled(given), *device) {
    const graph::Graph graph = graph::run_passes(original, options().fuse, purpose_of(options().form));
    Lowering lowering(graph, options(),
                      {.stream = &stream(), .convolutions = *convolutions, .multiprocessors = multiprocessors});
    const Arenas arenas = build(lowering);
    convolutions->finish_choice();
    const MemoryReport& needed = lowering.plan.memory;
    // The device holds two copies of a batch; slots are in host memory.
    const std::size_t bytes =
        needed.total() - needed.inputs + 2 * needed.inputs / static_cast<std::size_t>(options().slots);
    runtime::require_device_memory(device->name(), "the plan, " + needed.text(), bytes, device->free_bytes());
    take(lowering, arenas);
    state_ = reinterpret_cast<StepState*>(memory().addresses().bytes(lowering.step_state()));
    const std::int64_t growth_updates = lowering.has_loss_scale() ? options().loss_scaling.growth_updates : 0;
    updates_.emplace(*device, stream(), state_, growth_updates);
    if (growth_updates > 0) {
      step_state_ = lowering.step_state();
      loss_scale_ = device->make_pinned_buffer(sizeof(StepState));
    }
    upload_constants(lowering);
    slots_.emplace(*device, inputs(), options().slots);
    for (const Output& output : outputs()) results_.push_back(device->make_pinned_buffer(output.bytes));
    bind_inputs();
    runner().bind(memory().addresses());
  }

  [[nodiscard]] const runtime::WireKernels* wire_kernels() const override { return &cuda::wire_kernels(); }
  [[nodiscard]] std::span<std::byte> slot(std::int64_t input, int slot) override { return slots_->slot(input, slot); }
  // Starts the upload, which overlaps the running step.
  void bind_slot(int slot) override {
    slots_->bind(slot, stream());
    is_bound_ = true;
  }
  void set_step(std::int64_t step) override { store_step(stream(), state_, step); }

  void forward() override {
    runner().prepare();
    if (!is_bound_) bind_slot(0);
    bind_inputs();
    runner().bind_inputs(memory().addresses());
    recorded().forward.run(graphs.get(), stream(), [this] { queue_forward(); });
    stream().record(*outputs_ready_);
    // In inference, the caller may refill the slot when forward() returns.
    if (options().form == Form::Inference) slots_->wait_for_upload();
  }
  void backward(const BucketCallback& on_bucket) override {
    require_training();
    if (on_bucket) {
      std::vector<RecordedWork>& parts = recorded().backward_parts;
      runner().backward_by(
          [&](std::size_t i, EntryRange part) { parts[i].run(graphs.get(), stream(), [&] { runner().run(part); }); },
          on_bucket);
    } else {
      recorded().backward.run(graphs.get(), stream(), [this] { runner().backward({}); });
    }
    // The caller may refill the slot when backward() returns.
    slots_->wait_for_upload();
  }
  [[nodiscard]] std::span<const float> read(std::string_view name) const override {
    const std::span<std::byte> bytes = results_[output_index(name)]->bytes();
    outputs_ready_->wait();
    return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
  }

  void begin_update() override { forget_unsound(stream(), state_); }
  const runtime::Event& update(const UpdateRule& rule, const UpdateWork& work) override {
    runner().parameters_changed();
    return updates_->run(rule, work);
  }
  [[nodiscard]] double read_norm() const override { return updates_->read_norm(); }
  [[nodiscard]] std::optional<LossScale> loss_scale() const override {
    if (!loss_scale_) return std::nullopt;
    outputs_ready_->wait();
    StepState now;
    std::memcpy(&now, loss_scale_->bytes().data(), sizeof now);
    return LossScale{.scale = now.loss_scale, .good_updates = now.good_updates, .skipped = now.skipped};
  }
  [[nodiscard]] std::optional<LossScale> read_loss_scale() const override {
    if (!loss_scale_) return std::nullopt;
    download(step_state_, *loss_scale_);
    stream().synchronize();
    return loss_scale();
  }
  void set_loss_scale(const LossScale& scale) override {
    if (loss_scale_) store_loss_scale(stream(), state_, scale);
  }

  [[nodiscard]] double time_entry(std::int32_t entry, int repeats) override {
    return runner().time_entry(entry, repeats, kQueuedRuns);
  }

 private:
  /// Recorded graphs of a step. They read one of the two device copies of the inputs.
  struct Recorded {
    const std::byte* input = nullptr;  // address of the first input
    RecordedWork forward;
    RecordedWork backward;                     // recording of the whole backward, if nobody waits for single buckets
    std::vector<RecordedWork> backward_parts;  // one recording for each part of the backward
  };
  Recorded& recorded() {
    const std::byte* const input = inputs().empty() ? nullptr : slots_->bound(0).address();
    for (Recorded& one : recorded_) {
      if (one.input == input) return one;
    }
    Recorded& made = recorded_.emplace_back();
    made.input = input;
    made.backward_parts.resize(runner().backward_parts().size());
    return made;
  }

  void queue_forward() {
    runner().forward();
    if (loss_index()) check_loss(stream(), state_, memory().addresses().f32(outputs()[*loss_index()].tensor));
    for (std::size_t i = 0; i < results_.size(); ++i) download(outputs()[i].tensor, *results_[i]);
    if (loss_scale_) download(step_state_, *loss_scale_);
  }
  void download(TensorId kept, const runtime::PinnedBuffer& host) const {
    stream().download(memory().kept(), plan().tensors[static_cast<std::size_t>(kept)].offset, host.bytes());
  }
  void upload_constants(Lowering& lowering) {
    for (const auto& [tensor, bytes] : lowering.take_constants()) {
      stream().upload(bytes, memory().kept(), plan().tensors[static_cast<std::size_t>(tensor)].offset);
    }
    stream().synchronize();
  }
  void bind_inputs() {
    for (std::size_t i = 0; i < inputs().size(); ++i) {
      bind_input(i, slots_->bound(static_cast<std::int64_t>(i)).address());
    }
  }

  std::unique_ptr<runtime::Event> outputs_ready_ = device->make_event();
  StepState* state_ = nullptr;
  std::optional<Updates> updates_;
  std::optional<InputSlots> slots_;
  bool is_bound_ = false;
  /// Host memory to which forward() copies the outputs.
  std::vector<std::unique_ptr<runtime::PinnedBuffer>> results_;
  /// Host memory that receives StepState with the current loss scale; null without a loss scale.
  std::unique_ptr<runtime::PinnedBuffer> loss_scale_;
  TensorId step_state_ = -1;  ///< tensor with StepState; -1 before it is allocated
  std::vector<Recorded> recorded_;
};
}  // namespace

CompileOptions settled(CompileOptions options) {
  const auto& [start, growth_updates] = options.loss_scaling;
  if (!(start > 0.0 && std::isfinite(start)) || growth_updates < 1) {
    throw ConfigError(error_text("engine.cuda", "loss scale", "a start above 0, and growth after 1 or more updates",
                                 fmt::format("a start of {} and growth after {} updates", start, growth_updates),
                                 "a start of 65536, and growth after 2000 updates"));
  }
  if (!options.dtype) options.dtype = options.form == Form::Training ? DType::Bf16 : DType::F32;
  // This engine has no kernel that recomputes a value during other work.
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
