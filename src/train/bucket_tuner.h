// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// BucketTuner: chooses the size of gradient buckets in the first updates of a run (train.bucket_mb = "auto").
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace roentgen::train {

class Ranks;
class Stepper;
struct RunState;
struct StepRecord;
struct TrainRecipe;

/// Value of TrainRecipe::bucket_mb that lets the run choose the size.
inline constexpr double kAutoBucket = 0.0;
/// Size of a bucket in MiB where nothing chooses another one.
inline constexpr double kUsualBucket_mb = 4.0;
/// Size in MiB of the executable's buckets for kAutoBucket: the smallest size that is tried.
inline constexpr double kLeastBucket_mb = 1.0;

/// Number of bytes of a size in MiB.
[[nodiscard]] constexpr std::size_t bucket_bytes(double mb) { return static_cast<std::size_t>(mb * 1048576.0); }

/// Returns the sizes in MiB to try, ascending: the usual one, and those from 1 to 32 that give other numbers of
/// buckets.
[[nodiscard]] std::vector<double> bucket_sizes_to_try(const std::vector<engine::Bucket>& buckets);

/// Returns the size with the shortest time. Keeps the usual size unless another is more than 2% faster, because smaller
/// differences are noise.
/// @param sizes in MiB; one of them is the usual size
/// @param seconds time of an update with each size
[[nodiscard]] double best_bucket_size(std::span<const double> sizes, std::span<const float> seconds);

/// Times updates with several sizes of buckets and chooses one. After 3 updates of warm-up, it takes the sizes in turn,
/// one per update, 5 times. A size has the time of its shortest update, without the wait for input, averaged over
/// ranks. So all ranks choose the same size. One thread.
class BucketTrials {
 public:
  /// @param sizes sizes to try, from bucket_sizes_to_try()
  BucketTrials(const Ranks& ranks, std::vector<double> sizes);

  /// Size in MiB of the next update.
  [[nodiscard]] double size_mb() const;
  /// Adds the times of an update that used size_mb(). All ranks call it after each update, until it has returned a
  /// size. Throws CommError like Ranks::average().
  /// @return the chosen size in MiB; nullopt while sizes are tried
  [[nodiscard]] std::optional<double> add(const StepRecord& step);
  /// Returns a log line for a run that ends before add() has returned a size; empty if it made no update.
  [[nodiscard]] std::string unfinished_text() const;
  /// Time in seconds of an update with the chosen size and with the usual one, once add() has returned a size.
  [[nodiscard]] float chosen_s() const { return chosen_s_; }
  [[nodiscard]] float usual_s() const { return usual_s_; }

 private:
  const Ranks& ranks_;
  const std::vector<double> sizes_;
  /// Shortest time of each size in seconds.
  std::vector<float> seconds_;
  std::int64_t updates_ = 0;
  float chosen_s_ = 0.0F;
  float usual_s_ = 0.0F;
};

/// Runs BucketTrials in the first updates of a run whose recipe asks for it. It does so only where the bits of weights
/// do not depend on the size (Stepper::has_free_bucket_size()). One thread; all ranks act alike.
class BucketTuner {
 public:
  /// Logs why it keeps the usual size if it does, on rank 0. All parts must outlive this object.
  /// @param state holds the chosen size; if it has one, nothing is tried
  BucketTuner(const TrainRecipe& recipe, const Ranks& ranks, const engine::Executable& executable, Stepper& stepper,
              RunState& state);
  /// Must be called after every update, on all ranks. Sets the size of the next update, and at the end the chosen size,
  /// which rank 0 logs. Throws like BucketTrials::add().
  void look(const StepRecord& step);
  /// Must be called at the end of the run. Logs on rank 0 if sizes were still being tried.
  void finish() const;

 private:
  const Ranks& ranks_;
  Stepper& stepper_;
  RunState& state_;
  /// Null: nothing is left to try.
  std::unique_ptr<BucketTrials> trials_;
};

}  // namespace roentgen::train
