// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <variant>

#include "cli/doctor_check.h"
#include "core/error.h"
#include "core/folder_testing.h"

namespace roentgen::cli {
namespace {

using testing::HasSubstr;

/// Check with a small network on an emulated device.
class DoctorScale : public testing::Test {
 protected:
  DoctorScale() {
    set<std::string>("--model", "resnet18");
    set<std::string>("--batch", "2");
    set<std::int64_t>("--image", 32);
    set<std::int64_t>("--threads", 1);
    set<std::string>("--device", "emulated:20");
    set<std::string>("--devices", "1,2,4096");
    set<std::string>("--bandwidth", "100Mbit");
  }
  template <typename T>
  void set(const std::string& name, const T& value) {
    for (const Option& option : check_->options()) {
      if (option.name == name) *std::get<T*>(option.target) = value;
    }
  }
  Value run() {
    testing::internal::CaptureStdout();
    Value result = check_->run("").json;
    printed_ = testing::internal::GetCapturedStdout();
    return result;
  }

  std::unique_ptr<DoctorCheck> check_ = make_doctor_scale();
  TemporaryFolder folder_;
  std::string printed_;
};

TEST_F(DoctorScale, predicts_up_to_thousands_of_devices) {
  const Value result = run();
  const auto& points = result.at("points").as_array();
  ASSERT_EQ(points.size(), 3U);
  EXPECT_NEAR(points[0].at("images_per_s").as_double(), 20.0, 1e-9);
  EXPECT_EQ(points[2].at("devices").as_integer(), 4096);
  EXPECT_EQ(points[2].at("hosts").as_integer(), 4096);
  EXPECT_LT(points[2].at("efficiency").as_double(), points[1].at("efficiency").as_double());
  EXPECT_EQ(points[1].find("measured"), nullptr);
  EXPECT_EQ(result.at("links_are").at("between_hosts").as_string(), "given");
  EXPECT_EQ(result.at("links_are").at("within_host").as_string(), "assumed");
  EXPECT_THAT(printed_, HasSubstr("\n  devices  hosts "));
}

TEST_F(DoctorScale, shows_measured_points_beside) {
  const std::filesystem::path file = folder_.path() / "scaling.json";
  std::ofstream(file) << R"({"result": {"points": [{"ranks": 1, "images_per_s": 16.0}]}})";
  set("--measured", file);
  const Value result = run();
  const auto& points = result.at("points").as_array();
  EXPECT_DOUBLE_EQ(points[0].at("measured").as_double(), 16.0);
  EXPECT_NEAR(points[0].at("ratio").as_double(), 20.0 / 16.0, 1e-9);
  EXPECT_TRUE(points[1].at("measured").is_null());
}

TEST_F(DoctorScale, refuses_what_it_cannot_use) {
  const std::filesystem::path file = folder_.path() / "other.json";
  std::ofstream(file) << R"({"points": 3})";
  set("--measured", file);
  EXPECT_THROW(static_cast<void>(check_->run("")), DataError);
  set("--measured", std::filesystem::path());
  set<std::string>("--devices", "1,x");
  try {
    static_cast<void>(check_->run(""));
    FAIL() << "no numbers";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--devices"));
  }
  set<std::string>("--devices", "1");
  EXPECT_THROW(static_cast<void>(check_->run("a:1")), ConfigError) << "one rank has no link";
}

}  // namespace
}  // namespace roentgen::cli
