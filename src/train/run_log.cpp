// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/run_log.h"

#include "train/observer.h"
#include "train/ranks.h"
#include "train/run_folder.h"
#include "train/trainer.h"

namespace roentgen::train {

RunLog::RunLog(const TrainJob& job, std::int64_t step, std::int64_t epoch) : all_(job.observers) {
  if (!Ranks(job.group).is_first()) return;
  truncate_json_log(job.folder.log(), step, epoch);
  log_ = make_json_log(job.folder.log());
  tensorboard_ = make_tensorboard(job.folder.root(), step);
  all_.push_back(log_.get());
  all_.push_back(tensorboard_.get());
}

RunLog::~RunLog() = default;

}  // namespace roentgen::train
