// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ReferenceEngine: the reference interpreter as an engine, for tests. It imitates a GPU behind the Executable
// interface: the host cannot read its arenas, and its work runs later on another thread. It stores each parameter
// reversed and padded, so that code fails if it assumes that kernel layout is plain layout.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "engine/engine.h"
#include "engine/reference/reference_run.h"
#include "engine/reference/update.h"
#include "runtime/twin_device_testing.h"

namespace roentgen::engine::reference {

/// Settings of a ReferenceEngine, by which a test imitates different machines or faults.
struct ReferenceForm {
  /// Kernel choice that the engine makes if none is given: "plain", or "rounded", which rounds the images.
  std::string choice = "plain";
  std::string dtype{};          ///< dtype that the engine chooses; empty: f32
  std::int64_t padding = 3;     ///< number of padding elements after each parameter
  std::string kernel{};         ///< implementation named in a single plan entry; empty: the plan has no entry
  bool has_gradients = true;    ///< false: the gradient arena is empty, as in inference
  bool makes_nan_loss = false;  ///< true: every loss is NaN
  /// Called with the function's name at each bind_slot(), forward() and read(); may be empty.
  std::function<void(std::string_view)> on_call{};
};

/// Executable of a graph on a TwinDevice, which imitates a GPU. Ignores graph passes, threads and recomputation. With
/// dtype F16 it scales the loss, and gradients that f16 cannot hold become infinite. Nothing else is rounded.
class ReferenceExecutable final : public Executable {
 public:
  ReferenceExecutable(const graph::Graph& graph, const CompileOptions& options, ReferenceForm form = {})
      : graph_(graph),
        form_(std::move(form)),
        run_(graph_, options.form),
        is_training_(options.form == Form::Training),
        inputs_(input_specs(graph_, options.input_norm)) {
    if (options.norm_group && options.norm_group->ranks > 1) {
      throw ConfigError(error_text("engine.reference", "batch_norm", "local statistics", "those of several ranks"));
    }
    seed_ = options.seed;
    if (options.dtype == DType::F16) scale_ = LossScale{.scale = options.loss_scaling.start};
    growth_updates_ = options.loss_scaling.growth_updates;
    if (options.input_norm) scales_ = pixel_scales(*options.input_norm);
    for (const InputSpec& input : inputs_) {
      slots_.emplace_back();
      for (int i = 0; i < options.slots; ++i) slots_.back().push_back(device_.make_pinned_buffer(input.bytes));
    }
    lay_out(options.bucket_bytes);
    for (const auto& [name, id] : graph_.outputs()) {
      outputs_[name].resize(static_cast<std::size_t>(graph_.node(id).shape.elements()));
    }
    const bool has_gradients = is_training_ && form_.has_gradients;
    gradients_ = new_arena(has_gradients ? elements_[0] : 0);
    plan_.choices = options.choices;
    if (options.choices.empty()) {
      plan_.choices["fc/forward"] = form_.choice;
      if (!form_.dtype.empty()) plan_.choices[std::string(kDtypeChoice)] = form_.dtype;
    }
    is_rounded_ = plan_.choices["fc/forward"] == "rounded";
    if (!form_.kernel.empty()) plan_.entries.push_back({.name = "fc/forward", .implementation = form_.kernel});
    plan_.memory = {
        .parameters = parameters_->size_bytes(), .gradients = gradients_->size_bytes(), .state = state_->size_bytes()};
  }

  [[nodiscard]] const graph::Graph& graph() const override { return graph_; }
  [[nodiscard]] const Plan& plan() const override { return plan_; }
  [[nodiscard]] runtime::Device& memory_device() const override { return device_; }
  [[nodiscard]] const std::vector<InputSpec>& inputs() const override { return inputs_; }
  [[nodiscard]] std::span<std::byte> slot(std::int64_t input, int slot) override {
    return slots_.at(static_cast<std::size_t>(input)).at(static_cast<std::size_t>(slot))->bytes();
  }
  void bind_slot(int slot) override {
    tell("bind_slot");
    bound_ = static_cast<std::size_t>(slot);
  }
  void set_step(std::int64_t step) override { step_ = step; }

  void forward() override {
    tell("forward");
    std::vector<std::vector<double>> given;  // copies the slot, as an upload does, because the slot may be refilled
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      given.push_back(values_in(slots_[i].at(bound_)->bytes(), inputs_[i]));
    stream_->run([this, given = std::move(given), step = step_]() mutable { compute(given, step); });
  }

