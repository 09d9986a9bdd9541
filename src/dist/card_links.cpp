// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/card_links.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <thread>

#include "core/error.h"

namespace roentgen::dist {
namespace {

using Clock = std::chrono::steady_clock;

/// Values of this rank on its device.
class Values {
 public:
  Values(Communicator& group, runtime::Device& device, NcclAverages& averages, std::size_t count)
      : group_(group),
        averages_(averages),
        stream_(device.make_stream()),
        memory_(device.make_device_buffer(count * sizeof(float))),
        host_(device.make_pinned_buffer(count * sizeof(float))),
        ready_(device.make_event()),
        done_(device.make_event()),
        count_(count) {}

  /// Returns the seconds of an average of the first `count` values, between two barriers.
  [[nodiscard]] double average(std::size_t count, std::chrono::milliseconds limit) {
    fill();
    group_.barrier({"GPU links"}).wait(limit);
    const auto begin = Clock::now();
    NcclAverage& average = averages_.begin(
        {.address = reinterpret_cast<float*>(memory_->address()), .count = count, .copies = memory_->copies()}, *ready_,
        *done_);
    Pending pending = group_.compose(average, {"GPU links"});
    while (!pending.is_done()) {
      if (!average.failure().empty()) pending.fail(average.failure());
      if (Clock::now() - begin > limit) pending.give_up(limit);
      std::this_thread::yield();
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    check(count);
    return seconds;
  }

 private:
  [[nodiscard]] std::span<float> host() const { return {reinterpret_cast<float*>(host_->bytes().data()), count_}; }
  void fill() {
    std::ranges::fill(host(), static_cast<float>(group_.rank() + 1));
    stream_->upload(*host_, *memory_);
    stream_->record(*ready_);
    stream_->synchronize();
  }
  /// The mean of 1, 2, ..., n is (n + 1) / 2, which f32 represents exactly.
  void check(std::size_t count) {
    stream_->download(*memory_, *host_);
    stream_->synchronize();
    const float mean = static_cast<float>(group_.size() + 1) / 2.0F;
    const bool is_right =
        std::ranges::all_of(host().first(count), [&](float value) { return std::abs(value - mean) < 1e-5F * mean; });
    if (!is_right)
      throw DeviceError(error_text("dist.cards", "average over all GPUs", std::to_string(mean), "another value"));
  }

  Communicator& group_;
  NcclAverages& averages_;
  std::unique_ptr<runtime::Stream> stream_;
  std::unique_ptr<runtime::DeviceBuffer> memory_;
  std::unique_ptr<runtime::PinnedBuffer> host_;
  std::unique_ptr<runtime::Event> ready_, done_;
  std::size_t count_;
};

}  // namespace

CardLinks measure_card_links(Communicator& group, const GradientDevice& where, const CardTest& test) {
  const std::size_t count = test.bytes / sizeof(float);
  RG_ASSERT(count > 0 && test.times > 0);
  const auto averages = make_nccl_averages(group, where, {.algorithm = std::string(kNcclReduce)}, test.limit);
  averages->join(test.limit);
  CardLinks links{.library = std::string(averages->name())};
  {
    Values values(group, where.device, *averages, count);
    double least_s = std::numeric_limits<double>::max();
    links.latency_s = least_s;
    for (int i = 0; i <= test.times; ++i) {
      const double all_s = values.average(count, test.limit);
      const double one_s = values.average(1, test.limit);
      if (i == 0) continue;  // warm-up
      least_s = std::min(least_s, all_s);
      links.latency_s = std::min(links.latency_s, one_s);
    }
    const auto n = static_cast<double>(group.size());
    links.bytes_per_s = 2.0 * (n - 1.0) / n * static_cast<double>(test.bytes) / least_s;
  }
  averages->end(test.limit);
  return links;
}

}  // namespace roentgen::dist
