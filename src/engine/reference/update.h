// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Update rules in double and without any structure: what the kernels of engines are compared with, and how the engines
// of tests update.
#pragma once

#include <vector>

#include "engine/update/update_list.h"

namespace roentgen::engine::reference {

/// Elements of the arenas of some work.
struct UpdateValues {
  std::vector<double> target;              ///< elements of UpdateWork::target
  std::vector<double> source;              ///< those of UpdateWork::source
  std::vector<std::vector<double>> state;  ///< those of each arena of UpdateWork::state
};

/// Does the work of a rule on `values`, whose source it scales, instead of on the arenas.
void update(const UpdateRule& rule, const UpdateWork& work, UpdateValues& values);
/// Runs a rule on the host and rounds the results to float32. Arenas may belong to any engine; they are copied to the
/// host.
void update(const UpdateRule& rule, const UpdateWork& work);

}  // namespace roentgen::engine::reference
