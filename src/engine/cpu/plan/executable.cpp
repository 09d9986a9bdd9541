// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/plan/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "core/error.h"
#include "engine/cpu/choice/conv_choice.h"
#include "engine/cpu/conv/conv_algorithm.h"
#include "engine/cpu/plan/finish_plan.h"
#include "engine/cpu/plan/lowering.h"
#include "engine/cpu/update/flat.h"
#include "engine/cpu/update/update.h"
#include "graph/passes/pass_list.h"
#include "runtime/aligned_buffer.h"
#include "runtime/cores.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "runtime/team.h"

namespace roentgen::engine::cpu {
namespace {
using Clock = std::chrono::steady_clock;

// Sets the team size and the denormal mode, which belong to the calling thread. A team smaller than the plan's is an
// error: kernels of oneDNN would wait for the missing members for ever.
void prepare_threads(int threads) {
  const int given = runtime::prepare_team(threads);
  if (given == threads) return;
  throw DeviceError(error_text("engine.cpu", "OpenMP team", fmt::format("{} threads, as planned", threads),
                               fmt::to_string(given), "unset OMP_THREAD_LIMIT, or fewer threads"));
}

class CpuExecutable final : public Executable {
 public:
  CpuExecutable(const graph::Graph& original, const CompileOptions& options)
      : options_(settled(options)), graph_(graph::run_passes(original, options.fuse, purpose_of(options.form))) {
    prepare_threads(options_.threads);
    Lowering lowering(graph_, options_, options_.threads);
    lowering.lower_all();
    take(lowering, finish_plan(lowering));
    map_parameters(original);
    check_choices();
    allocate();
    bind_all();
  }

  [[nodiscard]] const graph::Graph& graph() const override { return original_; }
  [[nodiscard]] const Plan& plan() const override { return plan_; }
  [[nodiscard]] const std::vector<InputSpec>& inputs() const override { return inputs_; }
  [[nodiscard]] std::span<std::byte> slot(std::int64_t input, int slot) override {
    return slots_.at(static_cast<std::size_t>(slot)).at(static_cast<std::size_t>(input)).bytes();
  }
  void bind_slot(int slot) override {
    for (std::size_t i = 0; i < input_tensors_.size(); ++i) {
      addresses_->set(input_tensors_[i], slots_.at(static_cast<std::size_t>(slot))[i].data());
    }
    for (const std::int32_t entry : input_readers_) kernels_[static_cast<std::size_t>(entry)]->bind(*addresses_);
  }
  void set_step(std::int64_t step) override { state_->step = step; }

  void forward() override {
    prepare_threads(options_.threads);
    if (!is_prepared_) {
      for (const auto& kernel : preparation_kernels_) kernel->run();
      is_prepared_ = true;
    }
    run_entries(0, plan_.forward_end, nullptr);
    if (loss_ != nullptr && !std::isfinite(*loss_)) is_sound_ = false;
  }
  void backward(const BucketCallback& on_bucket) override {
    if (options_.form != Form::Training) {
      throw ConfigError(error_text("engine.cpu", "backward", "an executable compiled for training", "inference"));
    }
    run_entries(plan_.forward_end, static_cast<std::int32_t>(plan_.entries.size()), &on_bucket);
  }
  [[nodiscard]] std::span<const float> read(std::string_view name) const override {
    if (const std::optional<std::span<const float>> found = find_output(name)) return *found;
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
    is_prepared_ = false;
    return *parameters_;
  }
  [[nodiscard]] const Arena& parameters() const override { return *parameters_; }
  [[nodiscard]] Arena& gradients() override { return *gradients_; }
  [[nodiscard]] const Arena& gradients() const override { return *gradients_; }
  [[nodiscard]] Arena& state() override {
    is_prepared_ = false;
    return *statistics_;
  }
  [[nodiscard]] const Arena& state() const override { return *statistics_; }
  [[nodiscard]] std::unique_ptr<Arena> make_arena(ArenaKind kind) override {
    return new_arena(kind == ArenaKind::Trained ? arenas_.parameters : arenas_.state);
  }
  [[nodiscard]] const std::vector<ParameterSlice>& slices() const override { return slices_; }
  [[nodiscard]] const std::vector<Bucket>& buckets() const override { return arenas_.buckets; }

