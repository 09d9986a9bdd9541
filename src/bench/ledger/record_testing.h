// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Makes records for tests of the ledger.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "bench/ledger/record.h"

namespace roentgen::bench {

/// Returns a record of a case, as if it were measured `minute` minutes after midnight.
inline StoredRecord made_record(std::int64_t minute, const std::string& commit, const std::string& case_name,
                                Value result) {
  Value record = make_record(case_name, {"roentgen", "bench", case_name}, std::move(result));
  record.set("commit", commit);
  record.set("host", "0123456789ab");
  record.set("date", fmt::format("2026-11-{:02}T{:02}:{:02}:00Z", 1 + minute / 1440, minute / 60 % 24, minute % 60));
  return {"record.json", std::move(record)};
}

/// Returns a result of the case `step` with a speed and further entries.
inline Value step_result(double images_per_s, Value::Table more = {}) {
  Value result = Value::Table{{"case", "step"},
                              {"model", "resnet50"},
                              {"batch", 4},
                              {"warmup", 3},
                              {"images_per_s", images_per_s},
                              {"step_ms", Value::Table{{"median", 4e3 / images_per_s}, {"p95", 5e3 / images_per_s}}}};
  for (auto& [key, value] : more) result.set(key, std::move(value));
  return result;
}

}  // namespace roentgen::bench
