// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/sample_loader.h"

#include <chrono>
#include <utility>

#include "data/stage/image_store.h"
#include "data/stage/pixel_hashes.h"
#include "data/stage/storage.h"

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

Result<std::span<const std::byte>> SampleLoader::read(std::uint32_t sample) {
  if (options_.cache != nullptr && options_.cache->has(sample, use())) return std::span<const std::byte>{};
  const Sample& entry = dataset_.samples.at(sample);
  const Stopwatch watch(costs_.read_s);
  auto bytes = reader_.read(entry);
  if (bytes) costs_.read_bytes += bytes.value().size();
  if (options_.storage != nullptr) {
    if (reader_.has_opened()) options_.storage->open();
    if (bytes) options_.storage->read(bytes.value().size());
  }
  return bytes;
}

Status SampleLoader::decode(std::uint32_t sample, std::span<const std::byte> file, Image& out) {
  if (file.empty()) {
    const auto bytes = read(sample);
    if (!bytes) return bytes.why();
    file = bytes.value();
  }
  const Stopwatch watch(costs_.decode_s);
  // A gray file serves three channels as it is (transform.h), and is a third of the work.
  const Channels channels = options_.preprocess.channels == 1 ? Channels::Gray : Channels::FromFile;
  return reader_.decode(dataset_.samples.at(sample), file, channels, out);
}

Status SampleLoader::load(std::uint32_t sample, const AugmentDraw* draw, SlotView out,
                          std::span<const std::byte> file) {
  StoredPicture stored;
  if (options_.cache != nullptr) {
    const auto decoding = [&](Image& into) { return decode(sample, file, into); };
    auto got = options_.cache->get(sample, use(), decoding, image_);
    if (!got) return got.why();
    stored = std::move(got).value();
    costs_.cached += stored.is_kept ? 1 : 0;
  } else {
    auto decoded = decode(sample, file, image_);
    if (!decoded) return decoded;
  }
  const Image& image = options_.cache != nullptr ? stored.image : image_;
  if (options_.pixel_hashes != nullptr && options_.pixel_hashes->get(sample) == 0) {
    options_.pixel_hashes->set(sample, stored.pixel_hash ? *stored.pixel_hash : pixel_hash(image));
  }
  const Stopwatch watch(costs_.transform_s);
  transformer_.apply(image, options_.preprocess, draw, out);
  return Done{};
}

SampleCosts SampleLoader::take_costs() { return std::exchange(costs_, SampleCosts{}); }

}  // namespace roentgen::data