  void backward(const BucketCallback& on_bucket) override {
    stream_->run([this] {
      run_.backward("loss");
      for (const ParameterSlice& slice : slices_) {
        const std::vector<double>& gradient = run_.parameter_gradient(slice.parameter).data;
        std::vector<float> scaled(gradient.size());
        std::ranges::transform(gradient, scaled.begin(), [this](double value) { return as_stored(value); });
        put(scaled, slice, behind(*gradients_));
      }
    });
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      stream_->record(*ready_[i]);
      if (on_bucket) on_bucket(static_cast<std::int64_t>(i), *ready_[i]);
    }
  }

  [[nodiscard]] std::span<const float> read(std::string_view name) const override {
    tell("read");
    stream_->synchronize();
    return outputs_.find(name)->second;
  }

  void begin_update() override {
    stream_->run([this] { is_sound_ = true; });
  }
  const runtime::Event& update(const UpdateRule& rule, const UpdateWork& work) override {
    // The queued work captures spans, because an arena may be destroyed before the work runs; the device keeps its
    // memory.
    if (work.after != nullptr) stream_->wait_for(*work.after);
    std::vector<runtime::DeviceSpan<float>> spans{work.target.device(), work.source.device()};
    for (const Arena* arena : work.state) spans.push_back(arena->device());
    stream_->run([this, rule, numbers = UpdateWork(work), spans = std::move(spans),
                  ranges = std::vector<UpdateRange>(work.ranges.begin(), work.ranges.end())]() mutable {
      numbers.ranges = ranges;
      change(rule, numbers, spans);
    });
    stream_->record(*updated_);
    return *updated_;
  }
  [[nodiscard]] double read_norm() const override {
    stream_->synchronize();
    return norm_;
  }
  [[nodiscard]] std::optional<LossScale> loss_scale() const override {
    stream_->synchronize();
    return scale_of_forward_;
  }
  [[nodiscard]] std::optional<LossScale> read_loss_scale() const override {
    stream_->synchronize();
    return scale_;
  }
  void set_loss_scale(const LossScale& scale) override {
    if (scale_) stream_->run([this, scale] { scale_ = scale; });
  }

  [[nodiscard]] Arena& parameters() override { return *parameters_; }
  [[nodiscard]] const Arena& parameters() const override { return *parameters_; }
  [[nodiscard]] Arena& gradients() override { return *gradients_; }
  [[nodiscard]] const Arena& gradients() const override { return *gradients_; }
  [[nodiscard]] Arena& state() override { return *state_; }
  [[nodiscard]] const Arena& state() const override { return *state_; }
  [[nodiscard]] std::unique_ptr<Arena> make_arena(ArenaKind kind) override {
    return new_arena(elements_[kind == ArenaKind::Trained ? 0 : 1]);
  }
  [[nodiscard]] const std::vector<ParameterSlice>& slices() const override { return slices_; }
  [[nodiscard]] const std::vector<Bucket>& buckets() const override { return buckets_; }
  using Executable::load;
  using Executable::store;
  [[nodiscard]] std::vector<float> store(std::int32_t parameter, const Arena& arena) const override {
    const ParameterSlice& slice = slice_of(parameter);
    std::vector<float> values(static_cast<std::size_t>(slice.count));
    arena.download(slice.begin, values);
    std::ranges::reverse(values);
    return values;
  }
  void load(std::int32_t parameter, std::span<const float> values, Arena& arena) const override {
    const ParameterSlice& slice = slice_of(parameter);
    if (std::ssize(values) != slice.count) {
      throw ShapeError(error_text("engine.reference", graph_.parameter(parameter).name,
                                  std::to_string(slice.count) + " values", std::to_string(values.size())));
    }
    const std::vector<float> backwards(values.rbegin(), values.rend());
    arena.upload(slice.begin, backwards);
  }
  [[nodiscard]] std::vector<EntryTime> profile() const override { return {}; }
  void reset_profile() override {}

 private:
  /// Computes the arena positions: trained parameters in the order of backward, and running statistics.
  void lay_out(std::size_t bucket_bytes) {
    for (auto i = static_cast<std::int32_t>(graph_.parameters().size()); i-- > 0;) {
      const graph::Parameter& parameter = graph_.parameter(i);
      const bool is_trained = graph::is_trained(parameter.role);
      std::int64_t& end = elements_[is_trained ? 0 : 1];
      (is_trained ? slices_ : statistics_)
          .push_back({.parameter = i, .begin = end, .count = parameter.shape.elements()});
      end += parameter.shape.elements() + form_.padding;
      if (!is_trained) continue;
      if (buckets_.empty() || static_cast<std::size_t>(buckets_.back().count) * sizeof(float) >= bucket_bytes) {
        buckets_.push_back({.begin = slices_.back().begin, .count = 0});
        ready_.push_back(device_.make_event());
      }
      buckets_.back().count = end - buckets_.back().begin;
    }
    parameters_ = new_arena(elements_[0]);
    state_ = new_arena(elements_[1]);
  }
  [[nodiscard]] const ParameterSlice& slice_of(std::int32_t parameter) const {
    const auto& all = graph::is_trained(graph_.parameter(parameter).role) ? slices_ : statistics_;
    return *std::ranges::find(all, parameter, &ParameterSlice::parameter);
  }
  [[nodiscard]] std::unique_ptr<Arena> new_arena(std::int64_t elements) {
    return std::make_unique<Arena>(device_, *stream_, elements);
  }

