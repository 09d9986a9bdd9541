// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/report.h"

#include <memory>

#include "bench/case_list.h"
#include "bench/ledger/places.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {

class ReportCase final : public Case {
 public:
  ReportCase()
      : Case("one HTML page with plots of stored results, and csv files beside it",
             "roentgen bench report records/ --out report.html") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {records_option(places_, "files or folders of records (default: the default --ledger)"),
            {.name = "--out", .target = &page_, .doc = "HTML file to write", .is_output = true}};
  }
  [[nodiscard]] bool is_measurement() const override { return false; }
  [[nodiscard]] Value run(const Host& /*host*/) override {
    if (page_.empty()) {
      throw ConfigError(error_text("bench.report", "--out", "an HTML file", "none", "--out report.html"));
    }
    const std::vector<StoredRecord> records = read_places(places_);
    Value files = Value::array();
    for (const std::filesystem::path& file : write_report(make_report(records, page_))) files.push_back(file.string());
    return Value::Table{{"case", "report"}, {"records", records.size()}, {"files", std::move(files)}};
  }

 private:
  std::vector<std::string> places_;
  std::filesystem::path page_;
};

}  // namespace

std::unique_ptr<Case> make_report_case() { return std::make_unique<ReportCase>(); }

}  // namespace roentgen::bench
