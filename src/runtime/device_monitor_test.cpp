// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "runtime/device_monitor.h"

#include <gtest/gtest.h>

namespace roentgen::runtime {
namespace {

constexpr const char* kBus = "0000:3B:00.0";

TEST(DeviceMonitor, reads_what_the_library_tells) {
  const auto monitor = make_nvml_monitor(kBus, RG_FAKE_NVML);
  ASSERT_NE(monitor, nullptr);
  const std::optional<DeviceUse> use = monitor->read();
  ASSERT_TRUE(use.has_value());
  EXPECT_DOUBLE_EQ(use->power_w, 345.6);
  EXPECT_DOUBLE_EQ(use->power_limit_w, 700.0);
  EXPECT_EQ(use->busy_percent, 87);
  EXPECT_EQ(use->used_bytes, std::size_t{3} << 30U);
  EXPECT_EQ(use->memory_bytes, std::size_t{80} << 30U);
  EXPECT_EQ(use->processes, 2U);
  ASSERT_TRUE(use->energy_j.has_value());
  EXPECT_DOUBLE_EQ(*use->energy_j, 5000.5);
  EXPECT_EQ(use->clock_mhz, 1755.0);
  EXPECT_EQ(use->celsius, 71.0);
  EXPECT_EQ(use->throttle_reasons, 0x44);
}

TEST(DeviceMonitor, is_absent_without_library_functions_or_device) {
  EXPECT_EQ(make_nvml_monitor(kBus, "/no/such/libnvidia-ml.so.1"), nullptr);
  EXPECT_EQ(make_nvml_monitor(kBus, "libc.so.6"), nullptr);
  EXPECT_EQ(make_nvml_monitor("0000:3C:00.0", RG_FAKE_NVML), nullptr);
}

TEST(DeviceMonitor, instances_of_a_card_have_its_bus_address) {
  EXPECT_EQ(bus_of("0000:3B:00.0 0a1b"), kBus);
  EXPECT_EQ(bus_of(kBus), kBus);
  EXPECT_EQ(bus_of(""), "");
}

TEST(DeviceMonitor, warns_of_others_that_compute_on_a_device) {
  EXPECT_EQ(shared_device_warning("cuda:0", {}), "");
  EXPECT_EQ(shared_device_warning("cuda:0", {.busy_percent = 87, .used_bytes = 3U << 20U, .processes = 1}),
            "1 process computes on cuda:0 already, with 3 MiB in use and 87% busy; this process shares it");
  EXPECT_NE(shared_device_warning("cuda:0", {.processes = 2}).find("2 processes compute on cuda:0"), std::string::npos);
}

}  // namespace
}  // namespace roentgen::runtime
