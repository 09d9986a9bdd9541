// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bench/case_list.h"
#include "bench/ledger/exports.h"
#include "bench/ledger/places.h"

namespace roentgen::bench {
namespace {

/// Formats a record of plain_record() as lines: what was measured, and a line for each figure.
std::string text_of(const Value& record) {
  const Value::Table& figures = record.at("figures").as_table();
  constexpr std::string_view kSettings = "settings";
  std::size_t width = kSettings.size();
  for (const auto& [name, value] : figures) width = std::max(width, name.size());
  constexpr std::size_t kCommitDigits = 8;
  std::string text =
      fmt::format("{}  {}  commit {}  host {}\n", record.at("date").as_string(), record.at("case").as_string(),
                  record.at("commit").as_string().substr(0, kCommitDigits), record.at("host").as_string());
  text += fmt::format("  {:<{}}  {}\n", kSettings, width, settings_text(record.at("settings").as_table()));
  for (const auto& [name, value] : figures) text += fmt::format("  {:<{}}  {:.5g}\n", name, width, value.as_double());
  return text + "\n";
}

class FiguresCase final : public Case {
 public:
  FiguresCase()
      : Case("settings and figures of stored results; with --json also their samples, for other programs",
             "roentgen bench figures records/ --json figures.json") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {records_option(places_, "files or folders of records (default: the default --ledger)")};
  }
  [[nodiscard]] bool is_measurement() const override { return false; }
  [[nodiscard]] bool prints_itself() const override { return true; }
  [[nodiscard]] Value run(const Host& host) override {
    Value records = Value::array();
    for (const StoredRecord& record : read_places(places_)) {
      records.push_back(plain_record(record.value));
      host.print(text_of(records.as_array().back()));
    }
    return Value::Table{{"case", "figures"}, {"records", std::move(records)}};
  }

 private:
  std::vector<std::string> places_;
};

}  // namespace

std::unique_ptr<Case> make_figures_case() { return std::make_unique<FiguresCase>(); }

}  // namespace roentgen::bench
