// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// ReduceBucket: averages one gradient bucket, segment by segment, by the rounds of a Schedule. Only for Reducer.
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

/// Settings and state shared by all buckets of a Reducer.
struct ReducePlan {
  Communicator& group;
  Schedule schedule{};
  Wire wire = Wire::F32;
  /// Number of elements in a segment.
  std::size_t segment = 1;
  /// Largest number of segments in flight at once.
  std::size_t window = 1;
  float mean_factor = 1.0F;

  [[nodiscard]] Wire wire_of(const Round& round) const { return round.is_exact ? Wire::F32 : wire; }
};

/// Segment of a bucket that is being averaged, round by round.
class ReduceSegment {
 public:
  /// Starts the first round. `data` is averaged in place. All messages of the segment have this tag.
  void begin(const ReducePlan& plan, std::span<float> data, Phase phase, int tag);
  /// Index of the current round; the number of rounds if all are done.
  [[nodiscard]] std::size_t round() const { return round_; }
  /// Ends the current round and starts the next if all messages have arrived. Returns false if some are missing.
  bool step(const ReducePlan& plan);
  /// Abandons the messages in flight without an error.
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
  /// Buffer for messages that cannot be sent from or received into the bucket directly.
  std::vector<std::byte> staging_;
  /// Offset and size in `staging_` for each receive, followed by those for each send.
  std::vector<std::pair<std::size_t, std::size_t>> places_;
  std::vector<const std::byte*> sources_;
  std::vector<Pending> pending_;
  std::size_t waiting_for_ = 0;
};

/// Bucket of gradients that is being averaged. A window of its segments is in flight at once, and each slot of the
/// window has its own message tag. In a slot, all ranks process the same segments and rounds in the same order, so
/// messages match.
class ReduceBucket final : public Composite {
 public:
  /// Largest number of segments in flight at once.
  static constexpr std::size_t kWindow = kTags;

  ReduceBucket() = default;
  ReduceBucket(const ReduceBucket&) = delete;
  ReduceBucket& operator=(const ReduceBucket&) = delete;
  ~ReduceBucket() override;

  /// Starts to average `data` in a free bucket. `plan` and `data` must live until the bucket is free again.
  void fill(const ReducePlan& plan, std::span<float> data, Phase phase);
  [[nodiscard]] bool is_free() const { return is_free_; }
  [[nodiscard]] bool advance(int tag) override;

 private:
  bool move(std::size_t count, int tag);

  const ReducePlan* plan_ = nullptr;
  std::span<float> data_;
  Phase phase_{};
  /// Index of the first segment that is not done, and of the first that has not begun.
  std::size_t first_ = 0, begun_ = 0;
  bool is_free_ = true;
  std::array<ReduceSegment, kWindow> window_;
};

}  // namespace roentgen::dist
