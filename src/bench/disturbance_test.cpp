// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/disturbance.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/folder_testing.h"

namespace roentgen::bench {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

/// Folders /proc and /sys of a machine with two cores, whose counters a test sets.
class Kernel : public testing::Test {
 protected:
  [[nodiscard]] CounterSources sources() const {
    return {.proc = folder_.path() / "proc", .sys = folder_.path() / "sys"};
  }

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = folder_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  /// Writes CPU times in seconds.
  void write_times(double busy_s, double own_s, double stolen_s) const {
    const auto ticks = [](double s) { return static_cast<long>(s * static_cast<double>(::sysconf(_SC_CLK_TCK))); };
    write("proc/stat", fmt::format("cpu  {} 0 0 9999 9999 0 0 {} 0 0\n", ticks(busy_s), ticks(stolen_s)));
    write("proc/self/stat", fmt::format("7 (a )name) S 1 2 3 4 5 6 7 8 9 10 {} 0 0\n", ticks(own_s)));
  }
  void write_core(int core, long throttles, long khz) const {
    const std::string folder = fmt::format("sys/devices/system/cpu/cpu{}/", core);
    write(folder + "thermal_throttle/core_throttle_count", fmt::format("{}\n", throttles));
    write(folder + "cpufreq/scaling_cur_freq", fmt::format("{}\n", khz));
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Kernel, counters_are_read) {
  write_times(100.0, 20.0, 3.0);
  write_core(0, 4, 3'000'000);
  write_core(1, 5, 2'000'000);
  write("sys/devices/system/cpu/cpufreq/thermal_throttle/core_throttle_count", "1000\n");  // not a core
  const MachineState state = machine_state(sources());
  EXPECT_THAT(state.busy_s, Optional(DoubleNear(100.0, 0.02)));
  EXPECT_THAT(state.own_s, Optional(DoubleNear(20.0, 0.02)));
  EXPECT_THAT(state.stolen_s, Optional(DoubleNear(3.0, 0.02)));
  EXPECT_EQ(state.throttles, 9);
  EXPECT_THAT(state.mhz, Optional(DoubleNear(2500.0, 1e-9)));
}

TEST_F(Kernel, without_counters_gives_no_figures_and_no_signs) {
  write("proc/stat", "nothing known\n");
  const MachineState state = machine_state(sources());
  EXPECT_FALSE(state.busy_s || state.own_s || state.stolen_s || state.throttles || state.mhz);
  MachineState later = state;
  later.seconds += 1.0;
  EXPECT_THAT(signs_of(disturbance_between(state, later)), IsEmpty());
}

TEST_F(Kernel, other_work_heat_and_clocks_are_reported) {
  const MachineState begin{
      .seconds = 10.0, .busy_s = 50.0, .own_s = 5.0, .stolen_s = 0.0, .throttles = 2, .mhz = 3000.0};
  const MachineState end{
      .seconds = 20.0, .busy_s = 75.0, .own_s = 25.0, .stolen_s = 1.0, .throttles = 9, .mhz = 2400.0};
  const Disturbance found = disturbance_between(begin, end);
  EXPECT_THAT(found.other_cores, Optional(DoubleNear(0.5, 1e-12)));
  EXPECT_THAT(signs_of(found),
              ElementsAre(HasSubstr("other processes used 0.5 cores"), HasSubstr("took away 0.10 cores"),
                          HasSubstr("because of heat 7 times"), HasSubstr("fell to 80%")));
}

TEST_F(Kernel, another_rank_reads_the_counters_of_the_machine) {
  write_times(100.0, 20.0, 3.0);
  write_core(0, 4, 3'000'000);
  CounterSources own = sources();
  own.has_machine = false;
  const MachineState state = machine_state(own);
  EXPECT_THAT(state.own_s, Optional(DoubleNear(20.0, 0.02)));
  EXPECT_FALSE(state.busy_s || state.stolen_s || state.throttles || state.mhz);
}

/// GPU whose state a test sets.
class FakeGpu final : public runtime::DeviceMonitor {
 public:
  std::optional<runtime::DeviceUse> read() override { return use; }
  std::optional<runtime::DeviceUse> use = runtime::DeviceUse{
      .power_limit_w = 700.0, .clock_mhz = 1980.0, .celsius = 45.0, .throttle_reasons = 0x1};  // idle, no disturbance
};

/// Disturbance between the state of the GPU as it is and `end`.
Disturbance gpu_disturbance(const runtime::DeviceUse& end) {
  FakeGpu gpu;
  const MachineState begin = machine_state({.gpu = &gpu});
  gpu.use = end;
  return disturbance_between(begin, machine_state({.gpu = &gpu}));
}

std::vector<std::string> gpu_signs(const runtime::DeviceUse& end) {
  Disturbance found = gpu_disturbance(end);
  found.other_cores = found.stolen_cores = std::nullopt;  // this machine may be busy
  found.throttles = std::nullopt;
  found.clock_ratio = std::nullopt;
  return signs_of(found);
}

TEST(Disturbance, of_a_gpu_has_its_clock_heat_and_limits) {
  const runtime::DeviceUse hot{
      .power_limit_w = 650.0, .clock_mhz = 1485.0, .celsius = 88.0, .throttle_reasons = 0x8 | 0x20 | 0x4};
  const Disturbance found = gpu_disturbance(hot);
  EXPECT_THAT(found.gpu_mhz, Optional(DoubleNear(1732.5, 1e-9)));
  EXPECT_EQ(found.gpu_celsius, 88.0);
  EXPECT_EQ(found.gpu_limit_w, 650.0);
  EXPECT_EQ(found.gpu_throttle_reasons, 0x8 | 0x20 | 0x4) << "being idle disturbs nobody";
  EXPECT_THAT(gpu_signs(hot),
              ElementsAre("the GPU was slowed by its power limit (650 W)",
                          "the GPU was slowed by heat (88 degrees Celsius)", "the clock of the GPU fell to 75%"));
}

TEST(Disturbance, of_a_gpu_names_every_reason) {
  EXPECT_THAT(gpu_signs({.throttle_reasons = 0x40}), ElementsAre("the GPU was slowed by heat"));
  EXPECT_THAT(gpu_signs({.throttle_reasons = 0x88}), ElementsAre("the GPU was slowed by the power supply"));
  EXPECT_THAT(gpu_signs({.throttle_reasons = 0x08}), ElementsAre("the GPU was slowed by its hardware"));
  EXPECT_THAT(gpu_signs({.clock_mhz = 1965.0, .throttle_reasons = 0x2}), IsEmpty())
      << "0.8% and a clock set by the user";
  EXPECT_THAT(gpu_signs({}), IsEmpty()) << "an old driver tells nothing";
}

TEST(Disturbance, of_several_hosts_is_that_with_the_worst_sign_by_name) {
  const std::vector<Disturbance> ranks{{.host = "a", .other_cores = 0.5, .gpu_clock_ratio = 1.0},
                                       {.host = "a", .gpu_clock_ratio = 0.97},
                                       {.host = "b", .other_cores = 0.2, .stolen_cores = 0.3},
                                       {.host = "c", .clock_ratio = 0.9}};
  EXPECT_THAT(signs_of(worst_host(ranks)), ElementsAre("host b: other processes used 0.2 cores",
                                                       HasSubstr("host b: the hypervisor took away 0.30 cores")));
  EXPECT_THAT(signs_of(worst_host(std::span(ranks).first(2))),
              ElementsAre("other processes used 0.5 cores", "the clock of the GPU fell to 97%"))
      << "one host: the worse value of its ranks, without its name";
  EXPECT_EQ(worst_host(std::vector<Disturbance>{{.host = "a"}, {.host = "b", .throttles = 2}}).host, "b");
  EXPECT_EQ(worst_host(std::vector<Disturbance>{{.host = "a"}, {.host = "b", .gpu_throttle_reasons = 0x20}}).host, "b");
}

TEST(Disturbance, of_this_machine_knows_its_own_time) {
  const MachineState state = machine_state();
  EXPECT_TRUE(state.busy_s && state.own_s);
  EXPECT_LE(*state.own_s, *state.busy_s + 0.1) << "reading is not atomic, and ticks last 0.01 s";
}

TEST(Disturbance, is_read_from_its_table) {
  const Disturbance found{.host = "b",
                          .other_cores = 0.5,
                          .throttles = 3,
                          .clock_ratio = 0.75,
                          .gpu_mhz = 1980.0,
                          .gpu_clock_ratio = 0.5,
                          .gpu_celsius = 70.0,
                          .gpu_limit_w = 700.0,
                          .gpu_throttle_reasons = 0x24};
  const Disturbance read = disturbance_in(to_value(found));
  EXPECT_EQ(read, found);
  EXPECT_EQ(read.stolen_cores, std::nullopt);
  EXPECT_EQ(disturbance_in(Value()), Disturbance{});
}

}  // namespace
}  // namespace roentgen::bench
