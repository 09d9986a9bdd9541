// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// For tests: all ranks of a group with their reducers in one process, and vectors to average.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "dist/mailbox_testing.h"
#include "dist/reduce/reducer.h"

namespace roentgen::dist {

/// One vector per rank.
using Vectors = std::vector<std::vector<float>>;

/// Group of ranks with their reducers.
struct Group {
  Group(int size, const ReduceOptions& options, unsigned seed) : boxes(size), random(seed) {
    for (int rank = 0; rank < size; ++rank) {
      ranks.push_back(std::make_unique<MailboxCommunicator>(boxes, rank, random(), options.hosts));
      reducers.push_back(std::make_unique<Reducer>(*ranks.back(), options));
    }
  }
  /// Averages buckets in place, where each element holds one vector per rank. Several buckets run at once.
  void average(std::vector<Vectors*> buckets) {
    std::vector<Pending> pending;
    for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
      for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
        pending.push_back(reducers[rank]->all_reduce_mean((*buckets[bucket])[rank],
                                                          {"gradient bucket", static_cast<std::int64_t>(bucket)}));
      }
    }
    while (!pending.empty()) {
      const std::size_t at = random() % pending.size();
      if (!pending[at].is_done()) continue;
      std::swap(pending[at], pending.back());
      pending.pop_back();
    }
  }

  Mailboxes boxes;
  std::minstd_rand random;
  std::vector<std::unique_ptr<MailboxCommunicator>> ranks;
  std::vector<std::unique_ptr<Reducer>> reducers;
};

/// Returns a random vector for each rank, drawn from a seed. Magnitudes differ by up to 2^20, so that another order of
/// summation gives other bits. Sums over nine ranks are below the largest f16.
inline Vectors random_vectors(int size, std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Vectors all(static_cast<std::size_t>(size), std::vector<float>(count));
  for (auto& each : all) {
    for (float& value : each)
      value = std::ldexp(static_cast<float>(random() % 20'001) - 10'000.0F, static_cast<int>(random() % 20) - 20);
  }
  return all;
}

/// Hosts of so many ranks: all on one, on two, and on three in turn.
inline std::vector<std::vector<int>> host_maps(int size) {
  std::vector<std::vector<int>> maps(3);
  for (int rank = 0; rank < size; ++rank) {
    maps[0].push_back(0);
    maps[1].push_back(rank < size / 2 ? 4 : 2);
    maps[2].push_back(rank % 3);
  }
  return maps;
}

}  // namespace roentgen::dist