  [[nodiscard]] std::vector<float> store(std::int32_t parameter, const Arena& arena) const override {
    std::vector<float> plain(static_cast<std::size_t>(original_.parameter(parameter).shape.elements()));
    place_of(parameter).layout->to_plain(part_of(parameter, arena), plain);
    return plain;
  }
  void load(std::int32_t parameter, std::span<const float> values, Arena& arena) const override {
    const graph::Parameter& wanted = original_.parameter(parameter);
    if (std::ssize(values) != wanted.shape.elements()) {
      throw ShapeError(error_text("engine.cpu", wanted.name, std::to_string(wanted.shape.elements()) + " values",
                                  std::to_string(values.size())));
    }
    place_of(parameter).layout->to_kernel(values, part_of(parameter, arena));
  }

  [[nodiscard]] std::vector<EntryTime> profile() const override { return times_; }
  void reset_profile() override {
    for (EntryTime& time : times_) time = {.entry = time.entry};
  }
  [[nodiscard]] double time_entry(std::int32_t entry, int repeats) override {
    prepare_threads(options_.threads);
    double best_s = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeats; ++i) {
      const Clock::time_point before = Clock::now();
      kernels_.at(static_cast<std::size_t>(entry))->run();
      best_s = std::min(best_s, std::chrono::duration<double>(Clock::now() - before).count());
    }
    return best_s;
  }

 private:
  using Place = Lowering::ParameterPlace;

  void take(Lowering& lowering, Arenas arenas) {
    arenas_ = std::move(arenas);
    plan_ = std::move(lowering.plan);
    kernels_ = std::move(lowering.kernels);
    preparation_kernels_ = std::move(lowering.preparation_kernels);
    places_ = std::move(lowering.places);
    output_tensors_ = std::move(lowering.output_tensors);
    state_ = lowering.take_step_state();
    for (const auto& [node, tensor] : lowering.input_tensors) {
      input_tensors_.push_back(tensor);
      const graph::Node& input = graph_.node(node);
      inputs_.push_back({.name = input.name,
                         .shape = input.shape,
                         .dtype = DType::F32,
                         .bytes = static_cast<std::size_t>(input.shape.elements()) * sizeof(float)});
    }
    for (std::size_t i = 0; i < plan_.entries.size(); ++i) {
      times_.push_back({.entry = static_cast<std::int32_t>(i)});
      const bool reads_input = std::ranges::any_of(plan_.entries[i].reads, [&](TensorId id) {
        return plan_.tensors[static_cast<std::size_t>(id)].storage == Storage::Input;
      });
      if (reads_input) input_readers_.push_back(static_cast<std::int32_t>(i));
    }
  }

  // Passes may reorder parameters: the outside counts as the graph it gave.
  void map_parameters(const graph::Graph& original) {
    original_ = original;
    std::vector<std::int32_t> outside(places_.size(), -1);
    for (std::size_t i = 0; i < original.parameters().size(); ++i) {
      for (std::size_t k = 0; k < graph_.parameters().size(); ++k) {
        if (graph_.parameters()[k].name != original.parameters()[i].name) continue;
        inside_.push_back(static_cast<std::int32_t>(k));
        outside[k] = static_cast<std::int32_t>(i);
      }
    }
    RG_ASSERT(inside_.size() == places_.size());
    slices_ = arenas_.slices;
    for (ParameterSlice& slice : slices_) slice.parameter = outside[static_cast<std::size_t>(slice.parameter)];
  }

  void check_choices() const {
    if (options_.choices.empty() || options_.choices == plan_.choices) return;
    // Each of the plan's own is among the stored ones, or it would not be here.
    const auto surplus = std::ranges::find_if(
        options_.choices, [&](const auto& choice) { return !plan_.choices.contains(choice.first); });
    throw ConfigError(error_text("engine.plan", "stored plan", "choices for this network alone",
                                 surplus == options_.choices.end() ? "others" : surplus->first,
                                 "the graph and options the plan was made with"));
  }

