// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Counter-based random streams (Philox4x32-10, Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
// A stream is a pure function of its key, so what is drawn never depends on thread count, order or machine.
#pragma once

#include <array>
#include <cstdint>

namespace roentgen {

/// Key that selects a random stream. Different keys give independent streams.
struct RandomKey {
  std::uint64_t seed = 0;    ///< seed of the whole run
  std::uint32_t epoch = 0;   ///< epoch number; 0 if the stream does not depend on the epoch
  std::uint64_t sample = 0;  ///< number of the sample, or of another object that the stream is for
  /// Purpose of the stream, a constant of RandomStage.
  std::uint32_t stage = 0;
};

/// Purposes of random streams. No two purposes draw the same numbers. Stored results depend on the values: only append
/// new ones.
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

/// Random generator: one block of Philox4x32-10, which is a bijection of the counter for every key.
[[nodiscard]] std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter,
                                                         std::array<std::uint32_t, 2> key);

/// Stream of random numbers. Value type, cheap to construct (no warm-up); thread-compatible. Uses only integer
/// arithmetic and exactly rounded floating-point operations, so it is bit-identical on every machine.
class Random {
 public:
  explicit Random(RandomKey key);  ///< begins the stream of this key
  /// Begins the stream of a purpose in RandomStage.
  Random(std::uint64_t seed, RandomStage stage, std::uint64_t sample = 0, std::uint32_t epoch = 0)
      : Random(RandomKey{seed, epoch, sample, static_cast<std::uint32_t>(stage)}) {}

  /// Draws uniformly from all 32-bit values.
  std::uint32_t next_u32();
  /// Draws uniformly from all 64-bit values.
  std::uint64_t next_u64();
  /// Draws uniformly from [0, 1), with 53 bits.
  double uniform();
  /// Draws uniformly from [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Draws an unbiased integer from [0, bound); bound > 0 (Lemire 2019).
  std::uint64_t below(std::uint64_t bound);
  /// Returns true with probability p.
  bool chance(double p) { return uniform() < p; }
  /// Draws from a standard normal distribution by the Box-Muller method. Uses the log, sin and cos of
  /// core/portable_math.h, so it is bit-identical on every machine.
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
