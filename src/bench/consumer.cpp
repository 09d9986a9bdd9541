// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/consumer.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "bench/harness.h"
#include "bench/options.h"
#include "core/error.h"
#include "engine/engine.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::bench {
namespace {

constexpr std::string_view kPrefix = "emulated:";

class EmulatedDevice final : public Consumer {
 public:
  EmulatedDevice(double images_per_s, const BatchSize& size) : images_per_s_(images_per_s), size_(size) {
    for (int i = 0; i < size.slots; ++i) images_.emplace_back(bytes());
  }

  std::vector<data::BatchSlot> slots(std::size_t labels) override {
    const std::size_t values = static_cast<std::size_t>(size_.images) * labels;
    labels_.assign(images_.size(), std::vector<float>(values));
    masks_ = labels_;
    std::vector<data::BatchSlot> all;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      all.push_back({.images = images_[i].bytes().first(bytes()), .labels = labels_[i], .mask = masks_[i]});
    }
    return all;
  }

  void take(int /*slot*/) override {
    if (images_per_s_ <= 0.0) return;
    const auto busy =
        std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * static_cast<double>(size_.images) / images_per_s_));
    is_free_ = std::max(is_free_, Clock::now()) + busy;
    std::this_thread::sleep_until(is_free_);  // imitates the compute time of the emulated device
  }

  [[nodiscard]] std::string name() const override {
    return is_emulated() ? fmt::format("{}{}", kPrefix, images_per_s_) : std::string();
  }
  [[nodiscard]] bool is_emulated() const override { return images_per_s_ > 0.0; }

 private:
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(size_.images) * size_.image_bytes; }

  const double images_per_s_;
  const BatchSize size_;
  std::vector<runtime::AlignedBuffer> images_;
  std::vector<std::vector<float>> labels_, masks_;
  Clock::time_point is_free_ = Clock::now();
};

class TrainingStep final : public Consumer {
 public:
  TrainingStep(const NetworkOptions& options, StepTeam team)
      : options_(options),
        team_(team),
        engine_(engine::make_engine(options.device)),
        executable_(compile_step(options, *engine_, team)),
        steps_(*executable_) {}

  std::vector<data::BatchSlot> slots(std::size_t labels) override {
    return batch_slots(*executable_, team_.slots, labels, labels_);
  }

  void take(int slot) override {
    executable_->bind_slot(slot);
    steps_.run();
    static_cast<void>(steps_.loss());
  }

  [[nodiscard]] std::string name() const override { return options_.model; }
  [[nodiscard]] int threads() const override { return team_.threads; }
  [[nodiscard]] std::optional<DType> slot_dtype() const override { return engine_->slot_dtype(); }

 private:
  const NetworkOptions options_;
  const StepTeam team_;
  const std::unique_ptr<engine::Engine> engine_;
  const std::unique_ptr<engine::Executable> executable_;
  SgdSteps steps_;
  std::vector<std::vector<float>> labels_;
};

}  // namespace

std::unique_ptr<Consumer> make_emulated_device(double images_per_s, const BatchSize& size) {
  return std::make_unique<EmulatedDevice>(images_per_s, size);
}

std::unique_ptr<Consumer> make_training_step(const NetworkOptions& options, StepTeam team) {
  return std::make_unique<TrainingStep>(options, team);
}

double parse_emulated_device(std::string_view text) {
  constexpr Unit kUnits[] = {{"", 1.0}};
  if (is_emulated_device(text)) {
    const auto rate = quantity_in(text.substr(kPrefix.size()), kUnits);
    if (rate && *rate >= 0.1 && *rate <= 1e9) return *rate;
  }
  throw ConfigError(error_text("bench.pipeline", "--device", "emulated:RATE with a rate in images per second", text,
                               "--device emulated:1200"));
}

bool is_emulated_device(std::string_view text) { return text.starts_with(kPrefix); }

}  // namespace roentgen::bench
