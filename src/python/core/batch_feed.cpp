// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "python/core/batch_feed.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/thread_annotations.h"
#include "data/transform/transform.h"
#include "runtime/aligned_buffer.h"

namespace roentgen::python {

// Slots of the loader, and a list of those that users have released. Shared with every lent batch, so it may outlive
// the feed.
class BatchFeed::Memory {
 public:
  Memory(int slots, std::size_t image_bytes, std::size_t label_count)
      : label_count_(label_count), labels_(static_cast<std::size_t>(slots) * 2 * label_count) {
    for (int i = 0; i < slots; ++i) images_.emplace_back(image_bytes);
  }

  [[nodiscard]] std::vector<data::BatchSlot> slots() {
    std::vector<data::BatchSlot> slots;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      slots.push_back({.images = images_[i].bytes(), .labels = labels_of(2 * i), .mask = labels_of(2 * i + 1)});
    }
    return slots;
  }

  void let_go(int slot) {
    const MutexLock lock(mutex_);
    let_go_.push_back(slot);
  }
  [[nodiscard]] std::vector<int> take_let_go() {
    const MutexLock lock(mutex_);
    return std::exchange(let_go_, {});
  }
  [[nodiscard]] int count() const { return static_cast<int>(images_.size()); }
  // Number of slots that users hold. Guarded by the feed's mutex.
  int lent = 0;

 private:
  [[nodiscard]] std::span<float> labels_of(std::size_t part) {
    return std::span(labels_).subspan(part * label_count_, label_count_);
  }

  const std::size_t label_count_;
  std::vector<runtime::AlignedBuffer> images_;
  std::vector<float> labels_;
  Mutex mutex_;
  std::vector<int> let_go_ RG_GUARDED_BY(mutex_);
};

namespace {

// Number of slots reserved for prefetching. Users usually hold at most two: a loop requests the next batch while its
// variable still holds the previous one.
constexpr int kAhead = 1;

// A copied batch, which owns its memory.
struct CopiedBatch : LentBatch {
  runtime::AlignedBuffer own_images;
  std::vector<float> own_labels;
};

// Number of batches in an epoch that have rows on this rank. The images of a padded last step go to the first ranks.
std::int64_t steps_of(const data::Dataset& dataset, const FeedOptions& options) {
  const data::ShardOptions& shard = options.loading.shard;
  const std::int64_t steps = data::steps_per_epoch(dataset, options.samples, options.loading);
  if (shard.tail != data::Tail::Pad || steps == 0) return steps;
  const std::int64_t before = ((steps - 1) * shard.ranks + shard.rank) * shard.batch;
  return before < std::ssize(options.samples) ? steps : steps - 1;
}

}  // namespace

BatchFeed::BatchFeed(std::shared_ptr<const data::Dataset> dataset, FeedOptions options)
    : dataset_(std::move(dataset)), options_(std::move(options)), steps_per_epoch_(steps_of(*dataset_, options_)) {
  RG_ASSERT(options_.slots > kAhead);
  const MutexLock lock(mutex_);
  start(options_.loading);
}

BatchFeed::~BatchFeed() {
  // Leaks the loader in a forked process, which lacks the threads that its destructor would join.
  if (!process_.is_here()) static_cast<void>(loader_.release());
}

// Creates the new loader first, so that the previous one is kept if the constructor throws.
void BatchFeed::start(data::LoaderOptions loading) {
  const auto rows = static_cast<std::size_t>(loading.shard.batch);
  auto memory = std::make_shared<Memory>(options_.slots, rows * data::slot_bytes(loading.preprocess, loading.dtype),
                                         rows * dataset_->label_names.size());
  loader_ = std::make_unique<data::Loader>(*dataset_, options_.samples, loading, memory->slots());
  memory_ = std::move(memory);
  epoch_ = loading.start.epoch;
  started_ = std::move(loading);
  has_failed_ = false;
}

void BatchFeed::stop() {
  const MutexLock lock(mutex_);
  loader_.reset();
}

