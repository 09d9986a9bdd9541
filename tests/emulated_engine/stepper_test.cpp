// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests updates of train::Stepper on the emulated CUDA engine: when the host waits for the device, and when it learns
// the gradient norm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "core/error.h"
#include "dist/comm_thread.h"
#include "dist/nccl_twin_testing.h"
#include "graph/loss.h"
#include "graph/text.h"
#include "tests/emulated_engine/steps_testing.h"
#include "train/stepper.h"

namespace roentgen::emulated {
namespace {

/// Engine that shows the device of its last executable.
class WatchedEngine final : public EmulatedEngine {
 public:
  using EmulatedEngine::EmulatedEngine;
  [[nodiscard]] const EmulatedDevice& device() const { return *device_; }

 private:
  [[nodiscard]] std::unique_ptr<runtime::Device> make_device() override {
    auto made = std::make_unique<EmulatedDevice>(DeviceOptions{.schedule = Schedule::OnlyNeeded});
    device_ = made.get();
    return made;
  }
  const EmulatedDevice* device_ = nullptr;
};

/// Source of random batches in two slots.
class RandomBatches final : public data::BatchSource {
 public:
  explicit RandomBatches(engine::Executable& executable) : executable_(executable) {}
  [[nodiscard]] std::optional<data::Batch> next() override {
    const int slot = static_cast<int>(count_ % 2);
    fill_slot(executable_, slot, kSeed + static_cast<std::uint64_t>(count_++));
    if (image_ > 0.0F) {
      const std::span<std::byte> bytes = executable_.slot(0, slot);
      std::ranges::fill(std::span(reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)), image_);
    }
    return data::Batch{.slot = slot, .valid = executable_.inputs()[0].shape[0]};
  }
  void release(int) override {}
  /// Sets all values of the images of later batches; 0: random values.
  void set_image(float value) { image_ = value; }

 private:
  engine::Executable& executable_;
  std::int64_t count_ = 0;
  float image_ = 0.0F;
};

/// A stepper on an emulated device whose work runs only when the host waits for it.
struct Training {
  Training(const graph::Graph& graph, double clip_norm, std::int64_t accumulate = 1)
      : executable(engine.compile(graph, {})),
        batches(*executable),
        stepper(*executable, {.optimizer = "sgd", .accumulate = accumulate, .clip_norm = clip_norm}) {
    initialise(*executable, kSeed);
  }
  train::StepRecord update(std::int64_t step) { return stepper.update(batches, step, 0.01); }

  WatchedEngine engine;
  std::unique_ptr<engine::Executable> executable;
  RandomBatches batches;
  train::Stepper stepper;
};

graph::Graph small_network() { return network("resnet18", 2, models::Stem::ImageNet, 8).graph; }

// Steps 1 and 2 are queued entry by entry, and step 3 captures graphs.
TEST(EmulatedStepper, steps_from_the_fourth_on_neither_allocate_nor_synchronise) {
  Training training(small_network(), 1.0);
  for (std::int64_t step = 0; step < 3; ++step) static_cast<void>(training.update(step));
  const std::int64_t buffers = training.engine.device().buffers_made();
  const std::int64_t waits = training.engine.device().synchronizations();
  EXPECT_GT(buffers, 0);
  EXPECT_GT(waits, 0) << "parts of the update, in the first step";
  for (std::int64_t step = 3; step < 10; ++step) {
    static_cast<void>(training.update(step));
    EXPECT_EQ(training.engine.device().buffers_made(), buffers) << "step " << step << ", seed " << kSeed;
    EXPECT_EQ(training.engine.device().synchronizations(), waits) << "step " << step << ", seed " << kSeed;
  }
}

/// A stepper that averages by an imitation of NCCL, with two batches an update and several buckets.
struct Averaged {
  Averaged()
      : group([] { return dist::make_communicator("single"); }, std::chrono::minutes(1), {.algorithm = "nccl"}),
        executable(engine.compile(small_network(), {.bucket_bytes = 1U << 16U})),
        batches(*executable),
        stepper(*executable, options()) {
    initialise(*executable, kSeed);
  }
  train::StepperOptions options() {
    const auto queue = [](runtime::Stream& stream, std::function<bool()> work) {
      as_emulated(stream).attempt("NCCL", std::move(work));
    };
    const auto behind = [](runtime::DeviceSpan<std::byte> span) { return std::span(span.address, span.count); };
    const auto make = [this, queue, behind] {
      auto made = std::make_unique<dist::NcclTwin>(dist::NcclTwinDevice{.queue = queue, .behind = behind});
      twin = made.get();
      return made;
    };
    return {.optimizer = "adam",
            .accumulate = 2,
            .clip_norm = 1.0,
            .group = &group,
            .device_id = "emulated",
            .make_nccl = make};
  }