  void allocate() {
    runtime::require_memory("engine.cpu", plan_.memory.total(), "a smaller batch, image or model");
    activations_ = runtime::AlignedBuffer(plan_.memory.activations);
    parameters_ = new_arena(arenas_.parameters);
    gradients_ = new_arena(options_.form == Form::Training ? arenas_.parameters : 0);
    statistics_ = new_arena(arenas_.state);
    kept_ = runtime::AlignedBuffer(plan_.memory.kept);
    slots_.resize(static_cast<std::size_t>(options_.slots));
    for (auto& slot : slots_) {
      for (const InputSpec& input : inputs_) slot.emplace_back(input.bytes);
    }
  }

  void bind_all() {
    std::vector<std::byte*> addresses;
    for (const PlanTensor& tensor : plan_.tensors) {
      std::byte* base = nullptr;
      switch (tensor.storage) {
        case Storage::Planned:
        case Storage::PerThread:
          base = activations_.data();
          break;
        case Storage::Parameter:
          base = bytes_of(*parameters_);
          break;
        case Storage::Gradient:
          base = bytes_of(*gradients_);
          break;
        case Storage::State:
          base = bytes_of(*statistics_);
          break;
        case Storage::Kept:
          base = kept_.data();
          break;
        case Storage::Input:
          break;
      }
      addresses.push_back(base == nullptr ? nullptr : base + tensor.offset);
    }
    std::vector<bool> is_bf16;
    for (const PlanTensor& tensor : plan_.tensors) is_bf16.push_back(tensor.dtype == DType::Bf16);
    addresses_ = std::make_unique<Addresses>(std::move(addresses), std::move(is_bf16),
                                             static_cast<std::int64_t>(plan_.thread_stride_bytes));
    bind_slot(0);
    for (const auto& kernel : kernels_) kernel->bind(*addresses_);
    for (const auto& kernel : preparation_kernels_) kernel->bind(*addresses_);
    if (const auto loss = find_output("loss")) loss_ = loss->data();
  }

  void run_entries(std::int32_t begin, std::int32_t end, const BucketCallback* on_bucket) {
    std::int32_t announced = begin > 0 ? plan_.bucket_ready[static_cast<std::size_t>(begin - 1)] : 0;
    if (on_bucket != nullptr) announced = 0;
    Clock::time_point before = Clock::now();
    for (std::int32_t i = begin; i < end; ++i) {
      const auto entry = static_cast<std::size_t>(i);
      kernels_[entry]->run();
      const Clock::time_point after = Clock::now();
      EntryTime& time = times_[entry];
      const double taken_s = std::chrono::duration<double>(after - before).count();
      time.seconds += taken_s;
      time.best_s = time.calls == 0 ? taken_s : std::min(time.best_s, taken_s);
      ++time.calls;
      before = after;
      if (on_bucket == nullptr || !*on_bucket) continue;
      for (; announced < plan_.bucket_ready[entry]; ++announced) (*on_bucket)(announced, runtime::reached_event());
      if (announced > 0) before = Clock::now();
    }
    if (on_bucket == nullptr || !*on_bucket) return;
    // Buckets of parameters nothing depends on.
    for (; announced < static_cast<std::int32_t>(arenas_.buckets.size()); ++announced)
      (*on_bucket)(announced, runtime::reached_event());
  }

