// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// List of all benchmark cases. X("name", identifier) declares make_<identifier>_case(), which
// bench/cases/<identifier>.cpp defines. A new case needs that file and one line here.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "bench/case.h"

#define RG_CASE_LIST(X)                 \
  X("step", step)                       \
  X("short", short)                     \
  X("cnn", cnn)                         \
  X("long", long)                       \
  X("sweep", sweep)                     \
  X("pipeline", pipeline)               \
  X("overlap", overlap)                 \
  X("formats", formats)                 \
  X("ablation", ablation)               \
  X("allreduce", allreduce)             \
  X("links", links)                     \
  X("infer", infer)                     \
  X("fusion", fusion)                   \
  X("scaling", scaling)                 \
  X("nodes", nodes)                     \
  X("autobatch", autobatch)             \
  X("choose", choose)                   \
  X("peak", peak)                       \
  X("suite", suite)                     \
  X("compare", compare)                 \
  X("figures", figures)                 \
  X("history", history)                 \
  X("report", report)                   \
  X("data.decode_png", data_decode_png) \
  X("engine.batch_norm", engine_batch_norm)

namespace roentgen::bench {

#define RG_DECLARE_CASE(name, identifier) [[nodiscard]] std::unique_ptr<Case> make_##identifier##_case();
RG_CASE_LIST(RG_DECLARE_CASE)
#undef RG_DECLARE_CASE

struct NamedCase {
  std::string_view name;
  std::unique_ptr<Case> value;
};

/// Creates all cases, in the order of the list.
[[nodiscard]] std::vector<NamedCase> make_cases();

/// Finds a case by name. Throws ConfigError that lists all names if there is none.
[[nodiscard]] Case& find_case(const std::vector<NamedCase>& cases, std::string_view name);

}  // namespace roentgen::bench