std::shared_ptr<LentBatch> BatchFeed::next() {
  process_.require("roentgen.Loader");
  const MutexLock lock(mutex_);
  for (const int slot : memory_->take_let_go()) {
    loader_->release(slot);
    --memory_->lent;
  }
  while (loader_->position().epoch == epoch_) {
    has_failed_ = true;  // stays true if next() throws, because a loader returns nothing after an error
    const std::optional<data::Batch> batch = loader_->next();
    RG_ASSERT(batch.has_value());
    has_failed_ = false;
    if (batch->valid > 0) return lend(*batch);
    loader_->release(batch->slot);
  }
  epoch_ = loader_->position().epoch;
  return nullptr;
}

std::shared_ptr<LentBatch> BatchFeed::lend(const data::Batch& batch) {
  const data::BatchSlot slot = memory_->slots()[static_cast<std::size_t>(batch.slot)];
  for (std::size_t i = 0; i < slot.labels.size(); ++i) {
    if (slot.mask[i] == 0.0F) slot.labels[i] = std::numeric_limits<float>::quiet_NaN();
  }
  LentBatch given{.images = slot.images,
                  .labels = slot.labels,
                  .rows = batch.valid,
                  .epoch = batch.epoch,
                  .samples = {batch.samples.begin(), batch.samples.end()}};
  if (memory_->lent + 1 > memory_->count() - kAhead) {
    auto copy = std::make_shared<CopiedBatch>();
    static_cast<LentBatch&>(*copy) = std::move(given);
    copy->own_images = runtime::AlignedBuffer(slot.images.size());
    std::ranges::copy(slot.images, copy->own_images.bytes().begin());
    copy->own_labels.assign(slot.labels.begin(), slot.labels.end());
    copy->images = copy->own_images.bytes();
    copy->labels = copy->own_labels;
    loader_->release(batch.slot);
    return copy;
  }
  ++memory_->lent;
  return {new LentBatch(std::move(given)), [memory = memory_, number = batch.slot](LentBatch* lent) {
            delete lent;
            memory->let_go(number);
          }};
}

void BatchFeed::skip_to_next_epoch() {
  process_.require("roentgen.Loader");
  const MutexLock lock(mutex_);
  const data::LoaderPosition position = loader_->position();
  if (position.epoch > epoch_) epoch_ = position.epoch;
  if (position.batch == 0 && !has_failed_) return;
  data::LoaderOptions loading = options_.loading;
  loading.start = {.epoch = position.epoch + (position.batch == 0 ? 0 : 1), .batch = 0};
  loading.known_bad = loader_->bad_samples();
  start(std::move(loading));
}

FeedState BatchFeed::state() const {
  process_.require("roentgen.Loader");
  const MutexLock lock(mutex_);
  const data::LoaderPosition position = loader_->position();
  FeedState state{.position = position, .shard = started_.shard, .bad = loader_->bad_samples()};
  if (position.epoch == started_.start.epoch && !started_.seen.empty()) {
    state.seen = started_.seen;
    state.seen_batch = started_.start.batch;
  }
  return state;
}

void BatchFeed::restore(const FeedState& state) {
  process_.require("roentgen.Loader");
  const MutexLock lock(mutex_);
  data::LoaderOptions loading = options_.loading;
  loading.known_bad = state.bad;
  const data::ShardOptions& shard = loading.shard;
  if (state.seen.empty() && state.shard.batch == shard.batch && state.shard.ranks == shard.ranks) {
    loading.start = state.position;
  } else {
    data::LoaderOptions then = loading;
    then.shard = state.shard;
    then.seen = state.seen;
    then.start = {.epoch = state.position.epoch, .batch = state.seen_batch};
    loading = data::resume_elsewhere(*dataset_, options_.samples, then, state.position, loading);
  }
  start(std::move(loading));
}

data::LoaderStats BatchFeed::stats() const {
  process_.require("roentgen.Loader");
  const MutexLock lock(mutex_);
  return loader_->stats();
}

}  // namespace roentgen::python
