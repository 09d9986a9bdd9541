// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/bucket_tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "train/observer.h"
#include "train/ranks.h"
#include "train/recipe.h"
#include "train/resume.h"
#include "train/stepper.h"

namespace roentgen::train {
namespace {

constexpr std::int64_t kWarmUp = 3;
constexpr std::int64_t kRounds = 5;
constexpr float kLeastGain = 0.02F;

std::size_t index_of(std::span<const double> sizes, double size) {
  const auto found = std::ranges::find(sizes, size);
  RG_ASSERT(found != sizes.end());
  return static_cast<std::size_t>(found - sizes.begin());
}

}  // namespace

std::vector<double> bucket_sizes_to_try(const std::vector<engine::Bucket>& buckets) {
  std::vector<double> sizes;
  std::size_t count = 0;
  for (const double size : {kLeastBucket_mb, 2.0, kUsualBucket_mb, 8.0, 16.0, 32.0}) {
    const std::size_t joined = join_buckets(buckets, bucket_bytes(size)).size();
    const bool is_other = joined != std::exchange(count, joined);
    if (is_other) sizes.push_back(size);
    if (!is_other && size <= kUsualBucket_mb) sizes.back() = size;
  }
  return sizes;
}

double best_bucket_size(std::span<const double> sizes, std::span<const float> seconds) {
  RG_ASSERT(sizes.size() == seconds.size());
  const std::size_t usual = index_of(sizes, kUsualBucket_mb);
  const auto best = static_cast<std::size_t>(std::ranges::min_element(seconds) - seconds.begin());
  return sizes[seconds[best] < seconds[usual] * (1.0F - kLeastGain) ? best : usual];
}

BucketTrials::BucketTrials(const Ranks& ranks, std::vector<double> sizes)
    : ranks_(ranks), sizes_(std::move(sizes)), seconds_(sizes_.size(), std::numeric_limits<float>::max()) {
  RG_ASSERT(!sizes_.empty());
}

double BucketTrials::size_mb() const {
  const std::int64_t tried = updates_ - kWarmUp;
  return tried < 0 ? kUsualBucket_mb : sizes_[static_cast<std::size_t>(tried % std::ssize(sizes_))];
}

std::optional<double> BucketTrials::add(const StepRecord& step) {
  const std::int64_t tried = updates_++ - kWarmUp;
  if (tried < 0) return std::nullopt;
  float& shortest = seconds_[static_cast<std::size_t>(tried % std::ssize(sizes_))];
  shortest = std::min(shortest, static_cast<float>(step.seconds - step.data_wait_seconds));
  if (tried + 1 < kRounds * std::ssize(sizes_)) return std::nullopt;
  ranks_.average(seconds_, {.name = "bucket sizes"});
  const double chosen = best_bucket_size(sizes_, seconds_);
  usual_s_ = seconds_[index_of(sizes_, kUsualBucket_mb)];
  chosen_s_ = seconds_[index_of(sizes_, chosen)];
  return chosen;
}

std::string BucketTrials::unfinished_text() const {
  if (updates_ == 0) return {};
  return fmt::format("bucket_mb = auto: not tuned; the run ended after {} of the {} updates that try sizes", updates_,
                     kWarmUp + kRounds * std::ssize(sizes_));
}

BucketTuner::BucketTuner(const TrainRecipe& recipe, const Ranks& ranks, const engine::Executable& executable,
                         Stepper& stepper, RunState& state)
    : ranks_(ranks), stepper_(stepper), state_(state) {
  if (recipe.bucket_mb != kAutoBucket || state.bucket_mb > 0.0 || ranks.size() == 1) return;
  if (stepper.has_free_bucket_size()) {
    std::vector<double> sizes = bucket_sizes_to_try(executable.buckets());
    if (sizes.size() > 1) {
      trials_ = std::make_unique<BucketTrials>(ranks, std::move(sizes));
    } else if (ranks.is_first()) {
      log::info(fmt::format("bucket_mb = auto: {} MiB, not tuned; every size would give the same number of buckets",
                            kUsualBucket_mb));
    }
  } else if (ranks.is_first()) {
    log::info(
        fmt::format("bucket_mb = auto: {} MiB, not tuned; only f32 averages by exchange, tree or hierarchical have "
                    "results that do not depend on the size",
                    kUsualBucket_mb));
  }
}

void BucketTuner::look(const StepRecord& step) {
  if (trials_ == nullptr) return;
  const std::optional<double> chosen = trials_->add(step);
  stepper_.set_bucket_bytes(bucket_bytes(chosen.value_or(trials_->size_mb())));
  if (!chosen) return;
  state_.bucket_mb = *chosen;
  if (ranks_.is_first()) {
    constexpr float kMs = 1e3F;
    log::info(fmt::format("bucket_mb = auto: {} MiB, {:.1f} ms per update; {:.1f} ms with {} MiB", *chosen,
                          kMs * trials_->chosen_s(), kMs * trials_->usual_s(), kUsualBucket_mb));
  }
  trials_.reset();
}

void BucketTuner::finish() const {
  if (trials_ == nullptr || !ranks_.is_first()) return;
  if (const std::string text = trials_->unfinished_text(); !text.empty()) log::info(text);
}

}  // namespace roentgen::train
