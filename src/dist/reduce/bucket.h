// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ReduceBucket: one bucket on its way through a schedule, cut into segments. For Reducer alone.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "dist/communicator.h"
#include "dist/reduce/schedule.h"
#include "dist/reduce/wire.h"

namespace roentgen::dist {

/// State shared by all buckets of a Reducer.
struct ReducePlan {
  Communicator& group;
  Schedule schedule{};
  Wire wire = Wire::F32;
  /// Elements.
  std::size_t segment = 1;
  /// Segments under way at once.
  std::size_t window = 1;
  float mean_factor = 1.0F;

  [[nodiscard]] Wire wire_of(const Round& round) const { return round.is_exact ? Wire::F32 : wire; }
};

/// A segment on its way through the rounds.
class ReduceSegment {
 public:
  /// Starts the first round. `data` is averaged in place; all messages have this tag.
  void begin(const ReducePlan& plan, std::span<float> data, Phase phase, int tag);
  /// The round under way; as many as there are: all done.
  [[nodiscard]] std::size_t round() const { return round_; }
  /// Ends the round when all has arrived, and starts the next. Returns whether it did.
  bool step(const ReducePlan& plan);
  /// Lets messages under way go without a word.
  void forget() noexcept;

 private:
  void lay_out(const ReducePlan& plan, const Round& round);
  void start_round(const ReducePlan& plan);
  void send(const ReducePlan& plan, const Round& round, std::size_t at);
  void use(const ReducePlan& plan, const Round& round);
  [[nodiscard]] std::span<std::byte> staged(std::size_t place);

  std::span<float> data_;
  Phase phase_{};
  int tag_ = 0;
  std::size_t round_ = 0;
  /// Buffer for messages that are not sent from or received into a bucket.
  std::vector<std::byte> staging_;
  /// Offset and bytes in `staging_` of every receive, then of every send.
  std::vector<std::pair<std::size_t, std::size_t>> places_;
  std::vector<const std::byte*> sources_;
  std::vector<Pending> pending_;
  std::size_t waiting_for_ = 0;
};

/// A bucket in flight. Each place in the window has a tag of its own. Segments follow each other in it, each with its
/// rounds in order, on all ranks; this matches messages to each other.
class ReduceBucket final : public Composite {
 public:
  /// The most segments under way at once.
  static constexpr std::size_t kWindow = kTags;

  ReduceBucket() = default;
  ReduceBucket(const ReduceBucket&) = delete;
  ReduceBucket& operator=(const ReduceBucket&) = delete;
  ~ReduceBucket() override;

  /// Fills a free bucket; `plan` and `data` must live until it is free again.
  void fill(const ReducePlan& plan, std::span<float> data, Phase phase);
  [[nodiscard]] bool is_free() const { return is_free_; }
  [[nodiscard]] bool advance(int tag) override;

 private:
  bool move(std::size_t count, int tag);

  const ReducePlan* plan_ = nullptr;
  std::span<float> data_;
  Phase phase_{};
  /// The first segment that is not done; the first that has not begun.
  std::size_t first_ = 0, begun_ = 0;
  bool is_free_ = true;
  std::array<ReduceSegment, kWindow> window_;
};

}  // namespace roentgen::dist
