// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/emulated_executable.h"

#include <chrono>
#include <thread>
#include <utility>

#include "bench/harness.h"
#include "engine/engine.h"

namespace roentgen::bench {
namespace {

class EmulatedExecutable final : public engine::Executable {
 public:
  EmulatedExecutable(std::unique_ptr<engine::Executable> real, StepCourse course, double step_s)
      : real_(std::move(real)), course_(std::move(course)), step_s_(step_s) {}

  [[nodiscard]] const graph::Graph& graph() const override { return real_->graph(); }
  [[nodiscard]] const engine::Plan& plan() const override { return real_->plan(); }
  [[nodiscard]] runtime::Device& memory_device() const override { return real_->memory_device(); }
  [[nodiscard]] const runtime::WireKernels* wire_kernels() const override { return real_->wire_kernels(); }
  [[nodiscard]] const std::vector<engine::InputSpec>& inputs() const override { return real_->inputs(); }
  [[nodiscard]] std::span<std::byte> slot(std::int64_t input, int slot) override { return real_->slot(input, slot); }
  void bind_slot(int slot) override { real_->bind_slot(slot); }
  void set_step(std::int64_t step) override { real_->set_step(step); }

  void forward() override {
    begin_ = Clock::now();
    sleep_until(course_.forward_over);
  }
  void backward(const engine::BucketCallback& on_bucket) override {
    for (std::size_t i = 0; i < course_.buckets_ready.size(); ++i) {
      sleep_until(course_.buckets_ready[i]);
      if (on_bucket) on_bucket(static_cast<std::int64_t>(i), runtime::reached_event());
    }
    sleep_until(1.0);
  }
  [[nodiscard]] std::span<const float> read(std::string_view name) const override {
    return name == "loss" ? std::span(&loss_, 1) : real_->read(name);
  }
  void begin_update() override { real_->begin_update(); }
  [[nodiscard]] std::optional<engine::LossScale> loss_scale() const override { return real_->loss_scale(); }
  [[nodiscard]] std::optional<engine::LossScale> read_loss_scale() const override { return real_->read_loss_scale(); }
  void set_loss_scale(const engine::LossScale& scale) override { real_->set_loss_scale(scale); }
  const runtime::Event& update(const engine::UpdateRule& rule, const engine::UpdateWork& work) override {
    return real_->update(rule, work);
  }
  [[nodiscard]] double read_norm() const override { return real_->read_norm(); }

  [[nodiscard]] engine::Arena& parameters() override { return real_->parameters(); }
  [[nodiscard]] const engine::Arena& parameters() const override { return std::as_const(*real_).parameters(); }
  [[nodiscard]] engine::Arena& gradients() override { return real_->gradients(); }
  [[nodiscard]] const engine::Arena& gradients() const override { return std::as_const(*real_).gradients(); }
  [[nodiscard]] engine::Arena& state() override { return real_->state(); }
  [[nodiscard]] const engine::Arena& state() const override { return std::as_const(*real_).state(); }
  [[nodiscard]] std::unique_ptr<engine::Arena> make_arena(engine::ArenaKind kind) override {
    return real_->make_arena(kind);
  }
  [[nodiscard]] const std::vector<engine::ParameterSlice>& slices() const override { return real_->slices(); }
  [[nodiscard]] const std::vector<engine::Bucket>& buckets() const override { return real_->buckets(); }
  [[nodiscard]] std::vector<float> store(std::int32_t parameter, const engine::Arena& arena) const override {
    return real_->store(parameter, arena);
  }
  void load(std::int32_t parameter, std::span<const float> values, engine::Arena& arena) const override {
    real_->load(parameter, values, arena);
  }
  [[nodiscard]] std::vector<engine::EntryTime> profile() const override { return {}; }
  void reset_profile() override {}

 private:
  void sleep_until(double share) const {
    const auto after = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * share * step_s_));
    std::this_thread::sleep_until(begin_ + after);  // imitates the compute time of the emulated device
  }

  const std::unique_ptr<engine::Executable> real_;
  const StepCourse course_;
  const double step_s_;
  const float loss_ = 1.0F;
  Clock::time_point begin_ = Clock::now();
};

}  // namespace

StepCourse measure_course(engine::Executable& executable, int steps) {
  double best_s = 0.0;
  StepCourse best;
  for (int step = 0; step < steps; ++step) {
    StepCourse course;
    const auto begin = Clock::now();
    executable.forward();
    course.forward_over = seconds_since(begin);
    executable.backward([&](std::int64_t, const runtime::Event& ready) {
      ready.wait();
      course.buckets_ready.push_back(seconds_since(begin));
    });
    const double step_s = seconds_since(begin);
    course.forward_over /= step_s;
    for (double& ready : course.buckets_ready) ready /= step_s;
    if (step > 0 && step_s >= best_s) continue;
    best_s = step_s;
    best = std::move(course);
  }
  return best;
}

std::unique_ptr<engine::Executable> make_emulated_executable(std::unique_ptr<engine::Executable> real,
                                                             StepCourse course, double step_s) {
  return std::make_unique<EmulatedExecutable>(std::move(real), std::move(course), step_s);
}

}  // namespace roentgen::bench
