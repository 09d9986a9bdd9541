// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/csv.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/foreign_text.h"
#include "core/random.h"
#include "io/io_testing.h"
#include "io/sha256.h"

namespace roentgen::io {
namespace {
using Row = std::vector<std::string>;

Csv parsed(std::string_view text) { return parse_csv(text, "test.csv").or_throw(); }

/// Error for a text that must not be accepted.
std::string error_of(std::string_view text) {
  const auto result = parse_csv(text, "test.csv");
  return result.ok() ? "no error" : result.error();
}

TEST(Csv, splits_header_and_rows) {
  const Csv csv = parsed("path,patient\na.png,1\nb.png,2\n");
  EXPECT_EQ(csv.header, (Row{"path", "patient"}));
  EXPECT_EQ(csv.rows, (std::vector<Row>{{"a.png", "1"}, {"b.png", "2"}}));
  EXPECT_EQ(csv.lines, (std::vector<std::int64_t>{2, 3}));
}

TEST(Csv, finds_columns_by_their_exact_name) {
  const Csv csv = parsed("path,patient,path\n");
  EXPECT_EQ(csv.column("patient"), 1U);
  EXPECT_EQ(csv.column("path"), 0U) << "the first of two";
  EXPECT_EQ(csv.column("Patient"), std::nullopt);
}

TEST(Csv, splits_the_nih_header_by_its_own_commas) {
  const Csv csv = parsed(
      "Image Index,Finding Labels,Follow-up #,Patient ID,Patient Age,Patient Gender,View Position,"
      "OriginalImage[Width,Height],OriginalImagePixelSpacing[x,y]\n"
      "00000001_000.png,Cardiomegaly|Emphysema,0,1,57,M,PA,2682,2749,0.143,0.143\n");
  ASSERT_EQ(csv.header.size(), 11U);
  EXPECT_EQ(csv.header[7], "OriginalImage[Width");
  EXPECT_EQ(csv.header[8], "Height]");
  EXPECT_EQ(csv.rows.at(0).size(), 11U);
}

TEST(Csv, keeps_ragged_rows_and_the_empty_field_after_a_last_comma) {
  const Csv csv = parsed("a,b,c\n1,2,3,\n1\n,,\n");
  EXPECT_EQ(csv.rows, (std::vector<Row>{{"1", "2", "3", ""}, {"1"}, {"", "", ""}}));
}

TEST(Csv, takes_any_line_end_and_a_last_line_without_one) {
  const std::vector<Row> expected{{"1", "2"}, {"3", "4"}};
  EXPECT_EQ(parsed("a,b\r\n1,2\r\n3,4\r\n").rows, expected);
  EXPECT_EQ(parsed("a,b\r1,2\r3,4").rows, expected);
  EXPECT_EQ(parsed("a,b\n1,2\n3,4").rows, expected);
}

TEST(Csv, drops_a_byte_order_mark) { EXPECT_EQ(parsed("\xEF\xBB\xBFpath,x\n").header, (Row{"path", "x"})); }

TEST(Csv, takes_bars_where_the_header_has_no_other_separator) {
  EXPECT_EQ(parsed("path|a\nx,y.png|1\n").rows, (std::vector<Row>{{"x,y.png", "1"}}));
  EXPECT_EQ(parsed("path\ta|b\n").header, (Row{"path", "a|b"}));
  EXPECT_EQ(parsed("path,a|b\nx.png,1|2\n").rows, (std::vector<Row>{{"x.png", "1|2"}}));
}

TEST(Csv, takes_semicolons_or_tabs_where_the_header_has_no_comma) {
  EXPECT_EQ(parsed("path;\"a,b\"\nx.png;0,5\n").header, (Row{"path", "a,b"}));
  EXPECT_EQ(parsed("path;a\nx.png;0,5\n").rows, (std::vector<Row>{{"x.png", "0,5"}}));
  EXPECT_EQ(parsed("path\ta\nx y.png\t1\n").rows, (std::vector<Row>{{"x y.png", "1"}}));
  EXPECT_EQ(parsed("x;a\"b,c\n").header, (Row{"x;a\"b", "c"})) << "a quote within a field is none";
  EXPECT_EQ(parsed("x;a\"\",c\n").header, (Row{"x;a\"\"", "c"}));
  EXPECT_EQ(parsed("\"x\"\",b\";c\n").header, (Row{"x\",b", "c"}));
  EXPECT_EQ(parsed("path,a;b\nx.png,1;2\n").rows, (std::vector<Row>{{"x.png", "1;2"}}));
}

TEST(Csv, reads_utf16_by_its_byte_order_mark) {
  using std::string_literals::operator""s;
  const std::string little = "\xFF\xFEp\0,\0\xE9\0\n\0x\0,\0\x3D\xD8\x00\xDE"s;
  EXPECT_EQ(parsed(little).header, (Row{"p", "\xC3\xA9"}));
  EXPECT_EQ(parsed(little).rows, (std::vector<Row>{{"x", "\xF0\x9F\x98\x80"}}));
  EXPECT_EQ(parsed("\xFE\xFF\0p\0\t\0q"s).header, (Row{"p", "q"}));
  EXPECT_EQ(parsed("\xFF\xFEp\0,\0\x3D\xD8"s).header, (Row{"p", "\xEF\xBF\xBD"}));
  EXPECT_FALSE(parse_csv("\xFF\xFEp\0,\0q"s, "t.csv").ok()) << "cut within a character";
}

TEST(Csv, takes_the_separator_that_a_first_line_declares) {
  for (const char* first : {"sep=;\n", "SEP=;\r\n", "\xEF\xBB\xBFsep=;\n", "\"sep=;\"\n"}) {
    const Csv csv = parsed(first + std::string("path;a,b\nx.png;0,5\n"));
    EXPECT_EQ(csv.header, (Row{"path", "a,b"})) << first;
    EXPECT_EQ(csv.rows, (std::vector<Row>{{"x.png", "0,5"}})) << first;
    EXPECT_EQ(csv.lines, (std::vector<std::int64_t>{3})) << first;
  }
  EXPECT_EQ(parsed("sep=|\npath|a\n").header, (Row{"path", "a"}));
  EXPECT_EQ(parsed("sep=a\nx\n").header, (Row{"sep=a"}));
  EXPECT_EQ(parse_csv_header("sep=;\npath;a,b\nx.png;", "t.csv").or_throw(), (Row{"path", "a,b"}));
}

TEST(Csv, header_alone_is_read_of_a_text_that_is_cut) {
  EXPECT_EQ(parse_csv_header("\n\npath,\"a\nb\"\nx,\"y", "t.csv").or_throw(), (Row{"path", "a\nb"}));
  EXPECT_FALSE(parse_csv_header("path,\"a", "t.csv").ok());
  EXPECT_FALSE(parse_csv_header("\n", "t.csv").ok());
}

TEST(Csv, names_utf16_without_its_byte_order_mark) {
  using std::string_literals::operator""s;
  for (const std::string& text : {"p\0,\0\xE9\0\n\0"s, "\0p\0,\0q\0\r\0\n\0x\0,\0001"s}) {
    EXPECT_NE(error_of(text).find("got UTF-16 without its byte order mark"), std::string::npos) << error_of(text);
    const auto header = parse_csv_header(text, "t.csv");
    ASSERT_FALSE(header.ok());
    EXPECT_NE(header.error().find("got UTF-16 without its byte order mark"), std::string::npos) << header.error();
  }
  EXPECT_NE(error_of("path,a\nx.png,\0\n"s).find("got a zero byte"), std::string::npos);
}

TEST(Csv, skips_blank_lines_but_counts_them) {
  const Csv csv = parsed("\n\na,b\n\r\n1,2\n\n\n3,4\n\n");
  EXPECT_EQ(csv.header, (Row{"a", "b"}));
  EXPECT_EQ(csv.rows, (std::vector<Row>{{"1", "2"}, {"3", "4"}}));
  EXPECT_EQ(csv.lines, (std::vector<std::int64_t>{5, 8}));
}

TEST(Csv, reads_quoted_fields) {
  const Csv csv = parsed("a,b\n\"x,y\",\"say \"\"ah\"\"\"\n\"\",\" z \"\n");
  EXPECT_EQ(csv.rows, (std::vector<Row>{{"x,y", "say \"ah\""}, {"", " z "}}));
}

TEST(Csv, keeps_line_breaks_in_quotes_and_counts_them) {
  const Csv csv = parsed("a,b\n\"one\ntwo\r\nthree\",x\n4,5\n");
  EXPECT_EQ(csv.rows.at(0).at(0), "one\ntwo\r\nthree");
  EXPECT_EQ(csv.lines, (std::vector<std::int64_t>{2, 5}));
}

TEST(Csv, takes_a_quote_inside_an_unquoted_field_as_it_is) {
  EXPECT_EQ(parsed("a,b\n5\" nodule,x\n").rows.at(0).at(0), "5\" nodule");
}

TEST(Csv, a_header_alone_is_a_table_without_rows) {
  EXPECT_TRUE(parsed("a,b").rows.empty());
  EXPECT_EQ(parsed("\"\"\n").header, (Row{""}));
}

TEST(Csv, carries_the_hash_of_the_bytes_as_they_are) {
  EXPECT_EQ(parsed("\xEF\xBB\xBFx\r\n").sha256, sha256_hex("\xEF\xBB\xBFx\r\n"));
}

TEST(Csv, refuses_a_text_without_a_line) {
  const std::string empty =
      "[io.csv] test.csv: expected a header line, got an empty file; try a csv whose first line names its columns";
  EXPECT_EQ(error_of(""), empty);
  EXPECT_EQ(error_of("\n\r\n\n"), empty);
  EXPECT_EQ(error_of("\xEF\xBB\xBF"), empty);
}

TEST(Csv, names_the_line_of_an_unclosed_quote) {
  EXPECT_EQ(
      error_of("a\n1\n\"two\n3\n4"),
      "[io.csv] test.csv, line 3: expected a closing quote, got the end of the file; try correcting that line, or "
      "saving the table anew as csv");
}

TEST(Csv, refuses_text_after_a_closing_quote) {
  EXPECT_EQ(error_of("a\n\"b\"c,d\n"),
            "[io.csv] test.csv, line 2: expected a comma after a closing quote, got 'c'; try correcting "
            "that line, or saving the table anew as csv");
}

TEST(Csv, refuses_bytes_that_are_no_text) {
  EXPECT_NE(error_of(std::string("a\0\0,b", 5)).find("got a zero byte"), std::string::npos) << "an image";
}

TEST(Csv, refuses_an_absurd_number_of_fields) {
  EXPECT_TRUE(parse_csv(std::string(65'535, ','), "test.csv").ok());
  EXPECT_NE(error_of(std::string(65'536, ',')).find("at most 65536 fields"), std::string::npos);
}

TEST(Csv, reads_a_file_and_names_it_in_errors) {
  const testing::TemporaryFolder folder;
  testing::put_file(folder.path() / "labels.csv", "path,x\na.png,1\n");
  EXPECT_EQ(read_csv(folder.path() / "labels.csv").or_throw().rows.size(), 1U);
  testing::put_file(folder.path() / "empty.csv", "");
  for (const char* name : {"empty.csv", "absent.csv", "."}) {
    const auto result = read_csv(folder.path() / name);
    ASSERT_FALSE(result.ok()) << name;
    EXPECT_NE(result.error().find((folder.path() / name).string()), std::string::npos) << result.error();
  }
}

TEST(CsvField, quotes_only_where_it_must) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  EXPECT_EQ(parsed("a,b\n'=1+1,'-5\n").rows, (std::vector<Row>{{"=1+1", "-5"}}));
  EXPECT_EQ(csv_field(""), "");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"ah\""), "\"say \"\"ah\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_field("cr\r"), "\"cr\r\"");
}

// Damaged text causes no crash and no endless loop (sanitizers check this). Every error is one line that names the
// file.
TEST(Csv, survives_damaged_text) {
  constexpr std::uint64_t kSeed = 11;
  const std::string base = "\xEF\xBB\xBFpath,\"label, one\",age\r\na.png,\"x \"\"y\"\"\",3\n\n\"b\nc.png\",,\n";
  int refused = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    Random random(kSeed, RandomStage::Test, i);
    const auto result = parse_csv(testing::damaged(base, random), "test.csv");
    if (result.ok()) {
      ASSERT_EQ(result.value().rows.size(), result.value().lines.size()) << "seed " << kSeed << ", case " << i;
      continue;
    }
    ++refused;
    ASSERT_TRUE(result.error().starts_with("[io.csv] test.csv")) << result.error();
    ASSERT_EQ(result.error().find('\n'), std::string::npos) << "seed " << kSeed << ", case " << i;
  }
  EXPECT_GT(refused, 100) << "damage that nothing notices tests nothing";
}
}  // namespace
}  // namespace roentgen::io
