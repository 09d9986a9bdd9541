// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests of averages on devices: ranks with an imitation of NCCL, and their gradients. Ranks are threads, and each
// has a device whose streams are threads.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "dist/comm_thread.h"
#include "dist/local_group_testing.h"
#include "dist/mailbox_testing.h"
#include "dist/nccl_averages.h"
#include "dist/nccl_twin_testing.h"
#include "dist/reduce/schedule.h"
#include "dist/reduce/wire.h"
#include "runtime/twin_device_testing.h"
#include "runtime/wire_kernels.h"

namespace roentgen::dist {

inline constexpr std::int64_t kBuckets = 5;   ///< number of gradient buckets
inline constexpr std::size_t kCount = 1'003;  ///< number of values of a bucket
/// Time limit of tests that do not wait for missing ranks.
inline constexpr std::chrono::milliseconds kLong{60'000};

/// Gradient of a rank. Large values of even ranks cancel, and absorb low bits of the ranks between them. So another
/// order of sums gives other bits.
inline float value_of(int rank, std::int64_t bucket, std::size_t i) {
  const float large = i % 2 == 0 || rank % 2 == 1 ? 0.0F : rank % 4 == 0 ? 0x1p15F : -0x1p15F;
  return large + static_cast<float>(i % 97) * 0.037F + static_cast<float>(bucket) * 0.31F +
         static_cast<float>(rank) * 0.17F;
}

/// Kernels for messages of 16 bits on a TwinDevice.
class TwinWireKernels final : public runtime::WireKernels {
 public:
  explicit TwinWireKernels(runtime::TwinMemory& memory) : memory_(memory) {}
  void narrow(runtime::Stream& stream, DType wire, runtime::DeviceSpan<float> bucket,
              runtime::DeviceSpan<std::uint16_t> by_ranks, const runtime::RankShares& shares) const override {
    run(stream, [this, wire, bucket, by_ranks, shares] {
      const std::span<float> values = memory_.behind(bucket);
      const std::span<std::uint16_t> halves = memory_.behind(by_ranks);
      for (int rank = 0; rank < shares.ranks; ++rank) {
        std::size_t at = static_cast<std::size_t>(rank) * shares.stride;
        for (const std::span<float> part : parts(values, shares, rank)) {
          to_wire(wire_of(wire), part, halves.subspan(at, part.size()));
          at += part.size();
        }
      }
    });
  }
  void widen(runtime::Stream& stream, DType wire, runtime::DeviceSpan<std::uint16_t> by_ranks,
             runtime::DeviceSpan<float> bucket, const runtime::RankShares& shares) const override {
    run(stream, [this, wire, by_ranks, bucket, shares] {
      const std::span<float> values = memory_.behind(bucket);
      const std::span<std::uint16_t> halves = memory_.behind(by_ranks);
      for (int rank = 0; rank < shares.ranks; ++rank) {
        std::size_t at = static_cast<std::size_t>(rank) * shares.stride;
        for (const std::span<float> part : parts(values, shares, rank)) {
          from_wire(wire_of(wire), halves.subspan(at, part.size()), part);
          at += part.size();
        }
      }
    });
  }
  void mean_of_ranks(runtime::Stream& stream, const runtime::RankMean& work) const override {
    run(stream, [this, work] {
      std::vector<float> sum;
      for (const std::span<float> part : parts(memory_.behind(work.bucket), work.shares, work.rank)) {
        sum.insert(sum.end(), part.begin(), part.end());
      }
      const std::span<const std::byte> received = std::as_bytes(memory_.behind(work.received));
      std::vector<const std::byte*> sources;
      for (int other = 0; other + 1 < work.shares.ranks; ++other) {
        sources.push_back(received.data() +
                          static_cast<std::size_t>(other) * work.shares.stride * sizeof(std::uint16_t));
      }
      sum_into(sum, {.wire = wire_of(work.wire),
                     .sources = sources,
                     .own_at = static_cast<std::size_t>(work.rank),
                     .mean_factor = work.factor});
      to_wire(wire_of(work.wire), sum, memory_.behind(work.mean));
    });
  }

 private:
  static Wire wire_of(DType type) { return parse_wire(name_of(type)); }
  static void run(runtime::Stream& stream, std::function<void()> kernel) {
    dynamic_cast<runtime::TwinStream&>(stream).run(std::move(kernel));
  }
  /// Shares of a rank in all segments of a bucket.
  static std::vector<std::span<float>> parts(std::span<float> bucket, const runtime::RankShares& shares, int rank) {
    const Share share{.index = rank, .count = shares.ranks};
    std::vector<std::span<float>> all;
    for (std::size_t begin = 0; begin < bucket.size(); begin += shares.segment) {
      const std::size_t count = std::min(shares.segment, bucket.size() - begin);
      all.push_back(bucket.subspan(begin + share.begin(count), share.size(count)));
    }
    return all;
  }
  runtime::TwinMemory& memory_;
};

/// A rank of a test, which runs in its own thread.
struct Rank {
  CommThread& comm;
  int number = 0;
  GradientDevice device;
  runtime::TwinDevice& twin;
};

/// Runs `work` on `ranks` ranks, each with its own device. Returns the error text of each rank; empty if it threw none.
inline std::vector<std::string> as_ranks(int ranks, const ReduceOptions& options,
                                         const std::function<void(Rank&)>& work,
                                         std::chrono::milliseconds limit = kLong) {
  LocalGroup group(ranks);
  Mailboxes boxes(ranks);
  std::vector<std::string> thrown(static_cast<std::size_t>(ranks));
  std::vector<std::jthread> threads;
  for (int number = 0; number < ranks; ++number) {
    threads.emplace_back([&, number] {
      runtime::TwinDevice twin;
      const TwinWireKernels kernels(twin.memory());
      CommThread comm(
          [&] { return std::make_unique<MailboxMember>(boxes, group, number, static_cast<unsigned>(number)); }, limit,
          options);
      Rank rank{.comm = comm,
                .number = number,
                .device = {.device = twin,
                           .id = "twin:" + std::to_string(number),
                           .make_nccl = [] { return std::make_unique<NcclTwin>(twin_device()); },
                           .kernels = &kernels,
                           .most_values = kCount},
                .twin = twin};
      try {
        work(rank);
      } catch (const Error& error) {
        thrown[static_cast<std::size_t>(number)] = error.what();
        static_cast<void>(comm.fail());
      }
      comm.leave_device();
    });
  }
  threads.clear();
  return thrown;
}

/// Gradients of a rank in device memory, and the stream that computes them.
class Gradients {
 public:
  explicit Gradients(Rank& rank)
      : rank_(rank),
        stream_(rank.twin.make_twin_stream()),
        memory_(rank.twin.make_device_buffer(kBuckets * kCount * sizeof(float))) {
    for (std::int64_t bucket = 0; bucket < kBuckets; ++bucket) {
      ready_.push_back(rank.twin.make_event());
      done_.push_back(rank.twin.make_event());
    }
  }
  [[nodiscard]] runtime::DeviceSpan<float> bucket(std::int64_t at) const {
    return {reinterpret_cast<float*>(memory_->address()) + static_cast<std::size_t>(at) * kCount, kCount,
            memory_->copies()};
  }
  /// Queues the computation of all values, and starts to average each bucket as soon as it is computed.
  /// @param compute called on the stream before each bucket is computed; empty: nothing
  std::vector<std::int64_t> queue(const std::function<void(std::int64_t bucket)>& compute = {}) {
    std::vector<std::int64_t> tickets;
    for (std::int64_t at = 0; at < kBuckets; ++at) {
      stream_->run([this, at, compute] {
        if (compute) compute(at);
        const std::span<float> values = rank_.twin.memory().behind(bucket(at));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_of(rank_.number, at, i);
      });
      stream_->record(*ready_[static_cast<std::size_t>(at)]);
      tickets.push_back(rank_.comm.queue_mean(bucket(at), *ready_[static_cast<std::size_t>(at)],
                                              *done_[static_cast<std::size_t>(at)], at + 1 == kBuckets,
                                              {"gradient bucket", at}));
    }
    return tickets;
  }
  /// Returns the values that the stream reads after the average, without the host waiting for the device.
  std::vector<float> values_after(std::int64_t at) {
    std::vector<float> values(kCount);
    stream_->wait_for(*done_[static_cast<std::size_t>(at)]);
    stream_->download(*memory_, static_cast<std::size_t>(at) * kCount * sizeof(float),
                      std::as_writable_bytes(std::span(values)));
    stream_->synchronize();
    return values;
  }
  void synchronize() { stream_->synchronize(); }
  [[nodiscard]] runtime::Stream& stream() { return *stream_; }
  [[nodiscard]] const runtime::Event& done(std::int64_t at) const { return *done_[static_cast<std::size_t>(at)]; }

 private:
  Rank& rank_;
  std::vector<std::unique_ptr<runtime::Event>> ready_, done_;
  std::unique_ptr<runtime::TwinStream> stream_;
  std::unique_ptr<runtime::DeviceBuffer> memory_;
};

}  // namespace roentgen::dist