  dist::CommThread group;
  const dist::NcclTwin* twin = nullptr;
  WatchedEngine engine;
  std::unique_ptr<engine::Executable> executable;
  RandomBatches batches;
  train::Stepper stepper;
};

TEST(EmulatedStepper, first_updates_with_nccl_neither_allocate_nor_connect) {
  Averaged training;
  const std::int64_t buckets = std::ssize(training.executable->buckets());
  ASSERT_GT(buckets, 1);
  EXPECT_EQ(training.twin->calls(), buckets) << "each bucket is averaged once before the first update";
  const std::int64_t made = training.engine.device().buffers_made();
  const std::int64_t waits = training.engine.device().synchronizations();
  for (std::int64_t step = 0; step < 4; ++step) {
    static_cast<void>(training.stepper.update(training.batches, step, 0.01));
    EXPECT_EQ(training.engine.device().buffers_made(), made) << "step " << step << ", seed " << kSeed;
    EXPECT_EQ(training.engine.device().synchronizations(), waits) << "step " << step << ", seed " << kSeed;
  }
  training.stepper.settle();
  EXPECT_EQ(training.twin->calls(), 5 * buckets);
}

// The host waits for the loss only, so that the backward pass is still queued when update() returns.
TEST(EmulatedStepper, clipping_does_not_wait_for_the_backward_pass) {
  Training clipped(small_network(), 1.0), plain(small_network(), 0.0);
  for (std::int64_t step = 0; step < 6; ++step) {
    static_cast<void>(clipped.update(step));
    static_cast<void>(plain.update(step));
    EXPECT_GE(clipped.engine.device().open_work(), plain.engine.device().open_work()) << "step " << step;
  }
  EXPECT_GE(plain.engine.device().open_work(), 3) << "graph of the backward pass, scale and update";
}

TEST(EmulatedStepper, norm_is_reported_one_update_late) {
  Training training(small_network(), 1.0);
  std::optional<double> norm;
  for (std::int64_t step = 0; step < 5; ++step) {
    EXPECT_EQ(training.update(step).gradient_norm, norm) << "step " << step << ", seed " << kSeed;
    norm = training.executable->read_norm();
    EXPECT_GT(*norm, 0.0);
    if (step == 3) training.stepper.settle();  // keeps the norm for the next record
  }
}

/// A linear classifier with one input value and a small positive weight.
graph::Graph linear_network() {
  constexpr const char* kText = R"(graph "linear"
input image (2, 1, 1, 1)
flat = flatten(image)
fc = linear(flat, out=1)
output logits = fc
)";
  return graph::with_loss(graph::parse_graph(kText, "linear").or_throw(), {});
}

/// Training whose last update, the second, had a finite loss and a gradient that overflowed: the sum of four batches
/// with gradients of up to 3e38.
struct Overflowed : Training {
  Overflowed() : Training(linear_network(), 1.0, 4) {
    executable->load(0, std::vector<float>{0.01F}, executable->parameters());
    static_cast<void>(update(0));
    weights = executable->parameters().values();
    batches.set_image(3e38F);
    static_cast<void>(update(1));
    batches.set_image(0.0F);
  }
  std::vector<float> weights;
};

TEST(EmulatedStepper, norm_that_is_not_finite_stops_the_next_update_and_changes_no_weight) {
  Overflowed training;
  EXPECT_EQ(training.executable->parameters().values(), training.weights) << "seed " << kSeed;
  try {
    static_cast<void>(training.update(2));
    FAIL() << "an infinite norm";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("step 2: expected a finite gradient norm"));
  }
  EXPECT_EQ(training.executable->parameters().values(), training.weights) << "seed " << kSeed;
}

TEST(EmulatedStepper, settling_finds_a_norm_that_is_not_finite) {
  Overflowed training;
  EXPECT_THROW(training.stepper.settle(), DataError);
  EXPECT_NO_THROW(training.stepper.settle()) << "the norm was read";
}

}  // namespace
}  // namespace roentgen::emulated
