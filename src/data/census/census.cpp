// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/census/census.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <set>
#include <thread>

#include "core/thread_annotations.h"
#include "data/census/image_facts.h"
#include "data/source/dataset.h"
#include "runtime/cores.h"

namespace roentgen::data {
namespace {

/// Calls `work` for each index below `count` on several threads, each with its own reader. Rethrows the first exception
/// after all threads have stopped.
template <typename Work>
void for_each_image(std::size_t count, int threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failed;
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i) {
      workers.emplace_back([&] {
        try {
          FactsReader reader;
          for (std::size_t at = next.fetch_add(1); at < count; at = next.fetch_add(1)) work(reader, at);
        } catch (...) {
          const std::scoped_lock lock(mutex);
          if (!failed) failed = std::current_exception();
          next.store(count);
        }
      });
    }
  }
  if (failed) std::rethrow_exception(failed);
}

/// Reports progress once every few images.
class Progress {
 public:
  explicit Progress(const std::function<void(std::int64_t)>& tell) : tell_(tell) {}
  void one() {
    constexpr std::int64_t kEvery = 256;
    if (!tell_) return;
    const std::scoped_lock lock(mutex_);
    if (++done_ % kEvery == 0) tell_(done_);
  }

 private:
  const std::function<void(std::int64_t)>& tell_;
  std::mutex mutex_;
  std::int64_t done_ RG_GUARDED_BY(mutex_) = 0;
};

using Groups = std::map<ImageKey, std::vector<std::uint32_t>>;

Groups groups_of(const std::vector<ImageFacts>& facts) {
  Groups groups;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    if (facts[i].key) groups[*facts[i].key].push_back(static_cast<std::uint32_t>(i));
  }
  std::erase_if(groups, [](const auto& group) { return group.second.size() < 2; });
  return groups;
}

/// Replaces keys of file beginnings by keys of whole files if several are equal, because such files may still differ.
void settle_keys(const Dataset& dataset, int threads, std::vector<ImageFacts>& facts) {
  std::vector<std::uint32_t> unsettled;
  for (const auto& [key, samples] : groups_of(facts)) {
    for (const std::uint32_t sample : samples) {
      if (!facts[sample].is_whole) unsettled.push_back(sample);
    }
  }
  for_each_image(unsettled.size(), threads, [&](FactsReader& reader, std::size_t at) {
    facts[unsettled[at]].key = reader.whole_key(dataset.samples[unsettled[at]]);
  });
}

SameImages count_same(const Dataset& dataset, const Groups& groups) {
  SameImages same;
  for (const auto& [key, samples] : groups) {
    std::set<Split> splits;
    std::set<std::string_view> patients;
    for (const std::uint32_t index : samples) {
      const Sample& sample = dataset.samples[index];
      if (sample.split != Split::None) splits.insert(sample.split);
      if (!sample.patient.empty()) patients.insert(sample.patient);
    }
    ++same.groups;
    same.images += static_cast<std::int64_t>(samples.size());
    if (splits.size() > 1) ++same.across_splits;
    if (patients.size() > 1) ++same.across_patients;
  }
  return same;
}

void count_range(const ImageFacts& facts, GrayRange& range) {
  const bool is_first = range.white == 0;
  range.lowest = is_first ? facts.lowest : std::min(range.lowest, facts.lowest);
  range.highest = std::max(range.highest, facts.highest);
  range.white = std::max(range.white, facts.white);
  if (facts.highest - facts.lowest < facts.white / 4) ++range.below_a_quarter;
}

}  // namespace

Census take_census(const Dataset& dataset, const CensusOptions& options) {
  const int threads = options.threads > 0 ? options.threads : runtime::available_cores();
  std::vector<ImageFacts> facts(dataset.samples.size());
  Progress progress(options.on_progress);
  for_each_image(facts.size(), threads, [&](FactsReader& reader, std::size_t at) {
    facts[at] = reader.read(dataset.samples[at], options.depth);
    progress.one();
  });
  settle_keys(dataset, threads, facts);
  Census census{.depth = options.depth, .images = static_cast<std::int64_t>(facts.size())};
  for (std::size_t i = 0; i < facts.size(); ++i) {
    const ImageFacts& one = facts[i];
    census.bytes += one.bytes;
    if (!one.broken.empty()) {
      census.broken.push_back({.sample = static_cast<std::uint32_t>(i), .reason = one.broken});
      continue;
    }
    ++census.forms[one.form];
    ++census.sizes[{one.width_px, one.height_px}];
    if (one.white > 0) count_range(one, census.ranges[one.form]);
  }
  census.duplicates = count_same(dataset, groups_of(facts));
  return census;
}

}  // namespace roentgen::data
