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

/// Watches the network links between hosts. Not thread-safe; all ranks must call it in the same order. After 10
/// updates, and then every 100, it collects how long ranks waited for each other. If the mean wait exceeds 5% of the
/// time, it measures the links between hosts and warns of slow ones. A measurement is a few messages of 512 KiB between
/// the first ranks of the hosts. Runs on one host, and runs that do not wait, are not measured.
class LinkWatch {
 public:
  /// Measures the links of a group and returns the same list on all ranks. No wait lasts longer than `limit`.
  using Measure = std::function<std::vector<dist::Link>(dist::Communicator&, std::chrono::milliseconds limit)>;
  /// Measures the links between the first ranks of all hosts.
  [[nodiscard]] static std::vector<dist::Link> measure(dist::Communicator& group, std::chrono::milliseconds limit);

  explicit LinkWatch(const Ranks& ranks, Measure measure = LinkWatch::measure);
  /// Must be called after every update, on all ranks. Reports each measurement to `observers`. Logs it if the set of
  /// slow links has changed. Throws CommError if a link fails.
  void look(const StepRecord& step, const std::vector<Observer*>& observers);

 private:
  [[nodiscard]] bool waits_for_network();
  void warn(const LinksRecord& record, const std::vector<dist::Link>& links, const std::vector<dist::Link>& slow);

  const Ranks& ranks_;
  const Measure measure_;
  const bool has_links_;
  std::int64_t updates_ = 0;
  /// Times in seconds since the last check.
  double seconds_ = 0.0;
  double waited_s_ = 0.0;
  std::vector<std::string> warned_of_;
};

}  // namespace roentgen::train
