// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/sample_loader.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "data/source/dataset.h"
#include "data/stage/image_store.h"
#include "data/stage/loader.h"
#include "data/stage/pixel_hashes.h"
#include "data/stage/storage.h"
#include "data/transform/geometry.h"

namespace roentgen::data {
namespace {

// Scale that is assumed when deciding which pictures are cached. It is fixed, because runs with other augmentation use
// the same cache.
constexpr double kUsualScale = 0.4;

/// Adds the time between its construction and destruction to a sum.
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

SampleLoader::SampleLoader(const Dataset& dataset, const LoaderOptions& options)
    : dataset_(dataset),
      options_(options),
      reader_(options.is_cold ? FileReader::PageCache::Drop : FileReader::PageCache::Use,
              parse_intensity(options.preprocess.intensity)) {}

ImageUse SampleLoader::use() const {
  return options_.mode == LoadMode::Training ? ImageUse::Training : ImageUse::Exact;
}

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

Status SampleLoader::decode(std::uint32_t sample, std::span<const std::byte> file, const AugmentDraw& draw,
                            Image& out) {
  if (file.empty()) {
    const auto bytes = read(sample);
    if (!bytes) return bytes.why();
    file = bytes.value();
  }
  const Stopwatch watch(costs_.decode_s);
  // A gray file is decoded to one channel even if the network has three (transform.h), which is a third of the work.
  const Channels channels = options_.preprocess.channels == 1 ? Channels::Gray : Channels::FromFile;
  DecodeOptions options{.channels = channels, .limits = {}, .may_borrow = options_.cache == nullptr};
  const Sample& entry = dataset_.samples.at(sample);
  bool is_of_many_sizes = false;
  if (options_.preprocess.jpeg == JpegSize::Scaled) {
    options.need = [&](const ImageLayout& picture) {
      is_of_many_sizes = need_of(picture, options_.preprocess, {.zoom = smallest_zoom()}).reduction > 1;
      return need_of(picture, options_.preprocess, draw);
    };
  }
  Status status = reader_.decode(entry, file, options, out);
  if (!status) return status;
  if (is_of_many_sizes) out.set_for_one_use();
  if (is_hash_wanted(sample) && !out.is_whole()) {
    options.need = nullptr;
    status = reader_.decode(entry, file, options, whole_);
    if (status) options_.pixel_hashes->set(sample, pixel_hash(whole_));
  }
  return status;
}

Status SampleLoader::load(std::uint32_t sample, const AugmentDraw* draw, SlotView out,
                          std::span<const std::byte> file) {
  const auto decoding = [&](Image& into) {
    return decode(sample, file, draw != nullptr ? *draw : AugmentDraw{}, into);
  };
  StoredPicture stored;
  if (options_.cache != nullptr) {
    auto got = options_.cache->get(sample, use(), decoding, image_);
    if (!got) return got.why();
    stored = std::move(got).value();
    costs_.cached += stored.is_kept ? 1 : 0;
  } else if (const Status decoded = decoding(image_); !decoded) {
    return decoded;
  }
  const Image& image = options_.cache != nullptr ? stored.image : image_;
  if (is_hash_wanted(sample)) {
    options_.pixel_hashes->set(sample, stored.pixel_hash ? *stored.pixel_hash : pixel_hash(image));
  }
  const Stopwatch watch(costs_.transform_s);
  transformer_.apply(image, options_.preprocess, draw, out);
  if (stored.is_kept) options_.cache->require_intact();
  return Done{};
}

double SampleLoader::smallest_zoom() const { return 1.0 - std::max(options_.augment.scale, kUsualScale); }

bool SampleLoader::is_hash_wanted(std::uint32_t sample) const {
  return options_.pixel_hashes != nullptr && options_.pixel_hashes->get(sample) == 0;
}

SampleCosts SampleLoader::take_costs() { return std::exchange(costs_, SampleCosts{}); }

}  // namespace roentgen::data
