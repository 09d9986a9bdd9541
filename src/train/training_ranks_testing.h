// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: runs the training loop on several ranks, each a thread of the test.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "dist/comm_thread.h"
#include "train/ranks_testing.h"
#include "train/trainer_testing.h"

namespace roentgen::train {

/// Fixture that trains with several ranks on the data of Trainer.
class RanksOfARun : public Trainer {
 protected:
  void SetUp() override {
    Trainer::SetUp();
    recipe_.optimizer.name = "sgd";
    recipe_.optimizer.lr = 0.2;
  }

  /// Function that changes the job of one rank.
  using Change = std::function<void(int rank, TrainJob& job)>;

  // Calls `work` on every rank with its own job. An exception in `work` fails that rank, as in the program.
  std::vector<std::exception_ptr> with_jobs(dist::LocalGroup& group, const RunFolder& folder, Start start,
                                            const Change& change, const std::function<void(const TrainJob&)>& work,
                                            std::chrono::milliseconds limit = kLimit) {
    may_tell_.assign(static_cast<std::size_t>(group.size()), 0);
    return as_ranks(
        group,
        [&](dist::CommThread& comm) {
          data::Dataset dataset = load();
          if (other_data_ && comm.rank() == 1) other_data_(dataset);
          Recipe recipe = recipe_;
          if (other_recipe_ && comm.rank() == 1) other_recipe_(recipe);
          const graph::Graph model = flat_model(recipe.train.batch, kSizePx, 2);
          ReferenceEngine engine;
          if (machine_of_) machine_of_(comm.rank(), engine);
          TrainJob job{.recipe = recipe,
                       .dataset = dataset,
                       .model = model,
                       .engine = engine,
                       .folder = folder,
                       .start = start,
                       .observers = {},
                       .is_stop_asked = {},
                       .group = &comm};
          if (change) change(comm.rank(), job);
          try {
            work(job);
          } catch (...) {
            may_tell_[static_cast<std::size_t>(comm.rank())] = comm.fail() ? 1 : 0;
            throw;
          }
        },
        limit);
  }

  // Calls run() on several ranks, with `batch` images per step each.
  std::vector<std::exception_ptr> run_ranks(int ranks, std::int64_t batch, const std::string& name,
                                            Start start = Start::Fresh, std::int64_t stop_after = 0,
                                            const Change& change = {}, std::chrono::milliseconds limit = kLimit) {
    recipe_.train.batch = batch;
    const RunFolder folder(out_.path() / name);
    if (start == Start::Fresh) folder.create_new();
    outcomes_.assign(static_cast<std::size_t>(ranks), {});
    dist::LocalGroup group(ranks);
    return with_jobs(
        group, folder, start,
        [&](int rank, TrainJob& job) {
          job.stop_after_steps = stop_after;
          if (change) change(rank, job);
        },
        [&](const TrainJob& job) { outcomes_[static_cast<std::size_t>(job.group->rank())] = train(job); }, limit);
  }

  // Expects nearly equal weights: sums of gradients are rounded once per rank instead of once in all. Bound: 1e-6 for
  // values about 1, over tens of updates.
  static void expect_close_end(const Resume& a, const Resume& b) {
    ASSERT_EQ(a.weights.size(), b.weights.size());
    for (std::size_t i = 0; i < a.weights.size(); ++i) {
      ASSERT_EQ(a.weights[i].values.size(), b.weights[i].values.size());
      for (std::size_t k = 0; k < a.weights[i].values.size(); ++k) {
        EXPECT_NEAR(a.weights[i].values[k], b.weights[i].values[k], 1e-5F) << a.weights[i].name << " " << k;
      }
    }
  }

  std::vector<TrainOutcome> outcomes_;
  /// Changes the engine of a rank, to simulate its machine.
  std::function<void(int rank, ReferenceEngine& engine)> machine_of_;
  /// Changes the data set of rank 1, to make it differ from rank 0's.
  std::function<void(data::Dataset&)> other_data_;
  std::function<void(Recipe&)> other_recipe_;
  /// Flag for each rank of the last jobs: 1 if it failed first, so that the program prints its error.
  std::vector<int> may_tell_;
};

}  // namespace roentgen::train
