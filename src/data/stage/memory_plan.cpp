// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/memory_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "core/error.h"
#include "core/plural.h"
#include "data/codec/codec.h"
#include "data/stage/pool_plan.h"
#include "data/stage/sample_reader.h"

namespace roentgen::data {
namespace {

constexpr std::uint64_t kNameBytes = 32;
// Number of file sizes that a reader needs, because its memory grows by doubling.
constexpr std::uint64_t kFilesOfReader = 3;

std::string mebibytes(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1024.0 * 1024.0));
}

std::uint64_t product(std::uint64_t count, std::uint64_t bytes) {
  const bool is_over = bytes > 0 && count > std::numeric_limits<std::uint64_t>::max() / 2 / bytes;
  return is_over ? std::numeric_limits<std::uint64_t>::max() / 2 : count * bytes;
}

/// Walks through the stages and tracks the bytes of one element.
class Walk {
 public:
  Walk(const Pipeline& pipeline, const MemoryNeeds& needs) : needs_(needs) {
    Carries carries = Carries::Nothing;
    for (const Stage& stage : pipeline.stages()) {
      carries = gives(stage, carries);
      if (carries != Carries::Batches) std::visit([&](const auto& one) { look_at(one, text_of(stage)); }, stage);
    }
    const PoolPlan pool = plan_pool(
        pipeline, {.workers = needs.workers, .readers = needs.readers, .slots = static_cast<std::size_t>(needs.slots)});
    add(counted(pool.workers, "decoding thread"), product(static_cast<std::uint64_t>(pool.workers), thread()));
    add(counted(pool.readers, "file") + " read ahead",
        product(static_cast<std::uint64_t>(pool.readers), kFilesOfReader * needs_.sample.file));
    add(counted(needs.slots, "batch", "batches"),
        product(static_cast<std::uint64_t>(needs.slots) * static_cast<std::uint64_t>(needs.batch), needs.row_bytes));
  }
  [[nodiscard]] std::vector<MemoryUse> uses() && { return std::move(uses_); }

 private:
  void add(std::string what, std::uint64_t bytes) {
    if (bytes > 0) uses_.push_back({.what = std::move(what), .bytes = bytes});
  }
  void hold(const std::string& what, std::int64_t elements) {
    if (cargo_ > 0) add(what, product(static_cast<std::uint64_t>(elements), cargo_ + kNameBytes));
  }
  [[nodiscard]] std::uint64_t thread() const { return 3 * (needs_.sample.file + needs_.sample.decoded); }
  [[nodiscard]] std::int64_t of_all(std::int64_t count) const {
    return count == 0 ? needs_.samples : std::min(count, needs_.samples);
  }

  void look_at(const InterleaveStage& stage, const std::string& what) {
    cargo_ = needs_.sample.file;
    const auto threads = static_cast<std::uint64_t>(stage.parallel);
    add(what, product(threads, 3 * needs_.sample.file) + product(threads, cargo_));
  }
  void look_at(const MapStage& stage, const std::string& what) {
    cargo_ = needs_.row_bytes;
    const auto threads = static_cast<std::uint64_t>(stage.parallel);
    add(what, product(threads, thread()) + product(threads, cargo_));
  }
  void look_at(const PrefetchStage& stage, const std::string& what) { hold(what, stage.count == 0 ? 2 : stage.count); }
  void look_at(const ShuffleStage& stage, const std::string& what) { hold(what, of_all(stage.buffer)); }
  void look_at(const CacheStage& stage, const std::string& what) {
    if (stage.where == CachePlace::Disk || cargo_ == 0) return;
    add(what, std::min(product(static_cast<std::uint64_t>(needs_.samples), cargo_),
                       static_cast<std::uint64_t>(stage.limit_mb) << 20U));
  }
  template <typename Other>
  void look_at(const Other& /*stage*/, const std::string& /*what*/) {}

  const MemoryNeeds& needs_;
  /// Bytes of an element in addition to its name.
  std::uint64_t cargo_ = 0;
  std::vector<MemoryUse> uses_;
};

}  // namespace

SampleBytes largest_sample(const Dataset& dataset, const std::vector<std::uint32_t>& samples, int channels,
                           int looked_at) {
  SampleBytes largest;
  SampleReader reader;
  const std::size_t count = std::min(samples.size(), static_cast<std::size_t>(std::max(looked_at, 1)));
  for (std::size_t i = 0; i < count; ++i) {
    const Sample& sample = dataset.samples.at(samples[i * samples.size() / count]);
    const auto bytes = reader.read(sample);
    if (!bytes) continue;
    largest.file = std::max<std::uint64_t>(largest.file, bytes.value().size());
    if (sample.stored && sample.stored->raw) {
      largest.decoded = std::max<std::uint64_t>(largest.decoded, sample.stored->raw->bytes());
      continue;
    }
    const auto image = reader.unpack(sample, bytes.value());
    if (!image) continue;
    const auto info = read_info(image.value(), sample.id);
    if (!info) continue;
    const ImageLayout layout{.width_px = info.value().width_px,
                             .height_px = info.value().height_px,
                             .channels = std::min(info.value().channels, channels),
                             .bits = info.value().bits <= 8 ? 8 : 16};
    largest.decoded = std::max<std::uint64_t>(largest.decoded, layout.bytes());
  }
  return largest;
}

