// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/foreign_text.h"
#include "io/csv.h"
#include "io/value_testing.h"

namespace roentgen::io {
namespace {
using Row = std::vector<std::string>;

/// Line of a row. A single empty field is quoted, because the line would otherwise be blank.
std::string line_of(const Row& row, const std::string& line_end) {
  if (row == Row{""}) return "\"\"" + line_end;
  std::string line;
  for (std::size_t i = 0; i < row.size(); ++i) line += (i > 0 ? "," : "") + csv_field(row[i]);
  return line + line_end;
}

RC_GTEST_PROP(CsvProperty, what_is_written_reads_back, ()) {
  const auto text = rc::gen::map(testing::any_text(), [](std::string field) {
    field.erase(std::remove(field.begin(), field.end(), '\0'), field.end());  // text files contain no zero bytes
    return field;
  });
  const auto row = rc::gen::nonEmpty(rc::gen::container<Row>(text));
  const auto table = *rc::gen::scale(0.3, rc::gen::nonEmpty(rc::gen::container<std::vector<Row>>(row)));
  const std::string line_end = std::vector<std::string>{"\n", "\r\n", "\r"}[*testing::even<std::size_t>(0, 3)];

  std::string written;
  for (const Row& one : table) written += line_of(one, line_end);
  const Csv read = parse_csv(written, "written").or_throw();

  RC_ASSERT(read.header == table.front());
  RC_ASSERT(read.rows == std::vector<Row>(table.begin() + 1, table.end()));
}
}  // namespace
}  // namespace roentgen::io
