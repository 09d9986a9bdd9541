// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/energy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>

#include "bench/harness.h"
#include "core/folder_testing.h"

namespace roentgen::bench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;
using testing::SizeIs;

constexpr std::uint64_t kRange = 262'143'328'850;  // that of an Intel Xeon

class Powercap : public testing::Test {
 protected:
  void write(const std::string& domain, const std::string& name, std::uint64_t uj) const {
    std::filesystem::create_directories(path() / domain);
    std::ofstream(path() / domain / "name") << name << "\n";
    std::ofstream(path() / domain / "max_energy_range_uj") << kRange << "\n";
    std::ofstream(path() / domain / "energy_uj") << uj << "\n";
  }
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

 private:
  TemporaryFolder folder_;
};

/// Device with a counter that the test sets; none: the device does not count energy.
class FakeMonitor final : public runtime::DeviceMonitor {
 public:
  explicit FakeMonitor(const std::optional<double>& joules) : joules_(joules) {}
  std::optional<runtime::DeviceUse> read() override { return runtime::DeviceUse{.energy_j = joules_}; }

 private:
  const std::optional<double>& joules_;
};

TEST_F(Powercap, counts_over_the_end_of_the_counter) {
  write("intel-rapl:0", "package-0", kRange - 1'000'000);
  auto counter = RaplCounter::open(path() / "intel-rapl:0");
  ASSERT_TRUE(counter);
  write("intel-rapl:0", "package-0", kRange - 500'000);
  counter->update();
  EXPECT_DOUBLE_EQ(counter->joules(), 0.5);
  write("intel-rapl:0", "package-0", 2'000'000);
  counter->update();
  EXPECT_DOUBLE_EQ(counter->joules(), 3.0);
  std::filesystem::remove(path() / "intel-rapl:0/energy_uj");
  counter->update();
  EXPECT_DOUBLE_EQ(counter->joules(), 3.0) << "an unreadable counter adds nothing";
}

TEST_F(Powercap, counts_packages_and_memory_once) {
  write("intel-rapl:0", "package-0", 0);
  write("intel-rapl:0:0", "core", 0);
  write("intel-rapl:0:1", "dram", 0);
  write("intel-rapl:1", "psys", 0);
  write("intel-rapl-mmio:0", "package-0", 0);
  EXPECT_THAT(rapl_counters(path()), SizeIs(2));
  EXPECT_THAT(rapl_counters(path() / "absent"), IsEmpty());
}

TEST_F(Powercap, meter_adds_all_domains_and_knows_each_device) {
  write("intel-rapl:0", "package-0", 5);
  write("intel-rapl:1", "package-1", 7);
  std::optional<double> first = 100.0;
  const std::optional<double> second;
  Monitors monitors;
  monitors.push_back(std::make_unique<FakeMonitor>(first));
  monitors.push_back(std::make_unique<FakeMonitor>(second));
  monitors.push_back(nullptr);
  EnergyMeter meter(std::move(monitors), path());
  write("intel-rapl:0", "package-0", 1'000'005);
  write("intel-rapl:1", "package-1", 2'000'007);
  first = 150.0;
  const Energy energy = meter.stop();
  EXPECT_THAT(energy.cpu_j, Optional(3.0));
  EXPECT_THAT(energy.gpu_j, ElementsAre(Optional(50.0), std::nullopt, std::nullopt));
  EXPECT_GE(energy.seconds, 0.0);
}

TEST_F(Powercap, meter_leaves_out_the_energy_of_other_work) {
  write("intel-rapl:0", "package-0", 0);
  EnergyMeter meter({}, path());
  write("intel-rapl:0", "package-0", 1'000'000);
  const auto begin = Clock::now();
  constexpr double kOther_s = 0.02;
  meter.leave_out([&] {
    write("intel-rapl:0", "package-0", 5'000'000);
    while (seconds_since(begin) < kOther_s) {
    }
  });
  write("intel-rapl:0", "package-0", 7'000'000);
  const Energy energy = meter.stop();
  EXPECT_THAT(energy.cpu_j, Optional(3.0));
  EXPECT_LT(energy.seconds, seconds_since(begin)) << "the time of the other work does not count";
}

// A sum without one of the packages would be too small.
TEST_F(Powercap, meter_knows_no_energy_if_a_counter_cannot_be_read) {
  write("intel-rapl:0", "package-0", 5);
  write("intel-rapl:1", "package-1", 5);
  EXPECT_FALSE(is_rapl_forbidden(path()));
  std::filesystem::remove(path() / "intel-rapl:1/energy_uj");
  const Energy energy = EnergyMeter({}, path()).stop();
  EXPECT_EQ(energy.cpu_j, std::nullopt);
  EXPECT_TRUE(energy.is_cpu_forbidden);
}

TEST_F(Powercap, meter_without_counters_knows_no_energy) {
  EXPECT_EQ(EnergyMeter({}, path()).stop().cpu_j, std::nullopt);
}

TEST(AddEnergy, gives_images_per_joule_and_per_cost) {
  Value result = Value::Table{{"device", "cpu"}, {"images_per_s", 20.0}, {"time_to_target_s", 1800.0}};
  add_energy(result, {.seconds = 10.0, .cpu_j = 1000.0, .gpu_j = {9.0}}, 7.2);
  EXPECT_DOUBLE_EQ(result.find_path("energy.watts")->as_double(), 100.0) << "the GPU did not compute";
  EXPECT_DOUBLE_EQ(result.find_path("energy.images_per_joule")->as_double(), 0.2);
  EXPECT_DOUBLE_EQ(result.find_path("cost.images_per_cost")->as_double(), 10000.0);
  EXPECT_DOUBLE_EQ(result.find_path("cost.to_target")->as_double(), 3.6);
  EXPECT_DOUBLE_EQ(result.find_path("cost.of_case")->as_double(), 0.02);
}

TEST(AddEnergy, takes_the_device_that_computed) {
  Value one = Value::Table{{"device", "cuda:1"}};
  add_energy(one, {.seconds = 1.0, .cpu_j = std::nullopt, .gpu_j = {1.0, 20.0}}, 0.0);
  EXPECT_DOUBLE_EQ(one.find_path("energy.gpu_joules")->as_double(), 20.0);
  EXPECT_EQ(one.find("cost"), nullptr);
  Value both = Value::Table{{"device", "cuda"}, {"ranks", 2}};
  add_energy(both, {.seconds = 1.0, .cpu_j = 4.0, .gpu_j = {1.0, 20.0}}, 0.0);
  EXPECT_DOUBLE_EQ(both.find_path("energy.watts")->as_double(), 25.0);
}

TEST(AddEnergy, takes_only_the_devices_of_the_ranks) {
  Value two = Value::Table{{"device", "cuda"}, {"ranks", 2}, {"images_per_s", 30.0}};
  add_energy(two, {.seconds = 1.0, .gpu_j = {10.0, 20.0, 70.0}}, 0.0);
  EXPECT_DOUBLE_EQ(two.find_path("energy.images_per_joule")->as_double(), 1.0) << "the third GPU was idle";
}

TEST(AddEnergy, of_devices_that_this_process_does_not_see_is_unknown) {
  Value two = Value::Table{{"device", "cuda"}, {"ranks", 2}, {"images_per_s", 30.0}};
  add_energy(two, {.seconds = 1.0, .gpu_j = {10.0}}, 0.0);
  EXPECT_TRUE(two.find_path("energy.images_per_joule")->is_null()) << "half of the energy would flatter";
  EXPECT_THAT(two.find_path("energy.unknown")->as_string(), testing::HasSubstr("fewer GPUs"));
}

// Preparation needs less power than training, which would flatter the images per joule.
TEST(AddEnergy, takes_the_power_of_the_measured_steps) {
  Value result = Value::Table{{"device", "cpu"}, {"images_per_s", 20.0}};
  result.set("energy", energy_value(result, {.seconds = 2.0, .cpu_j = 400.0}));
  add_energy(result, {.seconds = 10.0, .cpu_j = 500.0}, 0.0);
  EXPECT_DOUBLE_EQ(result.find_path("energy.watts")->as_double(), 200.0);
  EXPECT_DOUBLE_EQ(result.find_path("energy.images_per_joule")->as_double(), 0.1);
  EXPECT_DOUBLE_EQ(result.find_path("energy.cpu_joules")->as_double(), 500.0);
  EXPECT_EQ(result.find_path("energy.of")->as_string(), "steps");
}

TEST(AddEnergy, of_several_hosts_is_unknown) {
  for (const Value& hosts : {Value(2), Value("a:1,b:1"), Value(Value::Array{"a", "b"})}) {
    Value result = Value::Table{{"device", "cpu"}, {"images_per_s", 20.0}, {"hosts", hosts}};
    add_energy(result, {.seconds = 1.0, .cpu_j = 50.0}, 0.0);
    EXPECT_TRUE(result.find_path("energy.images_per_joule")->is_null());
    EXPECT_TRUE(result.find_path("energy.cpu_joules")->is_null());
    EXPECT_THAT(result.find_path("energy.unknown")->as_string(), testing::HasSubstr("not that of the others"));
  }
  Value one = Value::Table{{"device", "cpu"}, {"images_per_s", 20.0}, {"hosts", Value::Array{"a", "a"}}};
  add_energy(one, {.seconds = 1.0, .cpu_j = 50.0}, 0.0);
  EXPECT_EQ(one.find_path("energy.unknown"), nullptr);
}

TEST(AddEnergy, says_why_it_is_unknown) {
  const auto reason = [](Value result, const Energy& energy) {
    add_energy(result, energy, 0.0);
    return result.find_path("energy.unknown")->as_string();
  };
  const Value on_cpu = Value::Table{{"device", "cpu"}};
  EXPECT_THAT(reason(on_cpu, {.seconds = 1.0}), testing::HasSubstr("no RAPL"));
  EXPECT_THAT(reason(on_cpu, {.seconds = 1.0, .is_cpu_forbidden = true}), testing::HasSubstr("chmod"));
  EXPECT_THAT(reason(Value::Table{{"device", "cuda"}}, {.seconds = 1.0}), testing::HasSubstr("NVML"));
  EXPECT_THAT(reason(Value::Table{{"device", "cpu"}, {"kind", "emulated"}}, {.seconds = 1.0, .cpu_j = 1.0}),
              testing::HasSubstr("emulated"));
}

TEST(AddEnergy, does_not_take_an_unknown_energy_for_none) {
  Value result = Value::Table{{"device", "cuda:0"}, {"images_per_s", 20.0}};
  add_energy(result, {.seconds = 1.0, .cpu_j = 50.0, .gpu_j = {std::nullopt}}, 0.0);
  EXPECT_TRUE(result.find_path("energy.gpu_joules")->is_null());
  EXPECT_TRUE(result.find_path("energy.images_per_joule")->is_null()) << "the CPU's energy alone would flatter";
  Value unreadable = Value::Table{{"device", "cpu"}, {"images_per_s", 20.0}};
  add_energy(unreadable, {.seconds = 1.0, .cpu_j = std::nullopt, .gpu_j = {}}, 0.0);
  EXPECT_TRUE(unreadable.find_path("energy.watts")->is_null());
}

}  // namespace
}  // namespace roentgen::bench
