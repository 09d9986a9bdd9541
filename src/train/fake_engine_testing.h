// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: an engine that runs one net, image -> flatten -> linear -> sigmoid loss, in plain loops. Its arena holds
// every parameter backwards and padded, so that code which takes plain for kernel layout shows.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/engine.h"
#include "engine/reference/update.h"
#include "graph/builder.h"
#include "graph/loss.h"

namespace roentgen::train {

inline constexpr std::int64_t kFakePadding = 3;

/// The net the fake engine runs: parameters "fc.weight" (labels, image_px^2) and "fc.bias" (labels).
inline graph::Graph fake_model(std::int64_t batch, std::int64_t image_px, std::int64_t labels) {
  graph::Builder builder("fake");
  const auto image = builder.input("image", Shape{batch, 1, image_px, image_px});
  const auto flat = builder.add("flat", graph::Flatten{}, {image});
  const auto logits = builder.add("fc", graph::Linear{.out_features = labels}, {flat});
  builder.output("logits", logits);
  return std::move(builder).build();
}

/// How a fake machine computes and lays out.
struct FakeForm {
  /// Of its kernel, where none is given: "plain", or "rounded", which adds up in f32 and so makes other bits.
  std::string choice = "plain";
  /// Where it is not f32.
  std::string dtype{};
  /// Elements behind the first parameter.
  std::int64_t padding = kFakePadding;
  /// Implementation of an entry; empty: none.
  std::string kernel{};
  /// False: as in inference, which has no gradients.
  bool has_gradients = true;
};

class FakeExecutable final : public engine::Executable {
 public:
  FakeExecutable(const graph::Graph& graph, const engine::CompileOptions& options, const FakeForm& form = {})
      : graph_(graph), plan_() {
    const Shape& image = graph.node(graph.find("image")).shape;
    batch_ = image[0];
    pixels_ = image[1] * image[2] * image[3];
    labels_ = graph.node(graph.output("logits")).shape[1];
    for (const graph::Node& node : graph.nodes()) {
      if (!node.is_input()) continue;
      inputs_.push_back({.name = node.name,
                         .shape = node.shape,
                         .bytes = static_cast<std::size_t>(node.shape.elements()) * sizeof(float)});
      memory_.emplace_back();
      for (int slot = 0; slot < options.slots; ++slot) {
        memory_.back().emplace_back(static_cast<std::size_t>(node.shape.elements()));
      }
    }
    slices_ = {{.parameter = 1, .begin = 0, .count = labels_},
               {.parameter = 0, .begin = labels_ + form.padding, .count = labels_ * pixels_}};
    const std::int64_t elements = labels_ + form.padding + labels_ * pixels_;
    parameters_ = new_arena(elements);
    gradients_ = new_arena(form.has_gradients ? elements : 0);
    if (!form.kernel.empty()) plan_.entries.push_back({.name = "fc/forward", .implementation = form.kernel});
    buckets_ = {{.begin = 0, .count = elements}};
    logits_.resize(static_cast<std::size_t>(batch_ * labels_));
    plan_.choices = options.choices;
    if (options.choices.empty()) {
      plan_.choices["fc/forward"] = form.choice;
      if (!form.dtype.empty()) plan_.choices[std::string(engine::kDtypeChoice)] = form.dtype;
    }
    is_rounded_ = plan_.choices["fc/forward"] == "rounded";
  }

  [[nodiscard]] const graph::Graph& graph() const override { return graph_; }
  [[nodiscard]] const engine::Plan& plan() const override { return plan_; }
  [[nodiscard]] const std::vector<engine::InputSpec>& inputs() const override { return inputs_; }
  [[nodiscard]] std::span<std::byte> slot(std::int64_t input, int slot) override {
    return std::as_writable_bytes(
        std::span(memory_.at(static_cast<std::size_t>(input)).at(static_cast<std::size_t>(slot))));
  }
  void bind_slot(int slot) override { bound_ = static_cast<std::size_t>(slot); }
  void set_step(std::int64_t step) override { last_step = step; }

  void forward() override {
    const auto& image = memory_[0][bound_];
    double sum = 0.0;
    known_ = 0.0;
    for (std::int64_t n = 0; n < batch_; ++n) {
      for (std::int64_t k = 0; k < labels_; ++k) {
        double z = static_cast<double>(at(1, k));
        for (std::int64_t i = 0; i < pixels_; ++i) {
          z += static_cast<double>(at(0, k * pixels_ + i)) *
               static_cast<double>(image[static_cast<std::size_t>(n * pixels_ + i)]);
          if (is_rounded_) z = static_cast<double>(static_cast<float>(z));
        }
        const auto cell = static_cast<std::size_t>(n * labels_ + k);
        logits_[cell] = static_cast<float>(z);
        if (memory_.size() < 3) continue;
        const auto t = static_cast<double>(memory_[1][bound_][cell]);
        const auto m = static_cast<double>(memory_[2][bound_][cell]);
        sum += m * (std::max(z, 0.0) - t * z + std::log1p(std::exp(-std::abs(z))));
        known_ += m;
      }
    }
    loss_ = static_cast<float>(poison ? std::nan("") : sum / std::max(known_, 1.0));
    is_sound_ = is_sound_ && std::isfinite(loss_);
  }

