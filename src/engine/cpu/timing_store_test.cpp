// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/timing_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/folder_testing.h"
#include "engine/cpu/processor.h"
#include "runtime/cache_folder.h"

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

TEST_F(TimingFile, a_torn_line_swallows_nothing_and_is_never_taken_for_a_whole_one) {
  const std::string whole = "v1\tmachine\ttorn\tdirect=1.25";
  for (std::size_t length = 1; length <= whole.size(); ++length) {
    std::filesystem::remove(file_);
    TimingStore(file_, "machine").put("before", {{"direct", 1.0}});
    append(whole.substr(0, length));
    TimingStore(file_, "machine").put("after", {{"direct", 2.0}});
    const TimingStore store(file_, "machine");
    EXPECT_TRUE(store.find("before", {"direct"})) << length;
    ASSERT_TRUE(store.find("after", {"direct"})) << length;
    EXPECT_EQ(store.find("after", {})->at("direct"), 2.0);
    for (const char* key : {"torn", "tor", "to", "t"}) EXPECT_FALSE(store.find(key, {})) << length;
  }
}

TEST_F(TimingFile, a_line_that_ended_well_is_left_alone) {
  TimingStore(file_, "machine").put("one", {{"direct", 1.0}});
  TimingStore(file_, "machine").put("two", {{"direct", 1.0}});
  std::ifstream stream(file_);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  EXPECT_EQ(text, "v1\tmachine\tone\tdirect=1\nv1\tmachine\ttwo\tdirect=1\n");
}

TEST_F(TimingFile, one_that_cannot_be_written_is_as_none_and_warned_of_once) {
  std::ofstream(folder_.path() / "deep") << "no folder";  // so that root cannot write below it either
  testing::internal::CaptureStderr();
  for (const char* key : {"key", "another"}) {
    TimingStore store(file_, "machine");
    store.put(key, {{"direct", 1.0}});
    EXPECT_TRUE(store.find(key, {"direct"})) << "in memory it is kept";
    EXPECT_FALSE(TimingStore(file_, "machine").find(key, {}));
  }
  const std::string said = testing::internal::GetCapturedStderr();
  const std::string warning = "[engine.timings] " + file_.string() +
                              ": expected a folder that can be written, got Not a directory; try XDG_CACHE_HOME=DIR";
  EXPECT_NE(said.find(warning), std::string::npos) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
}

TEST_F(TimingFile, a_folder_in_its_place_is_warned_of_too) {
  std::filesystem::create_directories(file_);
  testing::internal::CaptureStderr();
  TimingStore(file_, "machine").put("key", {{"direct", 1.0}});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("expected a folder that can be written, got Is a directory"), std::string::npos) << said;
}

TEST(TimingPlace, is_the_cache_folder) {
  EXPECT_EQ(timing_file(), runtime::default_cache_folder() / "algorithm_timings.txt");
}

TEST(TimingMachine, names_the_processor) {
  EXPECT_TRUE(timing_machine().starts_with(this_processor() + "; ")) << timing_machine();
}

}  // namespace
}  // namespace roentgen::engine::cpu
