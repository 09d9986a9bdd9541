// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/machine_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.h"
#include "engine/engine.h"

namespace roentgen::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Engine that only has the id of its device.
class FakeEngine final : public engine::Engine {
 public:
  explicit FakeEngine(std::string id) : id_(std::move(id)) {}
  [[nodiscard]] std::string_view name() const override { return "fake"; }
  [[nodiscard]] std::string description() const override { return "fake"; }
  [[nodiscard]] std::string device_id() const override { return id_; }
  [[nodiscard]] std::unique_ptr<engine::Executable> compile(const graph::Graph& /*graph*/,
                                                            const engine::CompileOptions& /*options*/) override {
    throw DeviceError("computes nothing");
  }

 private:
  std::string id_;
};

/// Watches a run of steps that do nothing. Returns the numbers of steps before each sample.
std::vector<std::int64_t> samples_of_run(const engine::Engine& engine, const WatchOptions& options) {
  MachineWatch watch(engine, options);
  watch.begin();
  for (std::int64_t step = 0; step < options.steps; ++step) watch.before_step(step);
  watch.end();
  EXPECT_GT(watch.end_state().seconds, watch.begin_state().seconds);
  EXPECT_EQ(watch.paused_s() > 0.0, !watch.calibration().samples.empty());
  return watch.calibration().steps;
}

TEST(MachineWatch, samples_before_between_and_after_the_steps) {
  const FakeEngine cpu("");
  EXPECT_THAT(samples_of_run(cpu, {.steps = 100}), ElementsAre(0, 25, 50, 75, 100));
  EXPECT_THAT(samples_of_run(cpu, {.steps = 10}), ElementsAre(0, 2, 5, 7, 10));
  EXPECT_THAT(samples_of_run(cpu, {.steps = 2}), ElementsAre(0, 1, 2));
  EXPECT_THAT(samples_of_run(cpu, {.steps = 1}), ElementsAre(0, 1));
}

TEST(MachineWatch, does_not_sample_between_steps_beside_other_threads) {
  EXPECT_THAT(samples_of_run(FakeEngine(""), {.steps = 100, .has_samples_between = false}), ElementsAre(0, 100));
}

TEST(MachineWatch, takes_the_last_sample_after_other_threads_have_ended) {
  const FakeEngine cpu("");
  MachineWatch watch(cpu, {.steps = 4, .has_samples_between = false});
  watch.begin();
  std::size_t before = 0;
  watch.end([&] { before = watch.calibration().samples.size(); });
  EXPECT_EQ(before, 1U);
  EXPECT_EQ(watch.calibration().samples.size(), 2U);
}

TEST(MachineWatch, leaves_out_samples_that_tell_nothing) {
  EXPECT_THAT(samples_of_run(FakeEngine(""), {.steps = 8, .is_calibrated = false}), IsEmpty());
  EXPECT_THAT(samples_of_run(FakeEngine("0000:3C:00.0"), {.steps = 8}), IsEmpty()) << "the CPU is not the device";
}

TEST(MachineWatch, waits_for_the_other_ranks_before_and_after_each_sample) {
  int meetings = 0;
  const WatchOptions options{.steps = 4, .meet = [&meetings] { ++meetings; }};
  EXPECT_EQ(samples_of_run(FakeEngine(""), options).size(), 5U);
  EXPECT_EQ(meetings, 10);
}

}  // namespace
}  // namespace roentgen::bench
