// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/gradient_exchange.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/timeline.h"
#include "dist/comm_thread.h"
#include "dist/nccl_averages.h"

namespace roentgen::train {
namespace {

enum Said : std::size_t { kLoss, kImages, kUncounted, kStop, kBusy };

}  // namespace

GradientExchange::GradientExchange(dist::CommThread& group, const dist::GradientDevice& device, std::int64_t buckets,
                                   Timeline* timeline)
    : group_(group), timeline_(timeline), said_(kBusy + static_cast<std::size_t>(group.size())), buckets_(buckets) {
  if (device.is_host && !group_.is_nccl_asked()) return;
  group_.use_device(device);
  uses_device_ = true;
  if (group_.device_way().empty()) return;
  for (std::int64_t bucket = 0; bucket < buckets; ++bucket) done_.push_back(device.device.make_event());
}

GradientExchange::~GradientExchange() {
  if (!is_reported_ || next_ < sent_.size()) static_cast<void>(group_.fail());
  if (uses_device_) group_.leave_device();
}

void GradientExchange::warm_up(std::span<const runtime::DeviceSpan<float>> buckets, const runtime::Event& ready) {
  RG_ASSERT(is_on_device() && std::ssize(buckets) == buckets_);
  meet();  // devices of the other ranks may still allocate
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const dist::Phase phase{.name = "first average of bucket", .index = static_cast<std::int64_t>(i)};
    static_cast<void>(group_.queue_mean(buckets[i], ready, *done_[i], false, phase));
  }
  group_.settle();
  meet();
}

void GradientExchange::meet() {
  group_.call(
      [&](dist::Communicator& communicator) { communicator.barrier({"averages of all ranks"}).wait(group_.limit()); });
}

void GradientExchange::begin() {
  sent_.clear();
  next_ = 0;
}

void GradientExchange::tell(const RankReport& own) {
  std::ranges::fill(said_, 0.0F);
  said_[kLoss] = static_cast<float>(own.loss);
  said_[kImages] = static_cast<float>(own.images);
  batch_divisor_ = own.count.batch_divisor;
  // The difference is smaller than the counts, so f32 represents it exactly for more labels. It is 0 if all are known.
  said_[kUncounted] = static_cast<float>(own.count.batch_divisor - own.count.update_divisor);
  said_[kStop] = own.is_stop_asked ? 1.0F : 0.0F;
  said_[kBusy + static_cast<std::size_t>(group_.rank())] = static_cast<float>(own.busy_s);
  report_ticket_ = group_.average_figures(said_, {.name = "step"});
  is_reported_ = false;
}

void GradientExchange::send(std::int64_t bucket, runtime::DeviceSpan<float> gradients, const runtime::Event& ready) {
  const dist::Phase phase{.name = "gradient bucket", .index = bucket};
  const bool is_last = std::ssize(sent_) + 1 == buckets_;
  sent_.push_back(
      {.bucket = bucket,
       .ticket = is_on_device()
                     ? group_.queue_mean(gradients, ready, *done_[static_cast<std::size_t>(bucket)], is_last, phase)
                     : group_.all_reduce_mean(gradients, ready, phase)});
}

GroupReport GradientExchange::report() {
  {
    const TimedScope waiting(timeline_, "wait for step report");
    group_.wait(report_ticket_);
  }
  is_reported_ = true;
  const auto ranks = static_cast<double>(group_.size());
  const double batch_divisor = batch_divisor_ * ranks;
  return {.loss = static_cast<double>(said_[kLoss]),
          .images = std::llround(static_cast<double>(said_[kImages]) * ranks),
          .count = {.batch_divisor = batch_divisor,
                    .update_divisor = batch_divisor - std::round(static_cast<double>(said_[kUncounted]) * ranks)},
          .is_stop_asked = said_[kStop] > 0.0F,
          .slowest = slowest_of(std::span<const float>(said_).subspan(kBusy))};
}

AveragedBucket GradientExchange::wait_next() {
  if (next_ == sent_.size()) return {};
  const std::int64_t bucket = sent_[next_].bucket;
  {
    const TimedScope waiting(timeline_, "wait for bucket", bucket);
    group_.wait(sent_[next_++].ticket);
  }
  return {.bucket = bucket, .after = is_on_device() ? done_[static_cast<std::size_t>(bucket)].get() : nullptr};
}

void GradientExchange::settle() {
  if (!is_on_device()) return;
  const TimedScope waiting(timeline_, "wait for device");
  group_.settle();
  if (group_.shares_process()) meet();
}

}  // namespace roentgen::train
