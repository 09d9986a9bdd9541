// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/plan/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "engine/cpu/choice/conv_choice.h"
#include "engine/cpu/plan/lowering.h"
#include "engine/cpu/update/flat.h"
#include "engine/cpu/update/update.h"
#include "engine/plan/finish_plan.h"
#include "engine/plan/plan_executable.h"
#include "graph/passes/pass_list.h"
#include "runtime/aligned_buffer.h"
#include "runtime/cores.h"
#include "runtime/memory.h"
#include "runtime/team.h"

namespace roentgen::engine::cpu {
namespace {
// Sets the OpenMP team size and the denormal mode of the calling thread. Fails if the team is smaller than the plan's,
// because oneDNN's kernels would wait for the missing threads forever.
void prepare_threads(int threads) {
  const int given = runtime::prepare_team(threads);
  if (given == threads) return;
  throw DeviceError(error_text("engine.cpu", "compute threads", fmt::format("{} OpenMP threads", threads),
                               fmt::to_string(given), "unsetting OMP_THREAD_LIMIT, or fewer threads"));
}

// Turns the graph into plan entries and places their tensors in memory.
Arenas build(Lowering& lowering) {
  prepare_threads(lowering.threads());
  lowering.build();
  return finish_plan(lowering);
}

// Device of the executable. A base class, so that it outlives the members whose memory lies on it.
struct OwnDevice {
  std::unique_ptr<runtime::Device> device = runtime::make_cpu_device();
};

class CpuExecutable final : private OwnDevice, public PlanExecutable {
 public:
  CpuExecutable(const graph::Graph& original, const CompileOptions& given)
      : PlanExecutable(original, settled(given), *device) {
    const graph::Graph graph = graph::run_passes(original, options().fuse, purpose_of(options().form));
    Lowering lowering(graph, options(), options().threads);
    const Arenas arenas = build(lowering);
    runtime::require_memory("engine.cpu", lowering.plan.memory.total(), "a smaller batch, image or model");
    step_state_ = lowering.take_step_state();
    take(lowering, arenas);
    slots_.resize(static_cast<std::size_t>(options().slots));
    for (auto& slot : slots_) {
      for (const InputSpec& input : inputs()) slot.emplace_back(input.bytes);
    }
    bind_slot(0);
    runner().bind(memory().addresses());
  }

  [[nodiscard]] std::span<std::byte> slot(std::int64_t input, int slot) override {
    return slots_.at(static_cast<std::size_t>(slot)).at(static_cast<std::size_t>(input)).bytes();
  }
  void bind_slot(int slot) override {
    auto& bound = slots_.at(static_cast<std::size_t>(slot));
    for (std::size_t i = 0; i < bound.size(); ++i) bind_input(i, bound[i].data());
    runner().bind_inputs(memory().addresses());
  }
  void set_step(std::int64_t step) override { step_state_->step = step; }

  void forward() override {
    prepare_threads(options().threads);
    runner().prepare();
    runner().forward();
    if (loss_index() && !std::isfinite(values_of(*loss_index()).front())) is_sound_ = false;
  }
  void backward(const BucketCallback& on_bucket) override {
    require_training();
    runner().backward(on_bucket);
  }
  [[nodiscard]] std::span<const float> read(std::string_view name) const override {
    return values_of(output_index(name));
  }

  void begin_update() override { is_sound_ = true; }
  const runtime::Event& update(const UpdateRule& rule, const UpdateWork& work) override {
    if (work.after != nullptr) work.after->wait();
    double scale = work.scale;
    if (work.clip_norm > 0.0) {
      // Padding elements outside the slices are zero, so the sum over the whole arena is right.
      norm_ = scale * std::sqrt(sum_of_squares(work.source.host(), options().threads));
      is_sound_ = is_sound_ && std::isfinite(norm_);
      scale *= std::min(1.0, work.clip_norm / (norm_ + 1e-6));
    }
    const UpdateCall call{.work = work, .scale = scale, .threads = options().threads};
    if (is_sound_) std::visit([&](const auto& one) { cpu::update(one, call); }, rule);
    return runtime::reached_event();
  }
  [[nodiscard]] double read_norm() const override { return norm_; }

  [[nodiscard]] double time_entry(std::int32_t entry, int repeats) override {
    prepare_threads(options().threads);
    return PlanExecutable::time_entry(entry, repeats);
  }

 private:
  [[nodiscard]] std::span<const float> values_of(std::size_t output) const {
    const Output& one = outputs()[output];
    return {memory().addresses().f32(one.tensor), one.bytes / sizeof(float)};
  }

  std::unique_ptr<StepState> step_state_;
  std::vector<std::vector<runtime::AlignedBuffer>> slots_;
  /// True if every loss and norm since begin_update() was finite.
  bool is_sound_ = true;
  /// L2 norm of the source of the last update that had clip_norm set.
  double norm_ = 0.0;
};
}  // namespace

CompileOptions settled(CompileOptions options) {
  if (options.threads < 1) options.threads = runtime::default_compute_threads();
  options.threads = runtime::given_team(options.threads);
  require_host_type(options.dtype);
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
