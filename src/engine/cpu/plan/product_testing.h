// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Divides test cases that could run on every unit and instruction set. One unit per case is tested on each change; the
// rest run in `make test-all`.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace roentgen::engine::cpu {

/// Cases of one test suite, divided into two instantiations.
template <typename Param>
struct SharedCases {
  /// Each case on one hardware unit (AMX, AVX-512, ...); `make test` runs these.
  std::vector<Param> one_unit_each;
  /// Each case on all other units. Instantiated under the name "Product", which only `make test-all` runs
  /// (tools/test_entries.py).
  std::vector<Param> rest;
};

/// Divides cases by unit. An element of `cases` is one case on all units, in a fixed order. Successive cases use
/// different units among those that `can_run` on this machine, so that each change tests every unit. A case that no
/// unit here can run goes to `rest`, where it is reported as skipped.
template <typename Param>
[[nodiscard]] SharedCases<Param> share_out(const std::vector<std::vector<Param>>& cases,
                                           const std::function<bool(const Param&)>& can_run) {
  SharedCases<Param> shared;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    std::vector<std::size_t> usable;
    for (std::size_t unit = 0; unit < cases[i].size(); ++unit) {
      if (can_run(cases[i][unit])) usable.push_back(unit);
    }
    for (std::size_t unit = 0; unit < cases[i].size(); ++unit) {
      const bool is_its_turn = !usable.empty() && usable[i % usable.size()] == unit;
      (is_its_turn ? shared.one_unit_each : shared.rest).push_back(cases[i][unit]);
    }
  }
  return shared;
}

}  // namespace roentgen::engine::cpu
