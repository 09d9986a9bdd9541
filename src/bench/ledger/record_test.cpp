// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/error.h"
#include "core/folder_testing.h"
#include "io/json.h"

namespace roentgen::bench {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::ThrowsMessage;

class Ledger : public testing::Test {
 protected:
  [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }
  [[nodiscard]] std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path() / name) << text;
    return path() / name;
  }

 private:
  TemporaryFolder folder_;
};

Value record() {
  return make_record("step", {"bench", "step", "--batch", "4"},
                     Value::Table{{"images_per_s", 12.5}, {"samples", Value::Table{{"step_s", Value::array()}}}});
}

TEST_F(Ledger, returns_what_was_written) {
  const Value written = record();
  const std::filesystem::path file = write_record(path() / "new/folder", written);
  EXPECT_EQ(read_record(file).value, written);
  EXPECT_THAT(file.filename().string(), MatchesRegex("[0-9]{8}T[0-9]{6}Z-step-[0-9a-z]{7,8}-[0-9a-f]{8}\\.json"));
}

TEST_F(Ledger, record_identifies_the_machine_without_its_name) {
  EXPECT_THAT(record().at("host").as_string(), MatchesRegex("[0-9a-f]{12}"));
  EXPECT_EQ(record().at("host"), record().at("host"));
  EXPECT_THAT(record().at("date").as_string(), MatchesRegex("20[0-9-]{8}T[0-9:]{8}Z"));
}

TEST_F(Ledger, command_is_one_line_for_a_shell) {
  EXPECT_EQ(command_text(record()), "bench step --batch 4");
  EXPECT_EQ(command_text(make_record("step", {"a b", "c"}, Value::table())), "'a b' c");
  EXPECT_EQ(command_text(Value::table()), "");
}

TEST_F(Ledger, is_sorted_by_date) {
  for (const char* const date : {"2026-11-27T10:00:00Z", "2025-01-01T00:00:00Z", "2026-11-27T09:00:00Z"}) {
    Value each = record();
    each.set("date", date);
    static_cast<void>(write_record(path(), each));
  }
  const std::vector<StoredRecord> records = read_records(path());
  ASSERT_EQ(records.size(), 3U);
  EXPECT_TRUE(std::ranges::is_sorted(records, {}, [](const auto& each) { return each.value.at("date").as_string(); }));
}

TEST_F(Ledger, refuses_other_files_by_name) {
  const auto reads = [](const std::filesystem::path& file) { return [file] { static_cast<void>(read_record(file)); }; };
  EXPECT_THAT(reads(write("a.json", "{\"schema\": \"roentgen-bench-record/2\"}")),
              ThrowsMessage<DataError>(HasSubstr("a.json: expected roentgen-bench-record/1, got")));
  EXPECT_THAT(reads(write("b.json", "{\"images_per_s\": 1}")), ThrowsMessage<DataError>(HasSubstr("got other JSON")));
  EXPECT_THAT(reads(write("c.json", "[1")), ThrowsMessage<DataError>(HasSubstr("c.json")));
  EXPECT_THAT(reads(path() / "absent.json"), ThrowsMessage<DataError>(HasSubstr("absent.json")));
}

TEST_F(Ledger, refuses_every_record_that_was_cut_or_lacks_a_key) {
  const std::string text = io::to_json(record(), -1);
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW(static_cast<void>(read_record(write("cut.json", text.substr(0, size)))), DataError) << size;
  }
  for (const char* const key : {"schema", "date", "host", "commit", "case", "result"}) {
    Value lacking = record();
    lacking.set(key, 1);
    const auto file = write("lacking.json", io::to_json(lacking));
    EXPECT_THROW(static_cast<void>(read_record(file)), DataError) << key;
  }
}

TEST_F(Ledger, without_records_is_an_error) {
  EXPECT_THAT([&] { static_cast<void>(read_records(path())); },
              ThrowsMessage<DataError>(HasSubstr("expected records (*.json)")));
}

TEST(DefaultLedger, follows_the_xdg_variables) {
  ::setenv("XDG_DATA_HOME", "/data", 1);
  EXPECT_EQ(default_ledger(), "/data/roentgen/bench");
  ::setenv("XDG_DATA_HOME", "relative", 1);
  ::setenv("HOME", "/home/a", 1);
  EXPECT_EQ(default_ledger(), "/home/a/.local/share/roentgen/bench");
  ::unsetenv("HOME");
  EXPECT_EQ(default_ledger(), "");
}

}  // namespace
}  // namespace roentgen::bench
