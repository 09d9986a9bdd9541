// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/set_option.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/foreign_text.h"
#include "core/shell_testing.h"
#include "data/source/options.h"
#include "io/toml.h"

namespace roentgen::data {
namespace {

/// Parses a printed option as a shell and then --set would.
SourceOptions read_back(const std::string& printed) {
  EXPECT_EQ(terminal_text(printed), printed);
  const std::vector<std::string> words = words_of("bash", printed);
  EXPECT_EQ(words.size(), 2U) << printed;
  EXPECT_EQ(words.at(0), "--set");
  const std::size_t equals = words.at(1).find('=');
  EXPECT_EQ(words[1].substr(0, 5), "data.");
  Value table = Value::table();
  table.set(words[1].substr(5, equals - 5), io::parse_toml_value(words[1].substr(equals + 1), "--set").or_throw());
  return source_options_from_value(table, {});
}

TEST(SetOption, reads_back_as_the_very_names) {
  for (const char* name :
       {"Mass", "Lung Opacity", "Crohn's", "q\"x", "back\\slash", "x; touch pwned;", "$(id) `id` $HOME", "Mass:1,0",
        "1", "true", "nan", "2020-01-02", "[x", "'x'", "# x", "new\nline", "\u80ba \u202e", "a,b", "!x *?~"}) {
    EXPECT_EQ(read_back(set_option("data.labels", std::vector<std::string>{name})).labels,
              std::vector<std::string>{name});
    const std::vector<std::string> two{name, "Crohn's"};
    EXPECT_EQ(read_back(set_option("data.labels", two)).labels, two);
    EXPECT_EQ(read_back(set_option("data.csv", name)).csv, std::vector<std::filesystem::path>{name});
  }
  EXPECT_EQ(set_option("data.csv", "mine.csv"), "--set data.csv=mine.csv");
  EXPECT_EQ(set_option("data.labels", std::vector<std::string>{"Lung Opacity"}), "--set 'data.labels=Lung Opacity'");
}

}  // namespace
}  // namespace roentgen::data
