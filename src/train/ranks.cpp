// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "core/error.h"
#include "core/plural.h"
#include "core/timeline.h"
#include "data/stage/pixel_hashes.h"
#include "dist/comm_thread.h"
#include "engine/engine.h"
#include "io/sha256.h"
#include "train/ema.h"
#include "train/optimizer/optimizer.h"

namespace roentgen::train {
namespace {

// Size of one broadcast, because MPI counts elements with an int. Even a slow link sends a piece well before the
// timeout.
constexpr std::size_t kPieceBytes = std::size_t{64} << 20U;

void broadcast_bytes(dist::CommThread& group, std::span<std::byte> bytes, dist::Phase phase, int root = 0) {
  group.call([&](dist::Communicator& communicator) {
    for (std::size_t begin = 0; begin < bytes.size(); begin += kPieceBytes) {
      const auto piece = bytes.subspan(begin, std::min(kPieceBytes, bytes.size() - begin));
      communicator.broadcast(piece, root, phase).wait(group.limit());
    }
  });
}

// Calls `visit` with every running statistic, that is, every tensor that is not trained.
template <typename Visit>
void for_each_statistic(const engine::Executable& executable, const Visit& visit) {
  const auto& parameters = executable.graph().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!graph::is_trained(parameters[i].role)) visit(static_cast<std::int32_t>(i));
  }
}

// Copies the running statistics from one arena: the executable's own, or their moving averages.
std::vector<float> statistics_of(const engine::Executable& executable, const engine::Arena& arena) {
  std::vector<float> all;
  for_each_statistic(executable, [&](std::int32_t parameter) {
    const std::vector<float> values = executable.store(parameter, arena);
    all.insert(all.end(), values.begin(), values.end());
  });
  return all;
}

// Copies the running statistics of the network, then their moving averages.
std::vector<float> statistics_of(const engine::Executable& executable, Ema* ema) {
  std::vector<float> all = statistics_of(executable, executable.state());
  if (ema == nullptr) return all;
  const std::vector<float> averages = statistics_of(executable, ema->statistics());
  all.insert(all.end(), averages.begin(), averages.end());
  return all;
}

void load_statistics(std::span<const float> all, const engine::Executable& executable, engine::Arena& arena) {
  for_each_statistic(executable, [&](std::int32_t parameter) {
    const auto count = static_cast<std::size_t>(executable.graph().parameter(parameter).shape.elements());
    executable.load(parameter, all.first(count), arena);
    all = all.subspan(count);
  });
}

// Broadcasts rank 0's elements of an arena.
void broadcast(const Ranks& ranks, engine::Arena& arena, dist::Phase phase) {
  std::vector<float> values = arena.values();
  ranks.broadcast(values, phase);
  arena.upload(0, values);
}

}  // namespace

int Ranks::rank() const { return group_ == nullptr ? 0 : group_->rank(); }
int Ranks::size() const { return group_ == nullptr ? 1 : group_->size(); }
int Ranks::local_size() const { return group_ == nullptr ? 1 : group_->local_size(); }

std::string Ranks::host(int rank) const {
  return group_ == nullptr ? "this process" : group_->hosts()[static_cast<std::size_t>(rank)];
}

std::string ranks_text(std::int64_t count) { return counted(count, "rank"); }

std::string Ranks::broadcast(std::string bytes, dist::Phase phase, int root) const {
  if (size() == 1) return bytes;
  std::uint64_t count = bytes.size();
  broadcast_bytes(*group_, std::as_writable_bytes(std::span(&count, 1)), phase, root);
  bytes.resize(count);
  broadcast_bytes(*group_, std::as_writable_bytes(std::span(bytes)), phase, root);
  return bytes;
}

void Ranks::broadcast(std::span<float> values, dist::Phase phase) const {
  if (size() > 1) broadcast_bytes(*group_, std::as_writable_bytes(values), phase);
}

std::vector<std::string> Ranks::gather(const std::string& own, dist::Phase phase) const {
  if (size() == 1) return {own};
  const auto ranks = static_cast<std::size_t>(size());
  std::vector<std::string> all(ranks);
  group_->call([&](dist::Communicator& communicator) {
    std::vector<std::uint64_t> counts(ranks);
    const std::uint64_t count = own.size();
    communicator.all_gather(std::as_bytes(std::span(&count, 1)), std::as_writable_bytes(std::span(counts)), phase)
        .wait(group_->limit());
    const std::size_t most = std::ranges::max(counts);
    if (most == 0) return;
    // All ranks must contribute equally many bytes, so texts are padded to the longest.
    std::string padded = own;
    padded.resize(most);
    std::string received(most * ranks, '\0');
    communicator.all_gather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(received)), phase)
        .wait(group_->limit());
    for (std::size_t rank = 0; rank < ranks; ++rank) all[rank] = received.substr(rank * most, counts[rank]);
  });
  return all;
}

