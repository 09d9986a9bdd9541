// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Compares the reports of several hosts, which should be equal in one run.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/value.h"
#include "dist/communicator.h"

namespace roentgen::doctor {

/// Report of one host.
struct HostReport {
  std::string host{};
  Value machine{};   ///< to_value(Inventory)
  Value findings{};  ///< to_value(findings)
};

/// Property that differs between hosts.
struct Difference {
  std::string key{};  ///< path in the inventory, such as "libraries.MPI" or "gpus.0.driver"
  /// Each value with the hosts that have it, the most frequent first.
  struct Group {
    std::string value{};
    std::vector<std::string> hosts{};
  };
  std::vector<Group> groups{};
  /// Text such as "libraries.MPI: Open MPI v4.1.4 on a, b; Open MPI v4.0.5 on c".
  [[nodiscard]] std::string text() const;
};
/// Returns everything in which the hosts' machines differ, except values that change by themselves, such as clocks and
/// free space.
[[nodiscard]] std::vector<Difference> differences(std::span<const HostReport> reports);
/// Returns [{key, values: [{value, hosts}]}].
[[nodiscard]] Value to_value(std::span<const Difference> differences);

/// Collects the texts of all ranks, in rank order. Every rank must call it. Throws CommError if a rank is missing after
/// a minute.
[[nodiscard]] std::vector<std::string> gather_texts(dist::Communicator& group, const std::string& own);

}  // namespace roentgen::doctor
