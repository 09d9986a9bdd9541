// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The loader on real X-rays: all are readable, and threads and caches change no byte.
#include "data/stage/image_cache.h"
#include "data/stage/loader_testing.h"

namespace roentgen::data {
namespace {

class LoaderReal : public RealDataTest {
 protected:
  static Dataset nih(std::string_view images, std::string_view csv) {
    SourceOptions options;
    options.root = real_data() / "nih";
    options.images = {images};
    options.csv = {csv};
    options.absent = Absent::Skip;
    options.split.mode = SplitMode::Whole;
    return load_dataset(options);
  }
  /// Hash over all batches of one training epoch.
  static std::string hash_of_epoch(const Dataset& dataset, int workers, ImageCache* cache) {
    LoaderOptions options;
    options.shard = {.batch = 16, .tail = Tail::Pad};
    options.workers = workers;
    options.seed = kSeed;
    options.epochs = 1;
    options.preprocess.size_px = 64;
    options.augment = {.rotate_deg = 10.0, .crop_area_min = 0.8};
    options.max_bad_share = 0.0;
    options.cache = cache;
    Slots slots(2, 16, static_cast<std::int64_t>(dataset.label_names.size()),
                slot_bytes(options.preprocess, options.dtype));
    Loader loader(dataset, samples_of(dataset, Split::Test), options, slots.all());
    std::string hashes;
    while (const auto batch = loader.next()) {
      hashes += slots.hash(batch->slot);
      loader.release(batch->slot);
    }
    EXPECT_EQ(loader.stats().samples, static_cast<std::int64_t>(dataset.samples.size()));
    return io::fast_hash_hex(std::as_bytes(std::span(hashes)));
  }
};

TEST_F(LoaderReal, reads_every_original_gray_and_rgba) {
  const auto dataset = nih("png", "labels.csv");
  EXPECT_EQ(dataset.samples.size(), 79U);
  EXPECT_EQ(hash_of_epoch(dataset, 1, nullptr), hash_of_epoch(dataset, 3, nullptr));
}

TEST_F(LoaderReal, reads_every_small_one_with_and_without_a_cache) {
  const auto dataset = nih("png128", "labels.csv");
  ImageCache cache(1384, 1384 * 128 * 128);
  const auto plain = hash_of_epoch(dataset, 2, nullptr);
  EXPECT_EQ(hash_of_epoch(dataset, 2, &cache), plain);
  EXPECT_EQ(cache.bytes(), 1384U * 128U * 128U);
  EXPECT_EQ(hash_of_epoch(dataset, 2, &cache), plain);
}

TEST_F(LoaderReal, reads_every_rgb_and_rgba_one_as_somebody_resized_it) {
  const auto dataset = nih("png64", "labels_64.csv");
  EXPECT_EQ(dataset.samples.size(), 688U);
  EXPECT_EQ(hash_of_epoch(dataset, 1, nullptr), hash_of_epoch(dataset, 2, nullptr));
}

TEST_F(LoaderReal, reads_jpegs) {
  SourceOptions options;
  options.root = real_data() / "kermany";
  options.labels = {"pneumonia"};
  Dataset dataset = load_dataset(options);
  dataset.samples.resize(200);
  for (auto& sample : dataset.samples) sample.split = Split::Test;
  EXPECT_EQ(hash_of_epoch(dataset, 1, nullptr), hash_of_epoch(dataset, 2, nullptr));
}

}  // namespace
}  // namespace roentgen::data
