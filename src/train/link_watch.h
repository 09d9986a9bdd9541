// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// LinkWatch: finds the slow link that a run waits for.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "dist/links.h"
#include "train/observer.h"
#include "train/ranks.h"

namespace roentgen::train {

/// Watches links between hosts. One thread; the same on all ranks. After 10 updates and then every 100 it collects how
/// long ranks waited for each other. Where the mean is above 5% of the time, it tests the links between hosts and warns
/// of slow ones. A test is a few messages of 512 KiB between their first ranks. Runs on one host, and runs that do not
/// wait, are not tested.
class LinkWatch {
 public:
  /// Measures the links of a group, alike on all ranks; no wait is longer than the group's limit.
  using Measure = std::function<std::vector<dist::Link>(dist::Communicator&, std::chrono::milliseconds limit)>;
  /// Measures the links between the first ranks of all hosts.
  [[nodiscard]] static std::vector<dist::Link> measure(dist::Communicator& group, std::chrono::milliseconds limit);

  explicit LinkWatch(const Ranks& ranks, Measure measure = LinkWatch::measure);
  /// Must be called after every update, on all ranks. Reports a test to `observers`, and logs it when the slow links
  /// have changed. Throws CommError when a link fails.
  void look(const StepRecord& step, const std::vector<Observer*>& observers);

 private:
  [[nodiscard]] bool waits_for_network();
  void warn(const LinksRecord& record, const std::vector<dist::Link>& links, const std::vector<dist::Link>& slow);

  const Ranks& ranks_;
  const Measure measure_;
  const bool has_links_;
  std::int64_t updates_ = 0;
  /// Times since the last test.
  double seconds_ = 0.0;
  double waited_s_ = 0.0;
  std::vector<std::string> warned_of_;
};

}  // namespace roentgen::train