  [[nodiscard]] std::vector<double> values_in(std::span<const std::byte> slot, const InputSpec& input) const {
    const auto elements = [&]<class T>(T) {
      const auto* const first = reinterpret_cast<const T*>(slot.data());
      return std::vector<double>(first, first + input.shape.elements());
    };
    if (input.dtype == DType::F32) return elements(0.0F);
    std::vector<double> values = input.dtype == DType::U8 ? elements(std::uint8_t{}) : elements(std::uint16_t{});
    const auto area = static_cast<std::size_t>(input.shape[2] * input.shape[3]);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const PixelScale& channel = scales_[i / area % scales_.size()];
      values[i] = values[i] * channel.scale + channel.shift;
    }
    return values;
  }

  // The functions below run on the stream's thread.
  [[nodiscard]] std::span<float> behind(const Arena& arena) { return device_.memory().behind(arena.device()); }
  static void put(const std::vector<float>& values, const ParameterSlice& slice, std::span<float> arena) {
    std::ranges::reverse_copy(values, arena.begin() + slice.begin);
  }
  void tell(std::string_view call) const {
    if (form_.on_call) form_.on_call(call);
  }
  [[nodiscard]] float as_stored(double gradient) const {
    constexpr double kMostOfF16 = 65504.0;
    if (!scale_) return static_cast<float>(gradient);
    const double scaled = gradient * scale_->scale;
    return std::abs(scaled) <= kMostOfF16 ? static_cast<float>(scaled) : std::numeric_limits<float>::infinity();
  }
  // Adjusts the loss scale after an update, by the rule of torch.amp.GradScaler.
  void follow(bool is_overflow) {
    if (is_overflow) {
      *scale_ = {.scale = scale_->scale / 2.0, .skipped = scale_->skipped + 1};
    } else if (++scale_->good_updates == growth_updates_) {
      const double factor = scale_->scale < kLargestGrownScale ? 2.0 : 1.0;
      *scale_ = {.scale = scale_->scale * factor, .skipped = scale_->skipped};
    }
  }
  void compute(std::vector<std::vector<double>>& given, std::int64_t step) {
    scale_of_forward_ = scale_;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      std::vector<double>& values = given[i];
      if (is_rounded_ && inputs_[i].name == "image") {
        for (double& value : values) value = std::round(value * 1024.0) / 1024.0;
      }
      run_.set(inputs_[i].name, std::span<const double>(values));
    }
    for (const auto& [slices, arena] : {std::pair(&slices_, parameters_.get()), {&statistics_, state_.get()}}) {
      for (const ParameterSlice& slice : *slices) {
        const std::span<float> own =
            behind(*arena).subspan(static_cast<std::size_t>(slice.begin), static_cast<std::size_t>(slice.count));
        const std::vector<float> values(own.rbegin(), own.rend());
        run_.set(graph_.parameter(slice.parameter).name, values);
      }
    }
    if (is_training_) draw_masks(step);
    run_.forward();
    for (auto& [name, values] : outputs_) {
      const std::vector<double>& exact = run_.output(name).data;
      std::ranges::transform(exact, values.begin(), [](double value) { return static_cast<float>(value); });
      if (name == "loss" && form_.makes_nan_loss) values[0] = std::numeric_limits<float>::quiet_NaN();
      if (name == "loss") is_sound_ = is_sound_ && std::isfinite(values[0]);
    }
    if (!is_training_) return;
    for (const ParameterSlice& slice : statistics_) {
      const std::vector<double>& now = run_.state(slice.parameter).data;
      put(std::vector<float>(now.begin(), now.end()), slice, behind(*state_));
    }
  }
  void draw_masks(std::int64_t step) {
    for (graph::NodeId id = 0; id < std::ssize(graph_.nodes()); ++id) {
      const auto* const dropout = std::get_if<graph::Dropout>(&graph_.node(id).op);
      if (dropout == nullptr) continue;
      Random random(seed_ ^ static_cast<std::uint64_t>(id) << 32U, RandomStage::Dropout,
                    static_cast<std::uint64_t>(step));
      std::vector<double> mask(static_cast<std::size_t>(graph_.node(id).shape.elements()));
      for (double& keep : mask) keep = random.uniform() < dropout->probability ? 0.0 : 1.0;
      run_.set_mask(graph_.node(id).name, std::move(mask));
    }
  }
  /// @param spans device memory of target, source and state, in this order
  void change(const UpdateRule& rule, UpdateWork work, const std::vector<runtime::DeviceSpan<float>>& spans) {
    std::vector<std::vector<double>> all;
    for (const auto& span : spans) {
      const std::span<float> own = device_.memory().behind(span);
      all.emplace_back(own.begin(), own.end());
    }
    UpdateValues values{.target = std::move(all[0]), .source = std::move(all[1]), .state = {}};
    values.state.assign(all.begin() + 2, all.end());
    const bool is_scaled = scale_.has_value() && is_optimizer(rule);
    if (is_scaled) work.scale /= scale_->scale;
    if (work.clip_norm > 0.0 || is_scaled) {
      double squares = 0.0;
      for (const double value : values.source) squares += value * value;
      norm_ = work.scale * std::sqrt(squares);
      if (is_scaled && is_sound_) follow(!std::isfinite(norm_));
      is_sound_ = is_sound_ && std::isfinite(norm_);
    }
    if (!is_sound_) return;
    reference::update(rule, work, values);
    const auto put_back = [&](const std::vector<double>& from, const runtime::DeviceSpan<float>& span) {
      std::ranges::transform(from, device_.memory().behind(span).begin(),
                             [](double value) { return static_cast<float>(value); });
    };
    put_back(values.target, spans[0]);
    for (std::size_t k = 0; k < values.state.size(); ++k) put_back(values.state[k], spans[k + 2]);
  }

  const graph::Graph graph_;
  const ReferenceForm form_;
  ReferenceRun run_;
  const bool is_training_;
  const std::vector<InputSpec> inputs_;
  std::vector<PixelScale> scales_;
  bool is_rounded_ = false;
  std::uint64_t seed_ = 0;
  Plan plan_;
  mutable runtime::TwinDevice device_;
  std::vector<std::vector<std::unique_ptr<runtime::PinnedBuffer>>> slots_;
  std::vector<ParameterSlice> slices_, statistics_;
  std::vector<Bucket> buckets_;
  std::vector<std::unique_ptr<runtime::Event>> ready_;
  std::unique_ptr<runtime::Event> updated_ = device_.make_event();
  /// Number of elements of the arenas of trained parameters and of running statistics, indexed by ArenaKind.
  std::int64_t elements_[2] = {};
  std::size_t bound_ = 0;
  std::int64_t step_ = 0;
  std::map<std::string, std::vector<float>, std::less<>> outputs_;
  double norm_ = 0.0;
  bool is_sound_ = true;
  std::optional<LossScale> scale_, scale_of_forward_;
  std::int64_t growth_updates_ = 1;
  /// Declared before the arenas, which use it, and after everything that its queued work uses.
  std::unique_ptr<runtime::TwinStream> stream_ = device_.make_twin_stream();
  std::unique_ptr<Arena> parameters_, gradients_, state_;
};