  [[nodiscard]] std::unique_ptr<Arena> new_arena(std::int64_t elements) const {
    return std::make_unique<Arena>(*device_, *stream_, elements);
  }
  static std::byte* bytes_of(const Arena& arena) { return reinterpret_cast<std::byte*>(arena.host().data()); }
  [[nodiscard]] const Place& place_of(std::int32_t parameter) const {
    return places_.at(static_cast<std::size_t>(inside_.at(static_cast<std::size_t>(parameter))));
  }
  // The parameter's elements in an arena of its kind.
  [[nodiscard]] std::span<float> part_of(std::int32_t parameter, const Arena& arena) const {
    const Place& place = place_of(parameter);
    const std::size_t begin = plan_.tensors[static_cast<std::size_t>(place.tensor)].offset / sizeof(float);
    return arena.host().subspan(begin, static_cast<std::size_t>(place.layout->elements()));
  }
  [[nodiscard]] std::optional<std::span<const float>> find_output(std::string_view name) const {
    for (const auto& [output_name, tensor] : output_tensors_) {
      if (output_name != name) continue;
      const std::size_t bytes = plan_.tensors[static_cast<std::size_t>(tensor)].bytes;
      return std::span<const float>{addresses_->f32(tensor), bytes / sizeof(float)};
    }
    return std::nullopt;
  }

  CompileOptions options_;
  graph::Graph graph_;
  graph::Graph original_;
  Plan plan_;
  Arenas arenas_;
  std::vector<ParameterSlice> slices_;
  std::vector<Place> places_;
  std::vector<std::int32_t> inside_;
  std::vector<InputSpec> inputs_;
  std::vector<TensorId> input_tensors_;
  std::vector<std::int32_t> input_readers_;
  std::vector<std::pair<std::string, TensorId>> output_tensors_;
  std::unique_ptr<StepState> state_;
  std::unique_ptr<runtime::Device> device_ = runtime::make_cpu_device();
  std::unique_ptr<runtime::Stream> stream_ = device_->make_stream();
  runtime::AlignedBuffer activations_;
  std::unique_ptr<Arena> parameters_;
  std::unique_ptr<Arena> gradients_;
  std::unique_ptr<Arena> statistics_;
  runtime::AlignedBuffer kept_;
  std::vector<std::vector<runtime::AlignedBuffer>> slots_;
  std::unique_ptr<Addresses> addresses_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<std::unique_ptr<Kernel>> preparation_kernels_;
  /// What the preparations write is that of the present parameters.
  bool is_prepared_ = false;
  /// Output "loss"; null: none.
  const float* loss_ = nullptr;
  /// No loss or norm since begin_update() was not finite.
  bool is_sound_ = true;
  /// Norm of the last update with a limit.
  double norm_ = 0.0;
  std::vector<EntryTime> times_;
};
}  // namespace

CompileOptions settled(CompileOptions options) {
  if (options.threads < 1) options.threads = runtime::default_compute_threads();
  options.threads = runtime::given_team(options.threads);
  if (options.slots < 1) {
    throw ConfigError(error_text("engine.cpu", "slots", "at least 1", std::to_string(options.slots), "1"));
  }
  const std::optional<ConvAlgorithm> algorithm = conv_algorithm(options.algorithms);
  if (options.algorithms != "auto" && (!algorithm || dtype_of(*algorithm) != DType::F32)) {
    throw ConfigError(error_text("engine.cpu", "algorithms", "auto, direct, winograd, split, split2 or pointwise",
                                 options.algorithms, "auto"));
  }
  if (options.dtype == "auto") {
    const bool is_worth =
        options.form == Form::Training && has_bf16_products(choice_context(options, DType::F32).instruction_set);
    options.dtype = is_worth ? "bf16" : "f32";
  }
  if (options.dtype != "f32" && options.dtype != "bf16") {
    throw ConfigError(error_text("engine.cpu", "dtype", "f32, bf16 or auto", options.dtype, "f32"));
  }
  return options;
}

Plan make_plan(const graph::Graph& original, const CompileOptions& options) {
  const CompileOptions filled = settled(options);
  const graph::Graph graph = graph::run_passes(original, filled.fuse, purpose_of(filled.form));
  prepare_threads(filled.threads);
  Lowering lowering(graph, filled, filled.threads);
  lowering.lower_all();
  static_cast<void>(finish_plan(lowering));
  return std::move(lowering.plan);
}

std::unique_ptr<Executable> make_executable(const graph::Graph& graph, const CompileOptions& options) {
  return std::make_unique<CpuExecutable>(graph, options);
}

}  // namespace roentgen::engine::cpu
