// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "dist/nccl_averages.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/log.h"
#include "dist/reduce/wire.h"
#include "runtime/core_list.h"
#include "runtime/device_monitor.h"

namespace roentgen::dist {
namespace {

using Clock = std::chrono::steady_clock;

/// An NCCL call that all ranks make together, such as joining the group. It starts the call and is done when NCCL is
/// idle.
class Together final : public Composite {
 public:
  Together(NcclCalls& calls, std::function<void()> begin) : calls_(calls), begin_(std::move(begin)) {}
  [[nodiscard]] bool advance(int /*tag*/) override {
    if (begin_) std::exchange(begin_, nullptr)();
    return calls_.is_idle();
  }

 private:
  NcclCalls& calls_;
  std::function<void()> begin_;
};

/// Message by which a rank tells the others its device and whether it has NCCL. Has the same size on all ranks.
struct RankNccl {
  std::array<char, 64> device{};
  /// GradientDevice::host_id.
  std::array<char, 128> host_id{};
  /// Reason why the rank has no NCCL; empty if it has.
  std::array<char, 256> why_none{};
};

template <std::size_t kRoom>
void put(const std::string& text, std::array<char, kRoom>& room) {
  std::memcpy(room.data(), text.data(), std::min(text.size(), kRoom - 1));
}

// Reason of the lowest rank for which the group cannot average by NCCL; empty if the group can.
std::string why_not(Communicator& group, const RankNccl& own, std::chrono::milliseconds limit) {
  std::vector<RankNccl> all(static_cast<std::size_t>(group.size()));
  group.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)), {"NCCL of all ranks"})
      .wait(limit);
  std::map<std::string, int> owners;
  for (int rank = 0; rank < group.size(); ++rank) {
    const RankNccl& theirs = all[static_cast<std::size_t>(rank)];
    if (theirs.why_none[0] != '\0') return "rank " + std::to_string(rank) + ": " + theirs.why_none.data();
    if (theirs.device[0] == '\0') return "rank " + std::to_string(rank) + ": a GPU without an id";
    // NCCL refuses two ranks with one card and one name of the host, also on two instances of the card.
    const std::string bus = runtime::bus_of(theirs.device.data());
    const std::string host = theirs.host_id[0] == '\0' ? std::string(group.host(rank)) : theirs.host_id.data();
    const auto [owner, is_new] = owners.try_emplace(host + " " + bus, rank);
    if (!is_new) {
      return "ranks " + std::to_string(owner->second) + " and " + std::to_string(rank) + " on the same GPU, " + bus;
    }
  }
  return {};
}

// Waits until all ranks have joined NCCL's group. NCCL chooses its network interface by itself, and waits forever if
// the other ranks cannot be reached on it. So the remedy of a failure names the setting.
void wait_for_group(Pending joined, std::chrono::milliseconds limit) {
  try {
    joined.wait(limit);
  } catch (const CommError& error) {
    throw CommError(std::string(error.what()) + ", or NCCL_SOCKET_IFNAME=NAME with the network interface of all hosts");
  }
}

// Throws DeviceError on all ranks if NCCL has too little memory on the GPU of a rank.
void require_memory(Communicator& group, const runtime::Device& device, std::chrono::milliseconds limit) {
  if (group.size() == 1) return;
  const std::array<std::uint64_t, 1> own{device.free_bytes()};
  std::vector<std::uint64_t> all(static_cast<std::size_t>(group.size()));
  group.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)), {"memory for NCCL"})
      .wait(limit);
  const auto least = std::ranges::min_element(all);
  runtime::require_device_memory("the GPU of rank " + std::to_string(least - all.begin()),
                                 "NCCL (--reduce exchange needs none)", kNcclBytes, *least);
}

DType type_of(Wire wire) { return wire == Wire::F32 ? DType::F32 : wire == Wire::Bf16 ? DType::Bf16 : DType::F16; }

}  // namespace

std::string nccl_host_id() {
  const char* const id = std::getenv("NCCL_HOSTID");
  return id == nullptr ? "" : id;
}

NcclAverage::NcclAverage(NcclAverages& owner)
    : owner_(owner), seen_(owner.device_.make_event()), end_(owner.device_.make_event()) {}

bool NcclAverage::advance(int /*tag*/) {
  if (!failure_.empty()) return false;
  try {
    advance();
  } catch (const CommError& error) {
    failure_ = error.what();
  }
  return step_ == Step::Done;
}

