// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/report_text.h"

#include <gtest/gtest.h>

namespace roentgen::cli {
namespace {

TEST(ReportText, has_a_line_an_entry_with_aligned_keys) {
  const Value report(Value::Table{{"case", "step"},
                                  {"images_per_s", 16.23456},
                                  {"step_ms", Value::Table{{"median", 985.5}, {"p95", 12345.6}}},
                                  {"profile", Value()},
                                  {"is_fast", true}});
  EXPECT_EQ(report_text(report),
            "case          step\n"
            "images_per_s  16.23\n"
            "step_ms       median 985.5, p95 12346\n"
            "profile       -\n"
            "is_fast       yes\n");
}

TEST(ReportText, bytes_have_a_unit_and_counts_are_whole) {
  EXPECT_EQ(report_text(Value::Table{{"peak_bytes", 3 << 20}, {"memory_bytes", 3LL << 29}, {"n", 12345678}}),
            "peak_bytes    3.0 MiB\n"
            "memory_bytes  1.5 GiB\n"
            "n             12345678\n");
}

TEST(ReportText, tables_of_tables_have_a_line_each_and_arrays_of_words_one) {
  const Value report(Value::Table{{"engines", Value::Table{{"cpu", Value::Table{{"available", true}}},
                                                           {"cuda", Value::Table{{"available", false}}}}},
                                  {"flags", Value::Array{"avx2", "fma"}},
                                  {"variables", Value::table()}});
  EXPECT_EQ(report_text(report),
            "engines.cpu   available yes\n"
            "engines.cuda  available no\n"
            "flags         avx2 fma\n"
            "variables     -\n");
}

TEST(ReportText, arrays_of_tables_have_columns) {
  const Value report(
      Value::Table{{"profile", Value::Array{Value::Table{{"kind", "conv2d_forward"}, {"ms", 12.5}, {"gflops", 101.0}},
                                            Value::Table{{"kind", "optimizer"}, {"ms", 1.25}, {"gflops", Value()}}}}});
  EXPECT_EQ(report_text(report),
            "profile\n"
            "  kind              ms  gflops\n"
            "  conv2d_forward  12.5     101\n"
            "  optimizer       1.25       -\n");
}

TEST(ReportText, text_is_on_one_line_without_control_characters) {
  EXPECT_EQ(report_text(Value::Table{{"model", "a\nb\x1b"}}), "model  a\\nb\\x1b\n");
}

TEST(ReportText, leaves_out_what_is_told) {
  EXPECT_EQ(report_text(Value::Table{{"a", 1}, {"long_key", 2}}, {"long_key"}), "a  1\n");
}

TEST(ReportText, breaks_long_lines_between_words) {
  std::string words;
  for (int i = 0; i < 60; ++i) words += "word ";
  const std::string text = report_text(Value::Table{{"key", words}});
  EXPECT_NE(text.find("word\n     word"), std::string::npos) << text;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    EXPECT_LE(end - begin, 110U);
    begin = end + 1;
  }
}

}  // namespace
}  // namespace roentgen::cli
