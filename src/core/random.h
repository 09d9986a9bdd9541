// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Counter-based random streams (Philox4x32-10, Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
// A stream is a pure function of its key, so what is drawn never depends on thread count, order or machine.
#pragma once

#include <array>
#include <cstdint>

namespace roentgen {

/// Key of a stream. Two different keys give independent streams.
struct RandomKey {
  std::uint64_t seed = 0;    ///< seed of the whole job
  std::uint32_t epoch = 0;   ///< 0 where nothing is drawn by epoch
  std::uint64_t sample = 0;  ///< number of the sample or thing drawn for
  /// Purpose: a constant per caller, see RandomStage.
  std::uint32_t stage = 0;
};

/// Purposes of random streams, so that no two draw the same numbers. Values are part of the on-disk reproducibility
/// contract: append only.
enum class RandomStage : std::uint32_t {
  Shuffle = 1,
  Augment = 2,
  Replace = 3,
  Split = 4,
  Initialise = 5,
  Dropout = 6,
  Bootstrap = 7,
  SynthPatient = 8,
  SynthStudy = 9,
  SynthPixels = 10,
  Test = 11,
  Look = 12,
  SynthFilm = 13,
  SynthDetail = 14,
};

/// The generator itself: one block of Philox4x32-10, a bijection of the counter for every key.
[[nodiscard]] std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                                         std::array<std::uint32_t, 2> key);

/// One stream of random numbers. Value type, cheap to make (no warm-up); thread-compatible.
/// Bit-identical on every machine: integer arithmetic and exactly rounded float operations only.
class Random {
 public:
  explicit Random(RandomKey key);  ///< begins the stream of that key
  /// Begins the stream of a purpose that RandomStage names.
  Random(std::uint64_t seed, RandomStage stage, std::uint64_t sample = 0, std::uint32_t epoch = 0)
      : Random(RandomKey{seed, epoch, sample, static_cast<std::uint32_t>(stage)}) {}

  /// Uniform over all 32-bit values.
  std::uint32_t next_u32();
  /// Uniform over all 64-bit values.
  std::uint64_t next_u64();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Unbiased integer in [0, bound); bound > 0 (Lemire 2019).
  std::uint64_t below(std::uint64_t bound);
  /// True with probability p.
  bool chance(double p) { return uniform() < p; }
  /// Standard normal: Box-Muller with our own portable log, sin and cos (core/portable_math.h), so the same everywhere.
  double normal();

 private:
  void refill();

  std::array<std::uint32_t, 2> key_{};
  std::array<std::uint32_t, 4> counter_{};
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
  double spare_normal_ = 0.0;
  bool has_spare_normal_ = false;
};

}  // namespace roentgen
