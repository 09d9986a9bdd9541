// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/node_cache.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "core/log.h"
#include "core/plural.h"
#include "data/source/dataset.h"
#include "data/stage/disk_cache.h"
#include "data/stage/image_cache.h"
#include "data/stage/shared_cache.h"
#include "train/ranks.h"

namespace roentgen::train {
namespace {

constexpr dist::Phase kPhase{.name = "sharing the cache"};

using Shared = std::unique_ptr<data::SharedCache>;

/// Ranks of one host, in order.
std::vector<int> ranks_here(const Ranks& ranks) {
  std::vector<int> here;
  const std::string host = ranks.host(ranks.rank());
  for (int rank = 0; rank < ranks.size(); ++rank) {
    if (ranks.host(rank) == host) here.push_back(rank);
  }
  return here;
}

}  // namespace

std::unique_ptr<data::ImageStore> make_memory_cache(const Ranks& ranks, const data::Dataset& dataset,
                                                    const data::Preprocess& preprocess, std::uint64_t share_bytes) {
  const auto make_own = [&] { return std::make_unique<data::ImageCache>(std::ssize(dataset.samples), share_bytes); };
  if (ranks.size() == 1) return make_own();
  const std::vector<int> here = ranks_here(ranks);
  const bool is_shared = here.size() > 1;
  const bool is_first = here.front() == ranks.rank();

  // The limit is the same for all ranks of a host: the sum of their shares.
  std::uint64_t limit_bytes = 0;
  const std::vector<std::uint64_t> own_share{share_bytes};
  const auto shares = ranks.gather_values<std::uint64_t>(own_share, kPhase);
  for (const int rank : here) limit_bytes += shares[static_cast<std::size_t>(rank)].front();
  const std::string key = is_shared ? data::cache_key(dataset, {.folder = {}, .preprocess = preprocess}) : "";
  const data::CacheFileForm form{.key = key, .samples = std::ssize(dataset.samples), .most_bytes = limit_bytes};

  Shared cache;
  std::string why;  // why this rank cannot use the memory
  const auto take = [&](Result<Shared> made) {
    if (made) {
      cache = std::move(made).value();
    } else {
      why = made.error();
    }
  };
  if (is_shared && is_first) take(data::SharedCache::create(form));
  const auto addresses = ranks.gather(cache ? cache->location() : "", kPhase);
  const std::string& address = addresses[static_cast<std::size_t>(here.front())];
  if (is_shared && !is_first && !address.empty()) take(data::SharedCache::attach(address, form));
  // The first rank of the host keeps the memory open until all ranks have attached.
  const auto reasons = ranks.gather(is_shared && !cache && why.empty() ? "no memory to share" : why, kPhase);
  if (!is_shared) return make_own();
  for (const int rank : here) {
    const std::string& reason = reasons[static_cast<std::size_t>(rank)];
    if (reason.empty()) continue;
    if (is_first) log::warning(fmt::format("each rank caches decoded images for itself: {}", reason));
    return make_own();
  }
  if (is_first) {
    log::debug(fmt::format("cache of decoded images: at most {} MiB, shared by {}", limit_bytes >> 20U,
                           ranks_text(std::ssize(here))));
  }
  return cache;
}

}  // namespace roentgen::train
