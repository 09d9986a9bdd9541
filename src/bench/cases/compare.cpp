// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/compare.h"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "bench/case_list.h"
#include "bench/ledger/places.h"
#include "bench/ledger/published.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {

constexpr std::string_view kPublished = "published";

class CompareCase final : public Case {
 public:
  CompareCase()
      : Case("ratios with intervals between two sets of stored results, or beside published speeds",
             "roentgen bench compare before/ after/\n"
             "roentgen bench compare records/ --against published") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {records_option(places_, "two files or folders of records; with --against, one"),
            {.name = "--against",
             .target = &against_,
             .doc = "published: list published training speeds beside the records",
             .value_name = "published"}};
  }
  [[nodiscard]] bool is_measurement() const override { return false; }
  [[nodiscard]] Value run(const Host& /*host*/) override {
    if (!against_.empty() && against_ != kPublished) {
      throw ConfigError(error_text("bench.compare", "--against", kPublished, against_, "--against published"));
    }
    const std::size_t least = against_.empty() ? 2 : 1;
    if (places_.size() < least || places_.size() > 2) {
      throw ConfigError(error_text("bench.compare", "RECORDS",
                                   least == 2 ? "two files or folders" : "one or two files or folders",
                                   fmt::to_string(places_.size()), "roentgen bench compare before/ after/"));
    }
    const std::vector<StoredRecord> last = read_records(places_.back());
    Value result = Value::Table{{"case", "compare"}};
    if (places_.size() == 2) result = compare_records(read_records(places_.front()), last);
    if (!against_.empty()) {
      Value rows = beside_published(last);
      for (Value& row : rows.as_array()) {  // the table would be too wide for a terminal
        std::erase_if(row.as_table(), [](const auto& entry) { return entry.first == "command"; });
      }
      result.set("published", std::move(rows));
    }
    return result;
  }

 private:
  std::vector<std::string> places_;
  std::string against_;
};

}  // namespace

std::unique_ptr<Case> make_compare_case() { return std::make_unique<CompareCase>(); }

}  // namespace roentgen::bench
