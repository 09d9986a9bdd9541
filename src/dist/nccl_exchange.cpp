// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/nccl_exchange.h"

#include <algorithm>

#include "core/error.h"

namespace roentgen::dist {
namespace {

/// Number of values of the largest share of all segments of a bucket, rounded up in each segment.
std::size_t largest_share(const NcclExchangeOptions& options) {
  const auto ranks = static_cast<std::size_t>(options.ranks);
  const auto share = [&](std::size_t count) { return (count + ranks - 1) / ranks; };
  return options.most / options.segment * share(options.segment) + share(options.most % options.segment);
}

}  // namespace

NcclExchange::NcclExchange(runtime::Device& device, const runtime::WireKernels& kernels,
                           const NcclExchangeOptions& options)
    : options_(options), kernels_(kernels), stride_(largest_share(options)) {
  RG_ASSERT(options.segment > 0 && options.ranks > 0);
  const std::size_t received = stride_ * static_cast<std::size_t>(options.ranks - 1);
  memory_ = device.make_device_buffer((options.most + received) * sizeof(std::uint16_t));
}

void NcclExchange::divide(std::size_t count) {
  RG_ASSERT(count <= options_.most);
  segments_.clear();
  std::size_t received_at = 0;
  for (std::size_t begin = 0; begin < count; begin += options_.segment) {
    segments_.push_back({begin, std::min(options_.segment, count - begin), received_at});
    received_at += share_of(options_.rank).size(segments_.back().count);
  }
}

runtime::DeviceSpan<std::uint16_t> NcclExchange::halves(std::size_t begin, std::size_t count) const {
  return {reinterpret_cast<std::uint16_t*>(memory_->address()) + begin, count, memory_->copies()};
}

runtime::DeviceSpan<std::uint16_t> NcclExchange::part(const Segment& segment, int rank) const {
  const Share share = share_of(rank);
  return halves(segment.begin + share.begin(segment.count), share.size(segment.count));
}

void NcclExchange::send_parts(runtime::DeviceSpan<float> data, NcclCalls& calls, runtime::Stream& stream) {
  divide(data.count);
  kernels_.narrow(stream, options_.wire, data, halves(0, data.count));
  sends_.clear();
  receives_.clear();
  for (const Segment& segment : segments_) {
    const std::size_t own = share_of(options_.rank).size(segment.count);
    std::size_t at = options_.most + segment.received_at;
    for (int rank = 0; rank < options_.ranks; ++rank) {
      if (rank == options_.rank) continue;
      sends_.push_back({rank, part(segment, rank)});
      receives_.push_back({rank, halves(at, own)});
      at += stride_;
    }
  }
  calls.exchange(sends_, receives_, stream);
}

void NcclExchange::send_means(runtime::DeviceSpan<float> data, NcclCalls& calls, runtime::Stream& stream) {
  divide(data.count);
  const int others = options_.ranks - 1;
  sends_.clear();
  receives_.clear();
  for (const Segment& segment : segments_) {
    const Share share = share_of(options_.rank);
    const std::size_t count = share.size(segment.count);
    const runtime::DeviceSpan<std::uint16_t> mean = part(segment, options_.rank);
    kernels_.mean_of_ranks(stream,
                           {.wire = options_.wire,
                            .own = {data.address + segment.begin + share.begin(segment.count), count, data.copies},
                            .received = others == 0 ? halves(0, 0)
                                                    : halves(options_.most + segment.received_at,
                                                             static_cast<std::size_t>(others - 1) * stride_ + count),
                            .stride = stride_,
                            .others = others,
                            .own_at = options_.rank,
                            .factor = 1.0F / static_cast<float>(options_.ranks),
                            .mean = mean});
    for (int rank = 0; rank < options_.ranks; ++rank) {
      if (rank == options_.rank) continue;
      sends_.push_back({rank, mean});
      receives_.push_back({rank, part(segment, rank)});
    }
  }
  calls.exchange(sends_, receives_, stream);
}

void NcclExchange::receive_means(runtime::DeviceSpan<float> data, runtime::Stream& stream) const {
  kernels_.widen(stream, options_.wire, halves(0, data.count), data);
}

}  // namespace roentgen::dist
