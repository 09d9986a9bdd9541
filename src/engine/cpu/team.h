// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The OpenMP team our kernels run in: the same one oneDNN uses.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace roentgen::engine::cpu {

/// [begin, end) of `count` items for one member of a team.
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

/// Runs body(begin, end) on pieces of [0, count), one piece a thread, cut at multiples of `grain`. The result must not
/// depend on where it is cut.
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

/// Three phases over a grid of channel blocks and images: first(block, image) for all images, then middle(block), then
/// second(block, image). A block's data stays in cache between the phases where there are enough blocks to share out;
/// else the images of all blocks are shared out with barriers between the phases. Both orders compute the same bits,
/// as long as first() writes per (block, image) and middle() adds up in image order.
template <typename First, typename Middle, typename Second>
void three_phases(int threads, std::int64_t blocks, std::int64_t images, const First& first, const Middle& middle,
                  const Second& second) {
  const bool is_by_block = blocks % threads == 0 || blocks >= 4 * threads;
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
      for (std::int64_t i = cells.begin; i < cells.end; ++i) first(i / images, i % images);
#pragma omp barrier
      const Share share = share_of(blocks, member, team);
      for (std::int64_t block = share.begin; block < share.end; ++block) middle(block);
#pragma omp barrier
      for (std::int64_t i = cells.begin; i < cells.end; ++i) second(i / images, i % images);
    }
  }
}

}  // namespace roentgen::engine::cpu
