// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/device_watch.h"

#include <gtest/gtest.h>

#include "train/observer.h"

namespace roentgen::train {
namespace {

constexpr std::size_t kGiB = std::size_t{1} << 30U;

// Imitates a device with 139 GiB. Tests set its power, load and energy; it counts its readings.
class FakeMonitor final : public runtime::DeviceMonitor {
 public:
  std::optional<runtime::DeviceUse> read() override {
    ++reads;
    if (is_mute) return std::nullopt;
    return runtime::DeviceUse{.power_w = power_w,
                              .power_limit_w = 700.0,
                              .busy_percent = busy_percent,
                              .used_bytes = used_bytes,
                              .memory_bytes = 139 * kGiB,
                              .processes = 1,
                              .energy_j = energy_j};
  }
  double power_w = 600.0;
  int busy_percent = 0, reads = 0;
  std::size_t used_bytes = 41 * kGiB;
  std::optional<double> energy_j = 1000.0;
  bool is_mute = false;
};

class DeviceWatchTest : public testing::Test {
 protected:
  double now_s_ = 50.0;
  FakeMonitor monitor_;
  DeviceWatch watch_{&monitor_, [this] { return now_s_; }};
};

TEST_F(DeviceWatchTest, reads_once_a_second_while_updates_run) {
  watch_.begin();
  EXPECT_FALSE(watch_.look());
  now_s_ += 0.9;
  EXPECT_FALSE(watch_.look());
  EXPECT_EQ(monitor_.reads, 1);
  monitor_.busy_percent = 97;
  now_s_ += 0.2;
  const auto use = watch_.look();
  ASSERT_TRUE(use);
  EXPECT_EQ(use->busy_percent, 97);
  EXPECT_FALSE(watch_.look());
  EXPECT_EQ(monitor_.reads, 2);
}

TEST_F(DeviceWatchTest, sums_up_use_and_the_energy_of_updates_alone) {
  const auto epoch = [&](int busy_percent, double energy_j) {
    watch_.begin();
    now_s_ += 1.0;
    monitor_.busy_percent = busy_percent;
    static_cast<void>(watch_.look());
    *monitor_.energy_j += energy_j;
    watch_.end();
  };
  epoch(90, 200.0);
  *monitor_.energy_j += 5000.0;  // energy of a validation, which must not count
  monitor_.used_bytes = 50 * kGiB;
  monitor_.power_w = 700.0;
  epoch(100, 300.0);
  const auto figures = watch_.figures(6900);
  ASSERT_TRUE(figures);
  EXPECT_DOUBLE_EQ(figures->busy_percent, 95.0);
  EXPECT_DOUBLE_EQ(figures->power_w, 650.0);
  EXPECT_EQ(figures->most_used_bytes, 50 * kGiB);
  EXPECT_DOUBLE_EQ(figures->energy_j.value(), 500.0);
  EXPECT_DOUBLE_EQ(figures->images_per_j.value(), 13.8);
  EXPECT_EQ(device_text(*figures), "GPU 95% busy, at most 50 of 139 GiB, 650 W, 13.8 images/J");
  EXPECT_DOUBLE_EQ(to_value(*figures).at("images_per_j").as_double(), 13.8);
}

TEST_F(DeviceWatchTest, leaves_out_the_energy_that_a_device_does_not_count) {
  monitor_.energy_j.reset();
  watch_.begin();
  watch_.end();
  const auto figures = watch_.figures(100);
  ASSERT_TRUE(figures);
  EXPECT_FALSE(figures->images_per_j);
  EXPECT_EQ(device_text(*figures), "GPU 0% busy, at most 41 of 139 GiB, 600 W");
  EXPECT_TRUE(to_value(*figures).at("energy_j").is_null());
}

TEST_F(DeviceWatchTest, tells_nothing_without_readings_or_a_monitor) {
  monitor_.is_mute = true;
  watch_.begin();
  now_s_ += 2.0;
  EXPECT_FALSE(watch_.look());
  watch_.end();
  EXPECT_FALSE(watch_.figures(100));
  DeviceWatch none(nullptr);
  none.begin();
  EXPECT_FALSE(none.look());
  none.end();
  EXPECT_FALSE(none.figures(100));
}

TEST(DeviceText, is_short) {
  EXPECT_EQ(device_text({.power_w = 640.4, .used_bytes = 41 * kGiB, .memory_bytes = 139 * kGiB}, 96.6),
            "GPU 97%, 41 of 139 GiB, 640 W");
  EXPECT_EQ(device_text({.used_bytes = kGiB / 2, .memory_bytes = 16 * kGiB}, 3.0), "GPU 3%, 0.5 of 16 GiB, 0 W");
}

// The host waits for batches, but the device is always busy.
TEST(DeviceVerdict, is_compute_bound_for_a_busy_device) {
  EXPECT_EQ(bound_by(5.0, 10.0, 0.0, 97.0), "compute-bound");
  EXPECT_EQ(bound_by(5.0, 10.0, 0.0, 60.0), "input-bound");
  EXPECT_EQ(bound_by(0.6, 10.0, 0.7, 60.0), "communication-bound");
  EXPECT_EQ(bound_by(0.0, 10.0, 0.0, 60.0), "compute-bound");
}

TEST(DeviceVerdict, stands_on_the_progress_line_with_the_device) {
  const auto progress = make_progress(ProgressStyle::Line);
  StepRecord record{.step = 1, .total_steps = 10, .loss = 0.5, .images = 64, .seconds = 1.0, .data_wait_seconds = 0.5};
  record.device =
      runtime::DeviceUse{.power_w = 640.0, .busy_percent = 97, .used_bytes = 41 * kGiB, .memory_bytes = 139 * kGiB};
  testing::internal::CaptureStderr();
  progress->on_step(record);
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find("data wait 50.0%, compute-bound, GPU 97%, 41 of 139 GiB, 640 W  left"), std::string::npos)
      << line;
  record.device.reset();
  testing::internal::CaptureStderr();
  make_progress(ProgressStyle::Line)->on_step(record);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("data wait 50.0%, input-bound  left"), std::string::npos);
}

}  // namespace
}  // namespace roentgen::train