int readers_within(std::uint64_t left_bytes, const SampleBytes& sample) {
  constexpr std::uint64_t kMost = 32, kShare = 8;
  return static_cast<int>(
      std::min(kMost, left_bytes / kShare / std::max<std::uint64_t>(kFilesOfReader * sample.file, 1)));
}

std::vector<MemoryUse> memory_uses(const Pipeline& pipeline, const MemoryNeeds& needs) {
  return Walk(pipeline, needs).uses();
}

std::uint64_t total_bytes(const std::vector<MemoryUse>& uses) {
  std::uint64_t sum = 0;
  for (const MemoryUse& use : uses) sum += use.bytes;
  return sum;
}

std::string text_of(std::vector<MemoryUse> uses) {
  std::ranges::stable_sort(uses, std::greater<>(), &MemoryUse::bytes);
  std::string text;
  for (const MemoryUse& use : uses) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", use.what, mebibytes(use.bytes));
  }
  return text;
}

std::uint64_t require_fits(const std::vector<MemoryUse>& uses, std::uint64_t budget_bytes) {
  const std::uint64_t total = total_bytes(uses);
  if (total <= budget_bytes) return budget_bytes - total;
  throw ConfigError(error_text(
      "data.memory", "memory of the input pipeline", fmt::format("at most {}", mebibytes(budget_bytes)),
      fmt::format("{}: {}", mebibytes(total), text_of(uses)),
      "a smaller shuffle buffer or train.batch, fewer train.workers or train.slots, or a larger --memory-budget"));
}

std::uint64_t input_budget_bytes(std::int64_t asked_mib, std::uint64_t available_bytes, int local_ranks) {
  if (asked_mib > 0) return static_cast<std::uint64_t>(asked_mib) << 20U;
  constexpr std::uint64_t kWithoutEnd = std::numeric_limits<std::uint64_t>::max() / 4;
  if (available_bytes == 0) return kWithoutEnd;
  return available_bytes / 2 / static_cast<std::uint64_t>(std::max(1, local_ranks));
}

std::string MemoryShares::text() const {
  return fmt::format("input memory: {:.1f} of {}: {}", static_cast<double>(total_bytes(uses)) / 1048576.0,
                     mebibytes(budget_bytes), text_of(uses));
}

MemoryShares share_memory(const Pipeline& pipeline, MemoryWishes wishes, std::uint64_t budget_bytes) {
  MemoryShares shares{.budget_bytes = budget_bytes};
  wishes.needs.readers = 0;
  for (;; --wishes.needs.slots) {
    shares.uses = memory_uses(pipeline, wishes.needs);
    shares.uses.insert(shares.uses.end(), wishes.others.begin(), wishes.others.end());
    if (wishes.needs.slots <= wishes.fewest_slots || total_bytes(shares.uses) <= budget_bytes) break;
  }
  std::uint64_t left = require_fits(shares.uses, budget_bytes);
  shares.slots = wishes.needs.slots;
  const PoolLimits limits{.workers = wishes.needs.workers, .slots = static_cast<std::size_t>(shares.slots)};
  shares.readers = plan_pool(pipeline, limits).is_read_tuned ? readers_within(left, wishes.needs.sample) : 0;
  if (shares.readers > 0) {
    const auto files = static_cast<std::uint64_t>(shares.readers) * (wishes.others.empty() ? 1 : 2);
    shares.uses.push_back({.what = fmt::format("read-ahead (max {} files)", shares.readers),
                           .bytes = product(files, kFilesOfReader * wishes.needs.sample.file)});
    left -= shares.uses.back().bytes;
  }
  if (wishes.cache_bytes > 0) {
    shares.cache_bytes = std::min(left, wishes.cache_bytes / static_cast<std::uint64_t>(wishes.cache_sharers));
    const char* const what = wishes.cache_sharers > 1 ? "part of the node's cache of decoded images (limit)"
                                                      : "cache of decoded images (limit)";
    shares.uses.push_back({.what = what, .bytes = shares.cache_bytes});
  }
  return shares;
}

}  // namespace roentgen::data
