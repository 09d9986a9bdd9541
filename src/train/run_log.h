// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Who is told what a run does: the job's observers and, on rank 0, the run folder's log and TensorBoard file.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace roentgen::train {

class Observer;
struct TrainJob;

/// Observers of a run. Not movable. One thread.
class RunLog {
 public:
  /// @param step  last update there was: log lines of later ones are dropped. DataError as make_json_log().
  /// @param epoch first epoch that is not over yet: its line is dropped, too
  RunLog(const TrainJob& job, std::int64_t step, std::int64_t epoch);
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;
  ~RunLog();

  [[nodiscard]] const std::vector<Observer*>& all() const { return all_; }

 private:
  std::unique_ptr<Observer> log_;
  std::unique_ptr<Observer> tensorboard_;
  std::vector<Observer*> all_;
};

}  // namespace roentgen::train
