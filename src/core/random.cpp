// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/random.h"

#include <cmath>

#include "core/error.h"
#include "core/portable_math.h"

namespace roentgen {
namespace {
// Philox4x32-10 constants (Salmon et al. 2011, table 2).
constexpr std::uint32_t kMultiplier0 = 0xD2511F53;
constexpr std::uint32_t kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
constexpr std::uint32_t kWeyl1 = 0xBB67AE85;

// Mixes bits with the finaliser of SplitMix64 (Steele et al. 2014), because keys may differ in few bits.
std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}
}  // namespace

std::array<std::uint32_t, 4> philox4x32_10(std::array<std::uint32_t, 4> counter, std::array<std::uint32_t, 2> key) {
  std::array<std::uint32_t, 4> x = counter;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t p0 = static_cast<std::uint64_t>(kMultiplier0) * x[0];
    const std::uint64_t p1 = static_cast<std::uint64_t>(kMultiplier1) * x[2];
    x = {static_cast<std::uint32_t>(p1 >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return x;
}

Random::Random(RandomKey key) {
  const std::uint64_t k = mix(mix(key.seed) ^ (static_cast<std::uint64_t>(key.stage) << 32 | key.epoch));
  key_ = {static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(k >> 32)};
  counter_ = {0, 0, static_cast<std::uint32_t>(key.sample), static_cast<std::uint32_t>(key.sample >> 32)};
}

void Random::refill() {
  block_ = philox4x32_10(counter_, key_);
  used_ = 0;
  if (++counter_[0] == 0) ++counter_[1];
}

std::uint32_t Random::next_u32() {
  if (used_ == 4) refill();
  return block_[static_cast<std::size_t>(used_++)];
}

std::uint64_t Random::next_u64() {
  const std::uint64_t high = next_u32();
  return high << 32 | next_u32();
}

double Random::uniform() { return static_cast<double>(next_u64() >> 11) * 0x1p-53; }

std::uint64_t Random::below(std::uint64_t bound) {
  RG_ASSERT(bound > 0);
  // Lemire's multiply-and-reject method, on 64-bit words with a 128-bit product.
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(next_u64()) * bound;
  auto low = static_cast<std::uint64_t>(product);
  if (low < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (low < threshold) {
      product = static_cast<Wide>(next_u64()) * bound;
      low = static_cast<std::uint64_t>(product);
    }
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Random::normal() {
  if (has_spare_normal_) {
    has_spare_normal_ = false;
    return spare_normal_;
  }
  const double u = 1.0 - uniform();  // in (0, 1]
  const double angle_rad = 6.28318530717958647693 * uniform();
  const double radius = std::sqrt(-2.0 * portable_log(u));
  spare_normal_ = radius * portable_sin(angle_rad);
  has_spare_normal_ = true;
  return radius * portable_cos(angle_rad);
}

}  // namespace roentgen
