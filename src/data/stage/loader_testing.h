// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fixtures for tests of the loader: a small data set of PNG files, slots, and a run to the end.
#pragma once

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "core/random.h"
#include "data/source/source_testing.h"
#include "data/stage/loader.h"
#include "data/transform/transform.h"
#include "io/png_writer.h"
#include "io/sha256.h"

namespace roentgen::data {

inline constexpr int kSizePx = 12;
inline constexpr std::uint64_t kSeed = 41;

/// Memory for slots, filled with arbitrary values, so that elements that are not written are detected.
class Slots {
 public:
  Slots(int count, std::int64_t batch, std::int64_t labels, std::size_t row_bytes) {
    for (int i = 0; i < count; ++i) {
      images_.emplace_back(static_cast<std::size_t>(batch) * row_bytes, std::byte{0xA5});
      labels_.emplace_back(static_cast<std::size_t>(batch * labels), 77.0F);
      masks_.emplace_back(static_cast<std::size_t>(batch * labels), 77.0F);
    }
  }
  std::vector<BatchSlot> all() {
    std::vector<BatchSlot> slots;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      slots.push_back({.images = images_[i], .labels = labels_[i], .mask = masks_[i]});
    }
    return slots;
  }
  [[nodiscard]] const std::vector<std::byte>& images(int slot) const { return images_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] const std::vector<float>& labels(int slot) const { return labels_[static_cast<std::size_t>(slot)]; }
  [[nodiscard]] const std::vector<float>& mask(int slot) const { return masks_[static_cast<std::size_t>(slot)]; }
  /// Hash of the whole content of a slot.
  [[nodiscard]] std::string hash(int slot) const {
    return io::fast_hash_hex(images(slot)) + io::fast_hash_hex(std::as_bytes(std::span(labels(slot)))) +
           io::fast_hash_hex(std::as_bytes(std::span(mask(slot))));
  }

 private:
  std::vector<std::vector<std::byte>> images_;
  std::vector<std::vector<float>> labels_, masks_;
};

/// Content of one batch.
struct Seen {
  std::uint32_t epoch = 0;
  std::int64_t index = 0;
  std::vector<std::uint32_t> samples;
  std::string hash;
  friend bool operator==(const Seen&, const Seen&) = default;
  friend void PrintTo(const Seen& seen, std::ostream* out) {
    *out << seen.epoch << '/' << seen.index << ' ' << testing::PrintToString(seen.samples) << ' '
         << seen.hash.substr(0, 6);
  }
};

class LoaderTest : public testing::Test {
 protected:
  /// Creates `count` images of different sizes and pixels: 0.png, 1.png, ...; label "even" is known for all, "odd" for
  /// every third.
  explicit LoaderTest(int count = 23) {
    Random random(kSeed, RandomStage::Test);
    for (int i = 0; i < count; ++i) {
      const std::int64_t width = 10 + i % 7, height = 9 + i % 5;
      std::vector<std::byte> pixels(static_cast<std::size_t>(width * height));
      for (auto& pixel : pixels) pixel = static_cast<std::byte>(random.below(256));
      const std::string name = fmt::format("{}.png", i);
      const auto bytes = io::encode_png({.width_px = width, .height_px = height, .pixels = pixels}, 1);
      folder_.write(name, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
      Sample sample;
      sample.id = name;
      sample.path = folder_.path() / name;
      sample.split = Split::Train;
      sample.labels = {i % 2 == 0 ? 1.0F : 0.0F, i % 3 == 0 ? static_cast<float>(i % 2) : std::nanf("")};
      dataset_.samples.push_back(sample);
    }
    dataset_.label_names = {"even", "odd"};
  }
  static LoaderOptions options(LoadMode mode = LoadMode::Training) {
    LoaderOptions options;
    options.mode = mode;
    options.shard = {.batch = 5, .tail = mode == LoadMode::Training ? Tail::Drop : Tail::Pad};
    options.workers = 2;
    options.seed = kSeed;
    options.preprocess.size_px = kSizePx;
    options.augment = {
        .rotate_deg = 10.0, .translate = 0.05, .scale = 0.1, .crop_area_min = 0.8, .flip_probability = 0.5};
    options.epochs = mode == LoadMode::Training ? 2 : 1;
    return options;
  }
  [[nodiscard]] std::vector<std::uint32_t> everything() const {
    std::vector<std::uint32_t> samples(dataset_.samples.size());
    std::iota(samples.begin(), samples.end(), 0U);
    return samples;
  }
  [[nodiscard]] Slots slots_for(const LoaderOptions& options, int count = 3) const {
    return {count, options.shard.batch, options.label_form == LabelForm::ClassIndex ? 1 : 2,
            slot_bytes(options.preprocess, options.dtype)};
  }
  /// Returns all batches until the end.
  [[nodiscard]] std::vector<Seen> run(const LoaderOptions& options, int slot_count = 3) const {
    Slots slots = slots_for(options, slot_count);
    Loader loader(dataset_, everything(), options, slots.all());
    std::vector<Seen> seen;
    while (const auto batch = loader.next()) {
      EXPECT_EQ(batch->valid, static_cast<std::int64_t>(batch->samples.size()));
      seen.push_back({.epoch = batch->epoch,
                      .index = batch->index,
                      .samples = {batch->samples.begin(), batch->samples.end()},
                      .hash = slots.hash(batch->slot)});
      loader.release(batch->slot);
    }
    return seen;
  }
  /// Options of a loader that keeps decoded images in `store`.
  static LoaderOptions with(ImageStore& store, LoadMode mode = LoadMode::Training) {
    LoaderOptions wanted = options(mode);
    wanted.cache = &store;
    return wanted;
  }
  /// Number of images decoded in one pass over all samples, without random replacements.
  [[nodiscard]] std::int64_t decoded_in_a_pass(ImageStore& store) const {
    const LoaderOptions wanted = with(store, LoadMode::Evaluation);
    Slots slots = slots_for(wanted);
    Loader loader(dataset_, everything(), wanted, slots.all());
    while (const auto batch = loader.next()) loader.release(batch->slot);
    return std::ssize(dataset_.samples) - loader.stats().cached;
  }
  void damage(int image, std::string_view bytes = "this is no image") const {
    folder_.write(fmt::format("{}.png", image), bytes);
  }
  TestFolder folder_;
  Dataset dataset_;
};

}  // namespace roentgen::data
