// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The OpenMP team in which our kernels run. oneDNN uses the same team.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace roentgen::engine::cpu {

/// Range [begin, end) of `count` items that one member of a team processes.
struct Share {
  std::int64_t begin;
  std::int64_t end;
};
[[nodiscard]] inline Share share_of(std::int64_t count, int member, int team) {
  const std::int64_t each = count / team;
  const std::int64_t rest = count % team;
  const std::int64_t begin = each * member + std::min<std::int64_t>(member, rest);
  return {begin, begin + each + (member < rest ? 1 : 0)};
}

/// Member of the team whose share contains item `item`.
[[nodiscard]] inline int member_with(std::int64_t item, std::int64_t count, int team) {
  const std::int64_t each = count / team, rest = count % team;
  // The first `rest` members have one more item. For them, the first term is correct and larger; for the other members,
  // the second term is.
  return static_cast<int>(std::max(item / (each + 1), each == 0 ? 0 : (item - rest) / each));
}

/// Members of a team that work on the same items, separately from the other members. A processor may consist of several
/// chips. Data that one thread writes and another reads may then be in another chip's cache, several times farther away
/// than memory. Every member of the team creates it, inside a parallel region; neighbouring members form a sub-team.
class SubTeam {
 public:
  /// Returns the sub-team of the calling member. The team is divided into `wanted` sub-teams, but at most one per
  /// member.
  [[nodiscard]] static SubTeam of(int wanted) {
    const int team = omp_get_num_threads(), member = omp_get_thread_num();
    SubTeam made;
    made.count_ = std::clamp(wanted, 1, team);
    while (share_of(team, made.index_, made.count_).end <= member) ++made.index_;
    const Share members = share_of(team, made.index_, made.count_);
    made.rank_ = member - static_cast<int>(members.begin);
    made.size_ = static_cast<int>(members.end - members.begin);
    made.is_alone_ = team == made.count_;
    return made;
  }
  /// Index of the sub-team, index of the member in it, and number of its members.
  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// True if item i is the last of this sub-team's share of [0, count).
  [[nodiscard]] bool is_last(std::int64_t count, std::int64_t i) const {
    return i + 1 == share_of(count, index_, count_).end;
  }
  /// Calls body(i) for the calling member's share of [0, count).
  template <typename Body>
  void for_share(std::int64_t count, const Body& body) const {
    const Share share = share_of(count, rank_, size_);
    for (std::int64_t i = share.begin; i < share.end; ++i) body(i);
  }
  /// Calls the phases in order for each item of this sub-team's share of [0, count). A phase begins when the whole
  /// sub-team has finished the previous one. Every member of the team must call it with the same count.
  template <typename... Phases>
  void for_items(std::int64_t count, const Phases&... phases) const {
    const Share share = share_of(count, index_, count_);
    const std::int64_t rounds = share_of(count, 0, count_).end;
    const auto run = [&](const auto& phase, std::int64_t item) {
      if (item < share.end) phase(item);
      wait();
    };
    for (std::int64_t round = 0; round < rounds; ++round) (run(phases, share.begin + round), ...);
  }
  /// Barrier of the sub-team. Every member of the team must call it. It waits for the whole team, since OpenMP has no
  /// smaller barrier.
  void wait() const {
    if (is_alone_) return;
#pragma omp barrier
  }

 private:
  int index_ = 0, count_ = 1, rank_ = 0, size_ = 1;
  bool is_alone_ = false;
};

/// Largest number of equal sub-teams that `threads` threads can form, at most `most`.
[[nodiscard]] inline int even_crews(int threads, std::int64_t most) {
  int crews = static_cast<int>(std::clamp<std::int64_t>(most, 1, threads));
  while (threads % crews != 0) --crews;
  return crews;
}

/// Runs body(begin, end) on pieces of [0, count), one piece per thread, cut at multiples of `grain`. The result must
/// not depend on the cuts.
template <typename Body>
void parallel_ranges(int threads, std::int64_t count, std::int64_t grain, const Body& body) {
  const std::int64_t grains = (count + grain - 1) / grain;
  const int team = static_cast<int>(std::clamp<std::int64_t>(grains, 1, threads));
#pragma omp parallel num_threads(team)
  {
    const Share share = share_of(grains, omp_get_thread_num(), omp_get_num_threads());
    if (share.begin < share.end) body(share.begin * grain, std::min(share.end * grain, count));
  }
}

/// Grid of three_phases(): channel blocks of images, each with `cell_bytes` bytes in the largest tensor.
struct PhaseGrid {
  std::int64_t blocks = 0;
  std::int64_t images = 0;
  std::int64_t cell_bytes = 0;

  /// True if each thread processes whole blocks of all images: the second read of a block then hits its cache.
  /// Otherwise the images are divided as in our neighbouring convolutions, so that less data moves between threads.
  /// Dividing images is better with too few blocks, or if several threads have at most 4 MiB of the tensor each. 4 MiB
  /// stay in a last-level cache that a few threads share (measured on an AMD Zen 4, docs/design/engine_cpu.md).
  [[nodiscard]] bool is_by_block(int threads) const {
    constexpr std::int64_t kKept_bytes = std::int64_t{4} << 20;
    const bool is_kept = threads > 1 && blocks * images * cell_bytes <= threads * kKept_bytes;
    return !is_kept && (blocks % threads == 0 || blocks >= 4 * threads);
  }
};

/// Runs three phases over a grid: first(block, image) for all images, then middle(block), then second(block, image). If
/// the images are divided, there are barriers between the phases. Dividing by blocks or by images gives the same bits
/// if first() writes per (block, image) and middle() adds in the order of images.
template <typename First, typename Middle, typename Second>
void three_phases(int threads, const PhaseGrid& grid, const First& first, const Middle& middle, const Second& second) {
  const std::int64_t blocks = grid.blocks, images = grid.images;
  const bool is_by_block = grid.is_by_block(threads);
#pragma omp parallel num_threads(threads)
  {
    const int member = omp_get_thread_num();
    const int team = omp_get_num_threads();
    if (is_by_block) {
      const Share share = share_of(blocks, member, team);
      for (std::int64_t block = share.begin; block < share.end; ++block) {
        for (std::int64_t image = 0; image < images; ++image) first(block, image);
        middle(block);
        for (std::int64_t image = 0; image < images; ++image) second(block, image);
      }
    } else {
      const Share cells = share_of(blocks * images, member, team);
      for (std::int64_t i = cells.begin; i < cells.end; ++i) first(i % blocks, i / blocks);
#pragma omp barrier
      const Share share = share_of(blocks, member, team);
      for (std::int64_t block = share.begin; block < share.end; ++block) middle(block);
#pragma omp barrier
      for (std::int64_t i = cells.begin; i < cells.end; ++i) second(i % blocks, i / blocks);
    }
  }
}

}  // namespace roentgen::engine::cpu