  void backward(const engine::BucketCallback& on_bucket) override {
    const std::span<float> gradients = gradients_->host();
    std::ranges::fill(gradients, 0.0F);
    const auto& image = memory_[0][bound_];
    for (std::int64_t n = 0; n < batch_; ++n) {
      for (std::int64_t k = 0; k < labels_; ++k) {
        const auto cell = static_cast<std::size_t>(n * labels_ + k);
        const double s = 1.0 / (1.0 + std::exp(-static_cast<double>(logits_[cell])));
        const auto t = static_cast<double>(memory_[1][bound_][cell]);
        const double d = static_cast<double>(memory_[2][bound_][cell]) * (s - t) / std::max(known_, 1.0);
        gradients[place(1, k)] += static_cast<float>(d);
        for (std::int64_t i = 0; i < pixels_; ++i) {
          gradients[place(0, k * pixels_ + i)] +=
              static_cast<float>(d * static_cast<double>(image[static_cast<std::size_t>(n * pixels_ + i)]));
        }
      }
    }
    if (on_bucket) on_bucket(0, runtime::reached_event());
  }

  [[nodiscard]] std::span<const float> read(std::string_view name) const override {
    return name == "loss" ? std::span(&loss_, 1) : std::span<const float>(logits_);
  }
  void begin_update() override { is_sound_ = true; }
  const runtime::Event& update(const engine::UpdateRule& rule, const engine::UpdateWork& work) override {
    if (work.clip_norm > 0.0) {
      double squares = 0.0;
      for (const float value : work.source.values()) squares += static_cast<double>(value) * static_cast<double>(value);
      norm_ = work.scale * std::sqrt(squares);
      is_sound_ = is_sound_ && std::isfinite(norm_);
    }
    if (is_sound_) engine::reference::update(rule, work);
    return runtime::reached_event();
  }
  [[nodiscard]] double read_norm() const override { return norm_; }
  [[nodiscard]] engine::Arena& parameters() override { return *parameters_; }
  [[nodiscard]] const engine::Arena& parameters() const override { return *parameters_; }
  [[nodiscard]] engine::Arena& gradients() override { return *gradients_; }
  [[nodiscard]] const engine::Arena& gradients() const override { return *gradients_; }
  [[nodiscard]] engine::Arena& state() override { return *state_; }
  [[nodiscard]] const engine::Arena& state() const override { return *state_; }
  [[nodiscard]] std::unique_ptr<engine::Arena> make_arena(engine::ArenaKind kind) override {
    return new_arena(kind == engine::ArenaKind::Trained ? parameters_->elements() : 0);
  }
  [[nodiscard]] const std::vector<engine::ParameterSlice>& slices() const override { return slices_; }
  [[nodiscard]] const std::vector<engine::Bucket>& buckets() const override { return buckets_; }
  using engine::Executable::load;
  using engine::Executable::store;
  [[nodiscard]] std::vector<float> store(std::int32_t parameter, const engine::Arena& arena) const override {
    std::vector<float> values(static_cast<std::size_t>(graph_.parameter(parameter).shape.elements()));
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = arena.host()[place(parameter, static_cast<std::int64_t>(i))];
    }
    return values;
  }
  void load(std::int32_t parameter, std::span<const float> values, engine::Arena& arena) const override {
    for (std::size_t i = 0; i < values.size(); ++i) {
      arena.host()[place(parameter, static_cast<std::int64_t>(i))] = values[i];
    }
  }
  [[nodiscard]] std::vector<engine::EntryTime> profile() const override { return {}; }
  void reset_profile() override {}

  /// What set_step() was last given.
  std::int64_t last_step = -1;
  /// Makes every loss a NaN.
  bool poison = false;

 private:
  [[nodiscard]] std::size_t place(std::int32_t parameter, std::int64_t i) const {
    const engine::ParameterSlice& slice = slices_[slices_[0].parameter == parameter ? 0 : 1];
    return static_cast<std::size_t>(slice.begin + slice.count - 1 - i);
  }
  [[nodiscard]] float at(std::int32_t parameter, std::int64_t i) const {
    return parameters_->host()[place(parameter, i)];
  }

  [[nodiscard]] std::unique_ptr<engine::Arena> new_arena(std::int64_t elements) const {
    return std::make_unique<engine::Arena>(*device_, *stream_, elements);
  }

  graph::Graph graph_;
  engine::Plan plan_;
  std::unique_ptr<runtime::Device> device_ = runtime::make_cpu_device();
  std::unique_ptr<runtime::Stream> stream_ = device_->make_stream();
  std::unique_ptr<engine::Arena> parameters_, gradients_, state_ = new_arena(0);
  std::vector<engine::InputSpec> inputs_;
  std::vector<std::vector<std::vector<float>>> memory_;
  std::vector<engine::ParameterSlice> slices_;
  std::vector<engine::Bucket> buckets_;
  std::vector<float> logits_;
  std::int64_t batch_ = 0, pixels_ = 0, labels_ = 0;
  std::size_t bound_ = 0;
  bool is_rounded_ = false;
  float loss_ = 0.0F;
  double known_ = 0.0;
  double norm_ = 0.0;
  bool is_sound_ = true;
};

class FakeEngine final : public engine::Engine {
 public:
  [[nodiscard]] std::string_view name() const override { return "fake"; }
  [[nodiscard]] std::string description() const override { return "plain loops"; }
  [[nodiscard]] std::unique_ptr<engine::Executable> compile(const graph::Graph& graph,
                                                            const engine::CompileOptions& options) override {
    if (options.choices.empty()) ++chosen;
    auto executable = std::make_unique<FakeExecutable>(graph, options, form);
    executable->poison = poison;
    return executable;
  }
  [[nodiscard]] std::string instruction_set() const override { return set; }
  [[nodiscard]] std::string least_instruction_set(const std::vector<std::string>& sets) const override {
    return *std::ranges::min_element(sets);
  }
  std::string set = "fake";
  FakeForm form{};
  /// How often compile() was given no choices.
  int chosen = 0;
  /// Of what compile() makes.
  bool poison = false;
};

}  // namespace roentgen::train
