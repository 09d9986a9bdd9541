// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/nccl_exchange.h"

#include <algorithm>

#include "core/error.h"

namespace roentgen::dist {
namespace {

/// Divides buckets among ranks. Shares of each rank begin at a multiple of 16 bytes, which NCCL copies faster.
runtime::RankShares divide(const NcclExchangeOptions& options) {
  RG_ASSERT(options.segment > 0 && options.ranks > 0);
  constexpr std::size_t kAlignment = 8;
  const auto ranks = static_cast<std::size_t>(options.ranks);
  const auto share = [&](std::size_t count) { return (count + ranks - 1) / ranks; };  // rounded up in each segment
  const std::size_t most =
      options.most / options.segment * share(options.segment) + share(options.most % options.segment);
  return {
      .segment = options.segment, .ranks = options.ranks, .stride = (most + kAlignment - 1) / kAlignment * kAlignment};
}

}  // namespace

NcclExchange::NcclExchange(runtime::Device& device, const runtime::WireKernels& kernels,
                           const NcclExchangeOptions& options)
    : options_(options), kernels_(kernels), shares_(divide(options)) {
  const auto places = static_cast<std::size_t>(2 * options.ranks - 1);
  memory_ = device.make_device_buffer(places * shares_.stride * sizeof(std::uint16_t));
}

std::size_t NcclExchange::size_of(int rank, std::size_t count) const {
  const Share share{.index = rank, .count = options_.ranks};
  return count / options_.segment * share.size(options_.segment) + share.size(count % options_.segment);
}

runtime::DeviceSpan<std::uint16_t> NcclExchange::halves(int place, std::size_t count) const {
  auto* const first = reinterpret_cast<std::uint16_t*>(memory_->address());
  return {first + static_cast<std::size_t>(place) * shares_.stride, count, memory_->copies()};
}

void NcclExchange::send_parts(runtime::DeviceSpan<float> data, NcclCalls& calls, runtime::Stream& stream) {
  RG_ASSERT(data.count <= options_.most);
  const int ranks = options_.ranks;
  kernels_.narrow(stream, options_.wire, data, halves(0, static_cast<std::size_t>(ranks) * shares_.stride), shares_);
  sends_.clear();
  receives_.clear();
  const std::size_t own = size_of(options_.rank, data.count);
  for (int rank = 0, place = ranks; rank < ranks; ++rank) {
    if (rank == options_.rank) continue;
    sends_.push_back({rank, halves(rank, size_of(rank, data.count))});
    receives_.push_back({rank, halves(place++, own)});
  }
  calls.exchange(sends_, receives_, stream);
}

void NcclExchange::send_means(runtime::DeviceSpan<float> data, NcclCalls& calls, runtime::Stream& stream) {
  const int ranks = options_.ranks;
  const runtime::DeviceSpan<std::uint16_t> mean = halves(options_.rank, size_of(options_.rank, data.count));
  kernels_.mean_of_ranks(stream, {.wire = options_.wire,
                                  .bucket = data,
                                  .shares = shares_,
                                  .rank = options_.rank,
                                  .received = halves(ranks, static_cast<std::size_t>(ranks - 1) * shares_.stride),
                                  .factor = 1.0F / static_cast<float>(ranks),
                                  .mean = mean});
  sends_.clear();
  receives_.clear();
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank == options_.rank) continue;
    sends_.push_back({rank, mean});
    receives_.push_back({rank, halves(rank, size_of(rank, data.count))});
  }
  calls.exchange(sends_, receives_, stream);
}

void NcclExchange::receive_means(runtime::DeviceSpan<float> data, runtime::Stream& stream) const {
  kernels_.widen(stream, options_.wire, halves(0, static_cast<std::size_t>(options_.ranks) * shares_.stride), data,
                 shares_);
}

}  // namespace roentgen::dist
