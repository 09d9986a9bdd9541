// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/record.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <utility>

#include "core/error.h"
#include "io/environment.h"
#include "io/file.h"
#include "io/json.h"
#include "io/sha256.h"
#include "runtime/cache_folder.h"

namespace roentgen::bench {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHostDigits = 12;
constexpr std::size_t kCommitDigits = 8;

/// Text that identifies this machine: the id that systemd gave it at installation (machine-id(5)), and the host name,
/// because images of virtual machines share ids.
std::string machine_text() {
  std::string id;
  std::getline(std::ifstream("/etc/machine-id"), id);
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) name.front() = '\0';
  return id + " " + name.data();
}

std::string utc_now() {
  const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", now);
}

[[noreturn]] void refuse(const fs::path& file, std::string_view expected, std::string_view got) {
  throw DataError(
      error_text("bench.record", file.string(), expected, got, "a file that a benchmark wrote with --ledger"));
}

}  // namespace

Value make_record(std::string_view case_name, const std::vector<std::string>& command, Value result) {
  Value words = Value::array();
  for (const std::string& word : command) words.push_back(word);
  return Value::Table{{"schema", kRecordSchema},
                      {"date", utc_now()},
                      {"host", io::sha256_hex(machine_text()).substr(0, kHostDigits)},
                      {"commit", io::program_commit()},
                      {"command", std::move(words)},
                      {"case", case_name},
                      {"result", std::move(result)}};
}

std::string command_text(const Value& record) {
  const Value* const command = record.find("command");
  if (command == nullptr || !command->is_array()) return {};
  std::string text;
  for (const Value& word : command->as_array()) {
    if (!word.is_string()) continue;
    const std::string_view quote = word.as_string().find(' ') == std::string::npos ? "" : "'";
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " ", quote, word.as_string(), quote);
  }
  return text;
}

fs::path default_ledger() {
  const fs::path data = runtime::user_folder("XDG_DATA_HOME", ".local/share");
  return data.empty() ? data : data / "roentgen/bench";
}

fs::path write_record(const fs::path& folder, const Value& record) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    throw DataError(error_text("bench.record", folder.string(), "a folder for records", error.message(),
                               "another folder with --ledger, or --ledger none"));
  }
  const std::string text = io::to_json(record) + "\n";
  std::string date = record.at("date").as_string();
  std::erase_if(date, [](char c) { return c == ':' || c == '-'; });
  // The hash of the content keeps apart records of the same second.
  const fs::path file = folder / fmt::format("{}-{}-{}-{}.json", date, record.at("case").as_string(),
                                             record.at("commit").as_string().substr(0, kCommitDigits),
                                             io::sha256_hex(text).substr(0, kCommitDigits));
  io::write_file_atomically(file, text);
  return file;
}

StoredRecord read_record(const fs::path& file) {
  Value value = io::read_json(file).or_throw<DataError>();
  const Value* const schema = value.find("schema");
  if (schema == nullptr || !schema->is_string())
    refuse(file, fmt::format("a record ({})", kRecordSchema), "other JSON");
  if (schema->as_string() != kRecordSchema) refuse(file, kRecordSchema, schema->as_string());
  for (const std::string_view key : {"date", "host", "commit", "case"}) {
    const Value* const entry = value.find(key);
    if (entry == nullptr || !entry->is_string()) refuse(file, fmt::format("a text named {}", key), "none");
  }
  const Value* const result = value.find("result");
  if (result == nullptr || !result->is_table()) refuse(file, "a table named result", "none");
  return {file, std::move(value)};
}

std::vector<StoredRecord> read_records(const fs::path& place) {
  std::error_code error;
  if (!fs::is_directory(place, error)) return {read_record(place)};
  std::vector<StoredRecord> records;
  for (const fs::directory_entry& entry : fs::directory_iterator(place)) {
    if (entry.path().extension() == ".json" && !entry.path().filename().string().starts_with('.')) {
      records.push_back(read_record(entry.path()));
    }
  }
  if (records.empty()) refuse(place, "records (*.json)", "a folder without any");
  std::ranges::sort(records, {}, [](const StoredRecord& record) {
    return std::pair(record.value.at("date").as_string(), record.file.filename().string());
  });
  return records;
}

}  // namespace roentgen::bench
