// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/run_position.h"

#include <algorithm>

#include "data/source/dataset.h"
#include "train/recipe.h"
#include "train/trainer_setup.h"

namespace roentgen::train {

data::LoaderOptions resumed_loader_options(const TrainJob& job, DType dtype, RunState& state) {
  data::LoaderOptions now = loader_options(job, dtype);
  const auto epoch = static_cast<std::uint32_t>(state.epoch);
  const RunLeg here{.ranks = now.shard.ranks, .batch = now.shard.batch};
  // A run that ended in a validation goes on with it: what is loaded next is the epoch after.
  if (state.step_in_epoch == state.updates_per_epoch) {
    const auto made = static_cast<double>(state.step_in_epoch);
    state.step_in_epoch = updates_per_epoch(job);
    state.loss_sum *= static_cast<double>(state.step_in_epoch) / made;
    now.start = {.epoch = epoch + 1, .batch = 0};
    return now;
  }
  const auto is_here = [&](const RunLeg& leg) { return leg.ranks == here.ranks && leg.batch == here.batch; };
  if (state.legs.empty()) state.legs = {{here.ranks, here.batch, state.step_in_epoch * job.recipe.train.accumulate}};
  now.start = {.epoch = epoch, .batch = state.legs.front().batches};
  if (state.legs.size() == 1 && is_here(state.legs.front())) return now;

  const std::vector<std::uint32_t> samples = data::samples_of(job.dataset, data::Split::Train);
  const auto options_of = [&](const RunLeg& leg) {
    data::LoaderOptions options = loader_options(job, dtype);
    options.shard.batch = leg.batch;
    options.shard.ranks = static_cast<int>(leg.ranks);
    options.shard.rank = is_here(leg) ? now.shard.rank : 0;
    return options;
  };
  data::LoaderOptions then = options_of(state.legs.front());
  then.start = {.epoch = epoch, .batch = 0};
  for (std::size_t i = 0; i < state.legs.size(); ++i) {
    const data::LoaderPosition position{.epoch = epoch, .batch = then.start.batch + state.legs[i].batches};
    const RunLeg& next = i + 1 < state.legs.size() ? state.legs[i + 1] : here;
    then = data::resume_elsewhere(job.dataset, samples, then, position, options_of(next));
  }
  state.legs.push_back(here);
  const std::int64_t updates = updates_per_epoch(job);
  const std::int64_t batches = data::steps_per_epoch(job.dataset, samples, loader_options(job, dtype));
  const bool is_over = then.start.epoch != epoch;
  const std::int64_t left = is_over ? 0 : (batches - then.start.batch) / job.recipe.train.accumulate;
  const auto made = static_cast<double>(std::max<std::int64_t>(state.step_in_epoch, 1));
  state.step_in_epoch = updates - left;
  state.loss_sum *= static_cast<double>(state.step_in_epoch) / made;
  return then;
}

}  // namespace roentgen::train
