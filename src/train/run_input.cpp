// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/run_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/foreign_text.h"
#include "core/log.h"
#include "core/plural.h"
#include "data/source/dataset.h"
#include "data/stage/disk_cache.h"
#include "data/stage/loader.h"
#include "data/stage/memory_plan.h"
#include "data/transform/transform.h"
#include "engine/engine.h"
#include "runtime/cache_folder.h"
#include "runtime/memory.h"
#include "train/node_cache.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/resume.h"
#include "train/run_folder.h"
#include "train/train_job.h"

namespace roentgen::train {
namespace {

// Warns of data on a network file system, at most once.
void warn_of_network(const TrainJob& job) {
  std::vector<std::filesystem::path> roots{job.dataset.root};
  for (const data::DatasetPart& part : job.dataset.parts) roots.push_back(part.root);
  for (const std::filesystem::path& root : roots) {
    const std::string note = network_note(runtime::network_file_system(root), root, keeps_on_disk(job.recipe.train));
    if (note.empty()) continue;
    log::warning(note);
    return;
  }
}

// Opens the cache of decoded images on disk, and logs it; null if the recipe asks for a cache in memory.
std::unique_ptr<data::ImageStore> open_disk_cache(const TrainJob& job) {
  const TrainRecipe& recipe = job.recipe.train;
  if (!keeps_on_disk(recipe)) return nullptr;
  auto cache = std::make_unique<data::DiskCache>(
      job.dataset, data::DiskCacheOptions{.folder = recipe.cache_dir.empty() ? runtime::default_cache_folder()
                                                                             : std::filesystem::path(recipe.cache_dir),
                                          .preprocess = job.recipe.preprocess,
                                          .shrunk_px = recipe.cache_px});
  log::debug(cache->text());
  return cache;
}

// Loader options of a run.
data::LoaderOptions first_options(const TrainJob& job, const RunInput& input, DType dtype) {
  const Recipe& recipe = job.recipe;
  data::LoaderOptions options;
  options.mode = data::LoadMode::Training;
  const Ranks ranks(job.group);
  options.shard = {.batch = recipe.train.batch,
                   .tail = data::parse_tail(recipe.train.tail),
                   .rank = ranks.rank(),
                   .ranks = ranks.size()};
  options.pipeline = training_pipeline(recipe.train);
  options.workers = decode_workers(recipe.train);
  options.cores = train_cores(recipe.train).input;
  options.seed = static_cast<std::uint64_t>(recipe.train.seed);
  // asynchronous: a fast worker may use more images than its share of an epoch
  const int passes = job.servers.is_async() ? ranks.size() : 1;
  options.epochs = static_cast<std::uint32_t>(recipe.train.epochs * passes);
  options.preprocess = recipe.preprocess;
  options.augment = recipe.augment;
  options.dtype = dtype;
  options.label_form = recipe.loss.name == "softmax" ? data::LabelForm::ClassIndex : data::LabelForm::MultiLabel;
  options.most_readers = input.readers;
  options.cache = input.store.get();
  options.max_bad_share = recipe.train.max_bad;
  if (ranks.is_first()) options.quarantine = job.folder.quarantine();
  return options;
}

std::int64_t batches_per_epoch(const TrainJob& job, const RunInput& input) {
  return data::steps_per_epoch(job.dataset, input.training, first_options(job, input, DType::F32));
}

}  // namespace

RunInput plan_input(const TrainJob& job) {
  const TrainRecipe& recipe = job.recipe.train;
  if (recipe.slots == 1) {
    throw ConfigError(error_text("train.run", "train.slots", "2 or more batch buffers, or 0 for as many as fit", "1",
                                 "--set train.slots=0"));
  }
  RunInput input{.training = data::samples_of(job.dataset, data::Split::Train),
                 .validation = data::samples_of(job.dataset, data::Split::Val)};
  constexpr int kMostSlots = 8, kFewestSlots = 2;
  const int asked = static_cast<int>(recipe.slots);
  const int ranks_here = Ranks(job.group).local_size();
  const std::uint64_t budget =
      data::input_budget_bytes(recipe.memory_mb, runtime::available_memory_bytes(), ranks_here);
  data::MemoryWishes wishes{
      .needs = {.samples = std::ssize(input.training),
                .sample = data::largest_sample(job.dataset, input.training, job.recipe.preprocess.channels),
                .batch = recipe.batch,
                .row_bytes = data::slot_bytes(job.recipe.preprocess, job.engine.slot_dtype()) +
                             2 * sizeof(float) * job.dataset.label_names.size(),
                .workers = decode_workers(recipe),
                .slots = asked > 0 ? asked : kMostSlots},
      .fewest_slots = asked > 0 ? asked : kFewestSlots,
      .cache_bytes = keeps_on_disk(recipe) ? 0 : static_cast<std::uint64_t>(recipe.cache_mb) << 20U,
      .cache_sharers = ranks_here};
  if (!input.validation.empty()) {
    data::MemoryNeeds validating = wishes.needs;
    validating.slots = kFewestSlots;
    const auto uses = data::memory_uses(data::evaluation_pipeline(), validating);
    wishes.others.push_back({.what = "validation", .bytes = data::total_bytes(uses)});
  }
  const data::MemoryShares shares = data::share_memory(training_pipeline(recipe), std::move(wishes), budget);
  log::debug(shares.text());
  warn_of_network(job);
  input.slots = shares.slots;
  input.readers = shares.readers;
  input.cache_bytes = shares.cache_bytes;
  input.store = open_disk_cache(job);
  return input;
}

void open_memory_cache(const TrainJob& job, RunInput& input) {
  if (input.store) return;
  input.store = make_memory_cache(Ranks(job.group), job.dataset, job.recipe.preprocess, input.cache_bytes);
}

std::int64_t updates_per_epoch(const TrainJob& job, const RunInput& input) {
  const TrainRecipe& recipe = job.recipe.train;
  const std::int64_t batches = batches_per_epoch(job, input);
  if (batches == 0) {
    throw ConfigError(
        error_text("train.run", "train.batch",
                   fmt::format("at least one full batch per rank, with {} and {}", ranks_text(Ranks(job.group).size()),
                               counted(std::ssize(input.training), "training image")),
                   fmt::to_string(recipe.batch), "a smaller train.batch, fewer ranks, or train.tail=wrap"));
  }
  if (batches >= recipe.accumulate) return batches / recipe.accumulate;
  throw ConfigError(error_text("train.run", "train.accumulate",
                               "at most the " + counted(batches, "batch", "batches") + " of an epoch",
                               fmt::to_string(recipe.accumulate), "a smaller train.accumulate or train.batch"));
}

void warn_of_skipped(const TrainJob& job, const RunInput& input, std::int64_t updates) {
  const TrainRecipe& recipe = job.recipe.train;
  const std::int64_t ranks = Ranks(job.group).size();
  const std::string note = skipped_note({.images = std::ssize(input.training),
                                         .updates = updates,
                                         .images_per_update = recipe.accumulate * recipe.batch * ranks,
                                         .ranks = ranks});
  if (!note.empty()) log::warning(note);
}

data::LoaderOptions loader_options(const TrainJob& job, const RunInput& input, DType dtype, RunState& state) {
  data::LoaderOptions now = first_options(job, input, dtype);
  now.known_bad = state.bad_samples;
  const auto epoch = static_cast<std::uint32_t>(state.epoch);
  const RunLeg here{.ranks = now.shard.ranks, .batch = now.shard.batch};
  // Sets the progress in an epoch whose length has changed since the resume file. Then `updates` count as done, and the
  // sum of losses is scaled.
  const auto count_made = [&](std::int64_t updates) {
    const auto made = static_cast<double>(std::max<std::int64_t>(state.step_in_epoch, 1));
    state.step_in_epoch = updates;
    state.loss_sum *= static_cast<double>(updates) / made;
  };
  // A run that stopped during validation resumes with it; the next images to load belong to the next epoch.
  if (state.step_in_epoch == state.updates_per_epoch) {
    count_made(updates_per_epoch(job, input));
    now.start = {.epoch = epoch + 1, .batch = 0};
    return now;
  }
  const auto is_here = [&](const RunLeg& leg) { return leg.ranks == here.ranks && leg.batch == here.batch; };
  if (state.legs.empty()) state.legs = {{here.ranks, here.batch, state.step_in_epoch * job.recipe.train.accumulate}};
  now.start = {.epoch = epoch, .batch = state.legs.front().batches};
  if (state.legs.size() == 1 && is_here(state.legs.front())) return now;

  const auto options_of = [&](const RunLeg& leg) {
    data::LoaderOptions options = now;
    options.start = {};
    options.shard.batch = leg.batch;
    options.shard.ranks = static_cast<int>(leg.ranks);
    if (!is_here(leg)) options.shard.rank = 0;
    return options;
  };
  data::LoaderOptions then = options_of(state.legs.front());
  then.start = {.epoch = epoch, .batch = 0};
  for (std::size_t i = 0; i < state.legs.size(); ++i) {
    const data::LoaderPosition position{.epoch = epoch, .batch = then.start.batch + state.legs[i].batches};
    const RunLeg& next = i + 1 < state.legs.size() ? state.legs[i + 1] : here;
    then = data::resume_elsewhere(job.dataset, input.training, then, position, options_of(next));
  }
  state.legs.push_back(here);
  const bool is_over = then.start.epoch != epoch;
  const std::int64_t batches = is_over ? 0 : batches_per_epoch(job, input) - then.start.batch;
  const std::int64_t updates = batches / job.recipe.train.accumulate;
  count_made(updates_per_epoch(job, input) - updates);
  if (updates > 0) return then;
  now.start = {.epoch = epoch + 1, .batch = 0};  // too few batches are left for an update
  return now;
}

std::string skipped_note(const EpochUse& use) {
  const std::int64_t skipped = use.images - use.updates * use.images_per_update;
  if (skipped < use.images_per_update) return {};
  const char* const reason = use.ranks > 1
                                 ? "all ranks stop with the rank that has the fewest images; to use all images, set "
                                   "train.pipeline=default, or write equally large files, the same number for each rank"
                                 : "train.pipeline ends the epoch early";
  return fmt::format("an epoch leaves out {} of {} training images ({:.0f}%): {}", skipped, use.images,
                     100.0 * static_cast<double>(skipped) / static_cast<double>(use.images), reason);
}

std::string network_note(const char* network, const std::filesystem::path& data, bool keeps_on_disk) {
  if (network == nullptr || keeps_on_disk) return {};
  return fmt::format(
      "{} lies on {}, and every epoch reads it again; to read it only once, use roentgen copy-local {} DIR, or "
      "--cache-dir DIR with DIR on a disk of this host",
      data.string(), network, shell_word(data.string()));
}

}  // namespace roentgen::train
