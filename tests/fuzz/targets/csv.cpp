// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/csv.h"
#include "core/foreign_text.h"
#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

// Checks that a parsed text stays the same when it is written and parsed again.
void fuzz_csv(Input input) {
  const auto table = io::parse_csv(text_of(input), "input");
  if (!table.ok()) return;
  const io::Csv& csv = table.value();
  require(csv.lines.size() == csv.rows.size(), "a line number for each row");
  const auto header = io::parse_csv_header(text_of(input), "input");
  require(header.ok() && header.value() == csv.header, "the same header alone");
  constexpr std::size_t kDeclaration_bytes = 4;  // a first name that begins with sep= may be read as a declaration
  if (csv.header[0].size() >= kDeclaration_bytes && csv.header[0][kDeclaration_bytes - 1] == '=') return;
  std::string text;
  const auto add = [&text](const std::vector<std::string>& row) {
    for (std::size_t i = 0; i < row.size(); ++i) text += (i == 0 ? "" : ",") + csv_field(row[i]);
    text += row.size() == 1 && row[0].empty() ? "\"\"\n" : "\n";  // without the quotes the line would be blank
  };
  add(csv.header);
  for (const auto& row : csv.rows) add(row);
  const auto again = io::parse_csv(text, "again");
  require(again.ok() && again.value().header == csv.header && again.value().rows == csv.rows,
          "the same table after it was written");
}

}  // namespace roentgen::fuzz
