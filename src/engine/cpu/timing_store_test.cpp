// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/timing_store.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>

#include "core/folder_testing.h"

namespace roentgen::engine::cpu {
namespace {

class TimingFile : public testing::Test {
 protected:
  void append(const std::string& text) const { std::ofstream(file_, std::ios::app) << text; }

  const TemporaryFolder folder_;
  const std::filesystem::path file_ = folder_.path() / "deep" / "timings.txt";
};

TEST_F(TimingFile, another_process_finds_what_one_measured) {
  TimingStore(file_, "machine").put("a 3x3 layer", {{"direct", 1.25e-3}, {"winograd", 7.0 / 9.0}});
  const TimingStore again(file_, "machine");
  const auto found = again.find("a 3x3 layer", {"direct", "winograd"});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->at("direct"), 1.25e-3);
  EXPECT_EQ(found->at("winograd"), 7.0 / 9.0) << "to the bit";
  EXPECT_FALSE(again.find("another layer", {}));
}

TEST_F(TimingFile, what_another_machine_measured_or_what_lacks_an_algorithm_is_not_used) {
  TimingStore(file_, "machine").put("key", {{"direct", 1.0}});
  EXPECT_FALSE(TimingStore(file_, "other").find("key", {"direct"}));
  EXPECT_FALSE(TimingStore(file_, "machine").find("key", {"direct", "split"}));
}

TEST_F(TimingFile, the_last_measurement_counts) {
  TimingStore store(file_, "machine");
  store.put("key", {{"direct", 1.0}});
  store.put("key", {{"direct", 2.0}});
  EXPECT_EQ(TimingStore(file_, "machine").find("key", {})->at("direct"), 2.0);
}

TEST_F(TimingFile, torn_foreign_and_damaged_lines_are_passed_over) {
  TimingStore(file_, "machine").put("good", {{"direct", 1.0}});
  append("v0\tmachine\told\tdirect=1\n");
  for (const char* damaged :
       {"direct=", "direct=x", "direct=-1", "direct=nan", "=1", "direct=1 winograd", "", "direct=1e999"}) {
    append(std::string("v1\tmachine\tdamaged\t") + damaged + "\n");
  }
  append(std::string("\0\xff\t\t\n\n", 5) + "v1\n");
  append("v1\tmachine\ttorn\tdirect=1");
  const TimingStore store(file_, "machine");
  EXPECT_TRUE(store.find("good", {"direct"}));
  for (const char* key : {"old", "damaged", "torn"}) EXPECT_FALSE(store.find(key, {})) << key;
}

TEST_F(TimingFile, a_file_that_cannot_be_written_is_as_none) {
  std::ofstream(folder_.path() / "deep") << "no folder";
  TimingStore store(file_, "machine");
  store.put("key", {{"direct", 1.0}});
  EXPECT_TRUE(store.find("key", {"direct"}));
  EXPECT_FALSE(TimingStore(file_, "machine").find("key", {}));
}

TEST(TimingPlace, the_environment_moves_the_file) {
  const char* old = std::getenv("XDG_CACHE_HOME");
  const std::optional<std::string> before = old == nullptr ? std::nullopt : std::optional<std::string>(old);
  ::setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(timing_file(), "/somewhere/roentgen/algorithm_timings.txt");
  before ? ::setenv("XDG_CACHE_HOME", before->c_str(), 1) : ::unsetenv("XDG_CACHE_HOME");
  EXPECT_FALSE(timing_machine().empty());
}

}  // namespace
}  // namespace roentgen::engine::cpu
