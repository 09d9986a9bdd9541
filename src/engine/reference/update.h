// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Update rules in double precision, in plain loops. Tests compare the engines' kernels with them, and test engines use
// them for their updates.
#pragma once

#include <vector>

#include "engine/update/update_list.h"

namespace roentgen::engine::reference {

/// Elements of the arenas of an UpdateWork, as doubles.
struct UpdateValues {
  std::vector<double> target;              ///< elements of UpdateWork::target
  std::vector<double> source;              ///< elements of UpdateWork::source
  std::vector<std::vector<double>> state;  ///< elements of each arena of UpdateWork::state
};

/// Applies a rule to `values` instead of the arenas of `work`. Scales `values.source` in place.
void update(const UpdateRule& rule, const UpdateWork& work, UpdateValues& values);
/// Applies a rule on the host and rounds the results to float32. The arenas may belong to any engine: they are copied
/// to the host and back.
void update(const UpdateRule& rule, const UpdateWork& work);

}  // namespace roentgen::engine::reference