void Ranks::average(std::span<float> values, dist::Phase phase) const {
  if (size() == 1 || values.empty()) return;
  group_->wait(group_->average_figures(values, phase));
}

void share_memory(const Ranks& ranks, engine::Executable& executable, Optimizer& optimizer, Ema* ema) {
  if (ranks.size() == 1) return;
  constexpr dist::Phase kPhase{.name = "first weights"};
  broadcast(ranks, executable.parameters(), kPhase);
  broadcast(ranks, executable.state(), kPhase);
  for (const OptimizerState& state : optimizer.state()) broadcast(ranks, state.arena, kPhase);
  if (ema == nullptr) return;
  std::vector<NamedTensor> averages = ema->state();
  for (NamedTensor& tensor : averages) ranks.broadcast(tensor.values, kPhase);
  ema->restore(averages, "rank 0");
}

std::shared_ptr<const engine::NormGroup> norm_group(const Ranks& ranks, Timeline* timeline) {
  if (ranks.size() == 1) return nullptr;
  return std::make_shared<engine::NormGroup>(
      engine::NormGroup{.ranks = ranks.size(),
                        .sum = [group = ranks.group(), timeline](runtime::DeviceSpan<double> sums,
                                                                 const runtime::Event& ready, std::int64_t index) {
                          const TimedScope waiting(timeline, "wait for batch norm", index);
                          group->wait(group->all_reduce_sum(sums, ready, {.name = "batch norm", .index = index}));
                        }});
}

void average_statistics(const Ranks& ranks, engine::Executable& executable, Ema* ema) {
  if (ranks.size() == 1) return;
  constexpr dist::Phase kPhase{.name = "running statistics"};
  std::vector<float> statistics = statistics_of(executable, executable.state());
  ranks.average(statistics, kPhase);
  load_statistics(statistics, executable, executable.state());
  if (ema == nullptr) return;
  for_each_statistic(executable, [&](std::int32_t parameter) {
    std::vector<float> values = executable.store(parameter, ema->statistics());
    ranks.average(values, kPhase);
    executable.load(parameter, values, ema->statistics());
  });
}

