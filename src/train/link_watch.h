// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// LinkWatch: of a run that waits for its network, which link it waits for.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "dist/links.h"
#include "train/observer.h"
#include "train/ranks.h"

namespace roentgen::train {

/// One thread; all ranks alike. After 10 updates and then every 100 it asks how long ranks waited for each other: where
/// the mean is above 5% of the time it tests the links between hosts, a few messages of 512 KiB between their first
/// ranks, and warns of slow ones. Runs on one host, and runs that do not wait, are left alone.
class LinkWatch {
 public:
  /// Measures the links of a group, alike on all ranks; no wait is longer than the group's limit.
  using Measure = std::function<std::vector<dist::Link>(dist::Communicator&, std::chrono::milliseconds limit)>;
  /// Those between the first ranks of all hosts.
  [[nodiscard]] static std::vector<dist::Link> measure(dist::Communicator& group, std::chrono::milliseconds limit);

  explicit LinkWatch(const Ranks& ranks, Measure measure = LinkWatch::measure);
  /// After every update, on all ranks. A test that was made is told to `observers` and, where what is slow has changed,
  /// logged. CommError where nothing passes.
  void look(const StepRecord& step, const std::vector<Observer*>& observers);

 private:
  [[nodiscard]] bool waits_for_network();
  void warn(const LinksRecord& record, const std::vector<dist::Link>& links, const std::vector<dist::Link>& slow);

  const Ranks& ranks_;
  const Measure measure_;
  const bool has_links_;
  std::int64_t updates_ = 0;
  /// Since the last test.
  double seconds_ = 0.0;
  double waited_s_ = 0.0;
  std::vector<std::string> warned_of_;
};

}  // namespace roentgen::train
