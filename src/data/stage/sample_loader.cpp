// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/sample_loader.h"

#include <chrono>
#include <utility>

#include "data/stage/image_cache.h"
#include "data/stage/pixel_hashes.h"

namespace roentgen::data {
namespace {

/// Adds the time of its life to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum_s) : sum_s_(sum_s) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch() { sum_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  double& sum_s_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Status SampleLoader::load(std::uint32_t sample, const AugmentDraw* draw, SlotView out) {
  const Image* image = options_.cache == nullptr ? nullptr : options_.cache->find(sample);
  if (image != nullptr) {
    ++costs_.cached;
  } else {
    const Sample& entry = dataset_.samples.at(sample);
    const auto bytes = [&] {
      const Stopwatch watch(costs_.read_s);
      return reader_.read(entry.path, entry.id);
    }();
    if (!bytes) return bytes.why();
    costs_.read_bytes += bytes.value().size();
    const Stopwatch watch(costs_.decode_s);
    // A gray file serves three channels as it is (transform.h), and is a third of the work.
    const DecodeOptions decoding{.channels = options_.preprocess.channels == 1 ? Channels::Gray : Channels::FromFile,
                                 .limits = {}};
    auto decoded = decoder_.decode(bytes.value(), entry.id, decoding, image_);
    if (!decoded) return decoded;
    if (options_.cache != nullptr) options_.cache->offer(sample, image_);
    image = &image_;
  }
  if (options_.pixel_hashes != nullptr && options_.pixel_hashes->get(sample) == 0) {
    options_.pixel_hashes->set(sample, pixel_hash(*image));
  }
  const Stopwatch watch(costs_.transform_s);
  transformer_.apply(*image, options_.preprocess, draw, out);
  return Done{};
}

SampleCosts SampleLoader::take_costs() { return std::exchange(costs_, SampleCosts{}); }

}  // namespace roentgen::data