std::vector<float> gather_statistics(const Ranks& ranks, const engine::Executable& executable, Ema* ema) {
  std::vector<float> all;
  if (ranks.size() == 1) return all;
  for (const auto& values : ranks.gather_values<float>(statistics_of(executable, ema), {.name = "statistics"})) {
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

bool scatter_statistics(const Ranks& ranks, std::vector<float> all, engine::Executable& executable, Ema* ema) {
  if (ranks.size() == 1) return false;
  constexpr dist::Phase kPhase{.name = "statistics"};
  const std::vector<float> own = statistics_of(executable, ema);
  const bool fits = !all.empty() && all.size() == own.size() * static_cast<std::size_t>(ranks.size());
  if (ranks.broadcast(ranks.is_first() && fits ? "yes" : "", kPhase).empty()) return false;
  all.resize(own.size() * static_cast<std::size_t>(ranks.size()));
  ranks.broadcast(all, kPhase);
  const auto mine = std::span<const float>(all).subspan(own.size() * ranks.rank(), own.size());
  const std::size_t plain = statistics_of(executable, executable.state()).size();
  load_statistics(mine.first(plain), executable, executable.state());
  if (ema != nullptr) load_statistics(mine.subspan(plain), executable, ema->statistics());
  return true;
}

std::uint64_t hash_of(const engine::Arena& arena) {
  // Processes the arena in parts, so that a check between updates needs little memory.
  std::vector<float> part(std::size_t{1} << 16U);
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (std::int64_t begin = 0; begin < arena.elements(); begin += std::ssize(part)) {
    part.resize(static_cast<std::size_t>(std::min(std::ssize(part), arena.elements() - begin)));
    arena.download(begin, part);
    for (const float value : part) hash = (hash ^ std::bit_cast<std::uint32_t>(value)) * 0x100000001B3U;
  }
  return hash;
}

std::vector<int> odd_ranks(std::span<const std::uint64_t> hashes) {
  std::map<std::uint64_t, std::size_t> counts;
  for (const std::uint64_t hash : hashes) ++counts[hash];
  std::vector<int> odd;
  for (std::size_t rank = 0; rank < hashes.size(); ++rank) {
    if (2 * counts[hashes[rank]] <= hashes.size()) odd.push_back(static_cast<int>(rank));
  }
  return odd;
}

void require_equal_weights(const Ranks& ranks, engine::Executable& executable, std::int64_t step) {
  if (ranks.size() == 1) return;
  const std::uint64_t own = hash_of(executable.parameters());
  std::vector<std::uint64_t> hashes;
  for (const auto& theirs : ranks.gather_values<std::uint64_t>({&own, 1}, {.name = "weight check"})) {
    hashes.push_back(theirs.front());
  }
  const std::vector<int> odd = odd_ranks(hashes);
  if (odd.empty()) return;
  std::string names;
  for (const int rank : odd) {
    names += fmt::format("{}rank {} ({})", names.empty() ? "" : ", ", rank, ranks.host(rank));
  }
  const bool is_nobody_right = odd.size() == hashes.size();
  throw CommError(error_text(
      "train.ranks", fmt::format("weights after step {}", step), "equal weights on all ranks",
      (is_nobody_right ? "different weights without a majority on " : "different weights on ") + names,
      is_nobody_right ? "roentgen bench nodes to test the hosts, then --resume" : "--resume without these hosts"));
}

std::vector<std::uint64_t> gather_on_first(const Ranks& ranks, std::span<const std::uint64_t> own, dist::Phase phase,
                                           std::size_t most_at_once) {
  std::size_t left = own.size();  // on the rank with the most values
  for (const auto& count : ranks.gather_values<std::size_t>({&left, 1}, phase)) left = std::max(left, count.front());
  const std::size_t piece = std::max<std::size_t>(1, most_at_once / static_cast<std::size_t>(ranks.size()));
  std::vector<std::uint64_t> all;
  for (; left > 0; left -= std::min(piece, left)) {
    const std::span<const std::uint64_t> now = own.first(std::min(piece, own.size()));
    own = own.subspan(now.size());
    for (const auto& theirs : ranks.gather_values<std::uint64_t>(now, phase)) {
      if (ranks.is_first()) all.insert(all.end(), theirs.begin(), theirs.end());
    }
  }
  return all;
}

void unite_hashes(const Ranks& ranks, std::span<const std::uint32_t> samples, data::PixelHashes& hashes,
                  std::size_t most_at_once) {
  if (ranks.size() == 1) return;
  const std::size_t piece = std::max<std::size_t>(1, most_at_once / static_cast<std::size_t>(ranks.size()));
  std::vector<std::uint64_t> own;
  for (; !samples.empty(); samples = samples.subspan(own.size())) {
    own.resize(std::min(piece, samples.size()));
    const std::span<const std::uint32_t> now = samples.first(own.size());
    std::ranges::transform(now, own.begin(), [&](std::uint32_t sample) { return hashes.get(sample); });
    for (const auto& theirs : ranks.gather_values<std::uint64_t>(own, {.name = "pixel hashes"})) {
      RG_ASSERT(theirs.size() == own.size());
      for (std::size_t i = 0; i < now.size(); ++i) {
        if (theirs[i] != 0) hashes.set(now[i], theirs[i]);
      }
    }
  }
}

std::optional<Difference> find_difference(const Ranks& ranks, const std::string& own, dist::Phase phase) {
  const std::vector<std::string> hashes = ranks.gather(io::sha256_hex(own), phase);
  const auto other = std::ranges::find_if(hashes, [&](const std::string& hash) { return hash != hashes[0]; });
  if (other == hashes.end()) return std::nullopt;
  const int rank = static_cast<int>(other - hashes.begin());
  return Difference{.rank = rank, .first = ranks.broadcast(own, phase), .other = ranks.broadcast(own, phase, rank)};
}

void require_same_text(const Ranks& ranks, std::string_view what, const std::string& text, std::string_view remedy) {
  const auto difference = find_difference(ranks, text, {.name = "comparing jobs"});
  if (!difference) return;
  throw ConfigError(error_text("train.ranks", fmt::format("{} on rank {}", what, difference->rank),
                               difference->first + ", as on rank 0", difference->other, remedy));
}

}  // namespace roentgen::train
