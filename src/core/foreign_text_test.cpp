// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/foreign_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/shell_testing.h"

namespace roentgen {
namespace {

using namespace std::string_view_literals;

TEST(ForeignText, a_terminal_gets_no_control_character) {
  EXPECT_EQ(terminal_text("bad\x1b]0;title\a\x1b[31mname.png"), "bad\\x1b]0;title\\x07\\x1b[31mname.png");
  EXPECT_EQ(terminal_text("new\nline\r\tend\x7f"), "new\\nline\\r\\tend\\x7f");
  EXPECT_EQ(terminal_text("zero\0here"sv), "zero\\x00here");
}

TEST(ForeignText, a_terminal_gets_nothing_that_is_not_seen_or_turns_the_text) {
  EXPECT_EQ(terminal_text("a\u202e\u2066\u200b\u009b31m"), "a\\u202e\\u2066\\u200b\\u009b31m");
  EXPECT_EQ(terminal_text("\U000e0041"), "\\U000e0041");
  EXPECT_EQ(terminal_text("\xff ok \xc3"), "\\xff ok \\xc3");
}

TEST(ForeignText, letters_of_all_scripts_stay_and_escapes_are_not_escaped_again) {
  const std::string name = "\u00fcn\u00efcode \u80ba \U0001fac1 100% {0} \\d.png";
  EXPECT_EQ(terminal_text(name), name);
  const std::string once = terminal_text("\x1b[31m\n");
  EXPECT_EQ(terminal_text(once), once);
}

TEST(ForeignText, markdown_holds_no_tag_no_cell_border_and_no_line_end) {
  EXPECT_EQ(markdown_text("<script>alert(1)</script>"), "&lt;script&gt;alert(1)&lt;/script&gt;");
  EXPECT_EQ(markdown_text("a|b\nc & *d* `e` [f](g)"), "a&#124;b\\\\nc &amp; \\*d\\* \\`e\\` \\[f\\](g)");
  EXPECT_EQ(markdown_text("Pleural_Thickening"), "Pleural_Thickening");
  EXPECT_EQ(markdown_text("_all_"), "\\_all\\_");
}

TEST(ForeignText, markdown_code_ends_where_the_text_ends) {
  EXPECT_EQ(markdown_code("model.onnx"), "`model.onnx`");
  EXPECT_EQ(markdown_code("a`b<c>\n"), "<code>a\\`b&lt;c&gt;\\\\n</code>");
}

TEST(ForeignText, a_python_string_ends_where_the_text_ends) {
  EXPECT_EQ(python_string("m.onnx"), "\"m.onnx\"");
  EXPECT_EQ(python_string("a\"); import os; os.system(\"id\") #.onnx"),
            "\"a\\\"); import os; os.system(\\\"id\\\") #.onnx\"");
  EXPECT_EQ(python_string("a\\\n\x1b\u202e\xff"), "\"a\\\\\\n\\x1b\\u202e\\udcff\"");
}

TEST(ForeignText, a_shell_reads_one_word_and_runs_nothing) {
  EXPECT_EQ(shell_word("runs/a-1_b.csv"), "runs/a-1_b.csv");
  EXPECT_EQ(shell_word("my labels.csv"), "'my labels.csv'");
  for (const std::string_view text :
       {"Crohn's", "x; touch pwned;", "$(id)`id`$HOME", "\\ \"q\" \\'", "a*?[b]{c,d}~!#&|<>", "\u80ba 'x'", ""}) {
    EXPECT_EQ(words_of("sh", shell_word(text) + " end"), (std::vector<std::string>{std::string(text), "end"}));
  }
  for (const std::string_view text : {"new\nline's \\n", "\x1b[31m\"q\"", "\u202e$HOME", "\xff.csv"}) {
    const std::string word = shell_word(text);
    EXPECT_EQ(terminal_text(word), word);
    EXPECT_EQ(words_of("bash", word), std::vector<std::string>{std::string(text)});
  }
}

TEST(ForeignText, no_cell_of_a_csv_begins_a_formula) {
  EXPECT_EQ(csv_field("=cmd|calc!A1"), "'=cmd|calc!A1");
  EXPECT_EQ(csv_field("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_field("+1+cmd"), "'+1+cmd");
  EXPECT_EQ(csv_field("-name.png"), "'-name.png");
  EXPECT_EQ(csv_field("\t=1"), "\"'\t=1\"");
  EXPECT_EQ(csv_field("\n=1"), "\"'\n=1\"");
  EXPECT_EQ(csv_field("=a,b"), "\"'=a,b\"");
}

TEST(ForeignText, numbers_and_other_text_stay_in_a_csv) {
  for (const char* text : {"-1", "+1.5e-3", "-.5", "0", "", "a=b", "'quoted'", "1-2.png"}) {
    EXPECT_EQ(csv_field(text), text);
    EXPECT_EQ(csv_value(text), text);
  }
  EXPECT_EQ(csv_field("-inf"), "'-inf");
}

TEST(ForeignText, csv_value_gives_back_what_csv_field_wrote) {
  for (const std::string text : {"=1", "'=1", "''=1", "-x", "'-5", "-5", "'", "@", "'a"}) {
    EXPECT_EQ(csv_value(csv_field(text)), text);
  }
}

}  // namespace
}  // namespace roentgen