/// Engine that makes ReferenceExecutables.
class ReferenceEngine final : public Engine {
 public:
  [[nodiscard]] std::string_view name() const override { return "reference"; }
  [[nodiscard]] bool times_kernels() const override { return is_timed; }
  [[nodiscard]] std::string description() const override { return "the reference interpreter"; }
  [[nodiscard]] std::unique_ptr<Executable> compile(const graph::Graph& graph, const CompileOptions& options) override {
    if (options.choices.empty()) ++chosen;
    types.emplace_back(options.form, options.dtype);
    return std::make_unique<ReferenceExecutable>(graph, options, form);
  }
  [[nodiscard]] std::string instruction_set() const override { return set; }
  [[nodiscard]] std::string least_instruction_set(const std::vector<std::string>& sets) const override {
    return *std::ranges::min_element(sets);
  }

  [[nodiscard]] DType slot_dtype() const override { return slots; }

  std::string set = "reference";  ///< result of instruction_set()
  DType slots = DType::F32;       ///< result of slot_dtype()
  ReferenceForm form{};           ///< settings of the executables that compile() makes
  bool is_timed = false;          ///< result of times_kernels()
  int chosen = 0;                 ///< number of compile() calls without stored choices
  /// Form and dtype of each compile() call.
  std::vector<std::pair<Form, std::optional<ComputeType>>> types{};
};

}  // namespace roentgen::engine::reference