void NcclAverage::advance() {
  const bool is_next = owner_.queued_ == number_, is_oldest = owner_.done_ == number_;
  const bool is_idle = (is_next || is_oldest) && owner_.calls_->is_idle();
  if (step_ == Step::Waits) {
    if (!is_idle || !is_next) return;  // an earlier average must be queued first
    owner_.gate_->wait_for(*ready_);
    owner_.gate_->record(*seen_);
    owner_.stream_->wait_for(*seen_);
    if (owner_.exchange_ != nullptr) {
      owner_.exchange_->send_parts(data_, *owner_.calls_, *owner_.stream_);
      step_ = Step::IsExchanging;
    } else {
      owner_.calls_->all_reduce_mean(data_, *owner_.stream_);
      step_ = Step::IsQueueing;
    }
    return;
  }
  if (!is_ready_ && owner_.ready_ == number_ && seen_->is_reached()) {
    is_ready_ = true;
    ++owner_.ready_;
    ready_at_ = Clock::now();
  }
  if (step_ == Step::IsExchanging && is_idle) {
    owner_.exchange_->send_means(data_, *owner_.calls_, *owner_.stream_);
    step_ = Step::IsQueueing;
    return;
  }
  if (step_ == Step::IsQueueing && is_idle) {
    if (owner_.exchange_ != nullptr) owner_.exchange_->receive_means(data_, *owner_.stream_);
    owner_.stream_->record(*done_);
    owner_.stream_->record(*end_);
    ++owner_.queued_;
    step_ = Step::Queued;
  }
  if (step_ == Step::Queued && is_ready_ && is_oldest && end_->is_reached()) {
    ++owner_.done_;
    step_ = Step::Done;
  }
}

NcclAverages::NcclAverages(Communicator& group, runtime::Device& device, NcclParts parts)
    : group_(group),
      device_(device),
      calls_(std::move(parts.calls)),
      exchange_(std::move(parts.exchange)),
      stream_(device.make_stream()),
      gate_(device.make_stream()) {}

void NcclAverages::join(std::chrono::milliseconds limit) {
  const Phase phase{"NCCL's group"};
  NcclId id = group_.rank() == 0 ? calls_->make_id() : NcclId{};
  group_.broadcast(id, 0, phase).wait(limit);
  Together joining(*calls_, [&] { calls_->join(id, group_.rank(), group_.size(), *stream_); });
  wait_for_group(group_.compose(joining, phase), limit);
  // NCCL of the other ranks may still allocate. In one process, this could wait for an average of this rank.
  group_.barrier(phase).wait(limit);
}

NcclAverages::~NcclAverages() {
  calls_.reset();  // freed first, because streams wait for its queued work
}

NcclAverage& NcclAverages::begin(runtime::DeviceSpan<float> data, const runtime::Event& ready, runtime::Event& done) {
  const auto is_free = [](const auto& each) { return each->step_ == NcclAverage::Step::Done; };
  auto found = std::ranges::find_if(averages_, is_free);
  if (found == averages_.end()) found = averages_.insert(averages_.end(), std::make_unique<NcclAverage>(*this));
  NcclAverage& average = **found;
  average.step_ = NcclAverage::Step::Waits;
  average.number_ = begun_++;
  average.data_ = data;
  average.ready_ = &ready;
  average.done_ = &done;
  average.is_ready_ = false;
  return average;
}

void NcclAverages::end(std::chrono::milliseconds limit) {
  Together leaving(*calls_, [&] { calls_->end(); });
  group_.compose(leaving, {"end of NCCL's group"}).wait(limit);
}

std::unique_ptr<NcclAverages> make_nccl_averages(Communicator& group, const GradientDevice& where,
                                                 const ReduceOptions& options, std::chrono::milliseconds limit) {
  const bool is_asked = options.algorithm == kNcclReduce;
  const bool is_open = options.algorithm == kAutoReduce && group.size() > 1 && !where.is_host;
  if (!is_asked && !is_open) return nullptr;
  const DType wire = type_of(parse_wire(options.wire));
  RankNccl own;
  put(where.id, own.device);
  put(where.host_id, own.host_id);
  NcclParts parts;
  if (where.is_host) {
    put("gradients in the host's memory", own.why_none);
  } else if (wire != DType::F32 && where.kernels == nullptr) {
    put("a device without kernels for --wire " + options.wire, own.why_none);
  } else {
    try {
      parts.calls = where.make_nccl();
    } catch (const CommError& error) {
      put(error.what(), own.why_none);
    }
  }
  const std::string reason = why_not(group, own, limit);
  if (!reason.empty() && is_asked) {
    throw ConfigError(
        error_text("dist.nccl", "--reduce nccl", "NCCL, and gradients on one GPU per rank", reason, "--reduce auto"));
  }
  if (group.rank() == 0 && !reason.empty()) log::info("gradients pass through the host, not NCCL: " + reason);
  if (!reason.empty()) return nullptr;
  require_memory(group, where.device, limit);
  if (wire != DType::F32) {
    parts.exchange =
        std::make_unique<NcclExchange>(where.device, *where.kernels,
                                       NcclExchangeOptions{.rank = group.rank(),
                                                           .ranks = group.size(),
                                                           .wire = wire,
                                                           .segment = std::max<std::size_t>(options.segment, 1),
                                                           .most = where.most_values});
  }
  auto made = std::make_unique<NcclAverages>(group, where.device, std::move(parts));
  if (group.rank() == 0) {
    const runtime::CoreList cores = runtime::usable_cores();  // of this thread; NCCL's threads inherit them
    const bool is_bound = cores != runtime::cores_of_process();
    log::debug("gradients are averaged by " + std::string(made->name()) + ", sent as " + options.wire +
               (is_bound ? ", with NCCL's threads on cores " + runtime::text_of(cores) : ""));
  }
  return made;
}

}  // namespace roentgen::dist
