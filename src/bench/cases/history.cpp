// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/history.h"

#include <memory>

#include "bench/case_list.h"
#include "bench/ledger/places.h"

namespace roentgen::bench {
namespace {

class HistoryCase final : public Case {
 public:
  HistoryCase()
      : Case("regressions of speed and accuracy between two builds; exit code 1 if any, or too few rounds",
             "roentgen bench history records/\n"
             "roentgen bench history records/ --from 1a2b3c4d --to 5e6f7a8b") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {records_option(places_, "folders of records"),
            {.name = "--from", .target = &options_.from, .doc = "commit of the old build", .value_name = "COMMIT"},
            {.name = "--to", .target = &options_.to, .doc = "commit of the new build", .value_name = "COMMIT"}};
  }
  [[nodiscard]] bool is_measurement() const override { return false; }
  [[nodiscard]] Value run(const Host& /*host*/) override { return history_of(read_places(places_), options_); }
  [[nodiscard]] bool has_failed(const Value& result) const override {
    return result.at("verdict").as_string() != kNoRegression;
  }

 private:
  std::vector<std::string> places_;
  HistoryOptions options_;
};

}  // namespace

std::unique_ptr<Case> make_history_case() { return std::make_unique<HistoryCase>(); }

}  // namespace roentgen::bench
