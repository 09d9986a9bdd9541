// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/cpu/processor.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "core/folder_testing.h"

namespace roentgen::engine::cpu {
namespace {

const char* const kEpyc =
    "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\nmodel name\t: AMD EPYC\n"
    "stepping\t: 1\nmicrocode\t: 0xa101148\ncpu MHz\t\t: 2596.096\n\n"
    "processor\t: 1\nvendor_id\t: other\nmodel name\t: other\n\n";

std::vector<CacheText> caches(const std::string& l2, const std::string& l3) {
  return {{"1\n", "Data\n", "32K\n"},
          {"1\n", "Instruction\n", "32K\n"},
          {"2\n", "Unified\n", l2},
          {"3\n", "Unified\n", l3}};
}

TEST(Processor, is_one_word_of_all_that_tells_it_apart) {
  EXPECT_EQ(processor_word(kEpyc, caches("1024K\n", "32768K\n")), "AuthenticAMD-25-17-1-AMD_EPYC-L2_1024K-L3_32768K");
}

TEST(Processor, of_one_model_name_are_told_apart) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = kEpyc;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::vector<CacheText> usual = caches("1024K", "32768K");
  const std::set<std::string> words{processor_word(kEpyc, usual),
                                    processor_word(with("model\t\t: 17", "model\t\t: 1"), usual),
                                    processor_word(with("cpu family\t: 25", "cpu family\t: 26"), usual),
                                    processor_word(with("stepping\t: 1", "stepping\t: 2"), usual),
                                    processor_word(with("AuthenticAMD", "HygonGenuine"), usual),
                                    processor_word(kEpyc, caches("512K", "32768K")),
                                    processor_word(kEpyc, caches("1024K", "98304K"))};
  EXPECT_EQ(words.size(), 7U);
}

TEST(Processor, says_what_the_texts_say) {
  EXPECT_EQ(processor_word("", {}), "unknown");
  EXPECT_EQ(processor_word("\n\nno colon\nmodel name\t:  \n", {}), "unknown");
  EXPECT_EQ(processor_word("\nmodel name : Some \tProcessor\r\n", {}), "Some__Processor");
  EXPECT_EQ(
      processor_word("", std::vector<CacheText>{{"2", "Unified", ""}, {"2", "Instruction", "1M"}, {"3", "Data", "8M"}}),
      "L3_8M");
  EXPECT_EQ(processor_word("CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n"
                           "CPU revision\t: 1\n",
                           {}),
            "0x41-0x3-0xd0c-1");
}

TEST(Processor, is_read_from_the_files_of_a_machine) {
  const TemporaryFolder folder;
  const auto write = [&](const std::filesystem::path& path, const std::string& text) {
    std::filesystem::create_directories((folder.path() / path).parent_path());
    std::ofstream(folder.path() / path) << text;
  };
  write("cpuinfo", kEpyc);
  for (const auto& [name, text] : {std::pair{"level", "2\n"}, {"type", "Unified\n"}, {"size", "1024K\n"}}) {
    write(std::filesystem::path("cache/index2") / name, text);
  }
  EXPECT_EQ(this_processor(folder.path() / "cpuinfo", folder.path() / "cache"),
            "AuthenticAMD-25-17-1-AMD_EPYC-L2_1024K");
  EXPECT_EQ(this_processor(folder.path() / "none", folder.path() / "none"), "unknown");
  EXPECT_EQ(this_processor().find_first_of(" \t\n"), std::string::npos) << this_processor();
}

}  // namespace
}  // namespace roentgen::engine::cpu
