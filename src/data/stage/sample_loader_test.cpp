// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/sample_loader.h"

#include "data/codec/codec_testing.h"
#include "data/stage/image_cache.h"
#include "data/stage/loader_testing.h"
#include "data/stage/pixel_hashes.h"

namespace roentgen::data {
namespace {

class SampleLoaderJpeg : public LoaderTest {
 protected:
  SampleLoaderJpeg() : LoaderTest(1) {
    file_ = encode_test_jpeg({.width_px = 90, .height_px = 70, .samples = smooth_bytes(90, 70, 1)});
    folder_.write("0.png", std::string_view(reinterpret_cast<const char*>(file_.data()), file_.size()));
  }
  std::vector<std::byte> load(const LoaderOptions& options, const AugmentDraw* draw = nullptr) {
    std::vector<std::byte> row(slot_bytes(options.preprocess, DType::F32));
    SampleLoader loader(dataset_, options);
    for (int pass = 0; pass < 2; ++pass) {  // the second pass finds files in the cache
      EXPECT_TRUE(loader.load(0, draw, {row, DType::F32}).ok());
    }
    return row;
  }
  std::vector<std::byte> file_;
};

TEST_F(SampleLoaderJpeg, hashes_the_whole_picture_whatever_part_is_decoded) {
  Image whole;
  ASSERT_TRUE(Decoder{}.decode(file_, "x", {}, whole).ok());
  PixelHashes hashes(1);
  LoaderOptions loading = options();
  loading.pixel_hashes = &hashes;
  static_cast<void>(load(loading));
  EXPECT_EQ(hashes.get(0), pixel_hash(whole));
}

TEST_F(SampleLoaderJpeg, gives_the_same_with_a_cache_and_without) {
  const AugmentDraw crop{.crop_width = 0.1, .crop_height = 0.1};  // too small a part to be decoded at reduced size
  const LoaderOptions plain = options();
  ImageCache cache(1, 1 << 20);
  LoaderOptions cached = plain;
  cached.cache = &cache;
  const auto cropped = load(plain, &crop);
  const auto whole = load(plain);
  EXPECT_EQ(load(cached, &crop), cropped);
  EXPECT_EQ(load(cached), whole);
}

TEST_F(SampleLoaderJpeg, keeps_in_the_cache_what_is_exact) {
  ImageCache cache(1, 1 << 20);
  LoaderOptions loading = options();
  loading.cache = &cache;
  static_cast<void>(load(loading));
  EXPECT_FALSE(cache.has(0, ImageUse::Training));
  loading.preprocess.jpeg = JpegSize::Exact;
  static_cast<void>(load(loading));
  EXPECT_TRUE(cache.has(0, ImageUse::Training));
}

TEST_F(SampleLoaderJpeg, keeps_in_the_cache_what_no_draw_decodes_smaller) {
  ImageCache cache(1, 1 << 20);
  LoaderOptions loading = options();
  loading.cache = &cache;
  loading.preprocess.size_px = 60;  // smaller than the test image of 90 x 70 pixels
  loading.augment.scale = 0.7;
  static_cast<void>(load(loading));
  EXPECT_FALSE(cache.has(0, ImageUse::Training));
  loading.augment.scale = 0.1;
  static_cast<void>(load(loading));
  EXPECT_TRUE(cache.has(0, ImageUse::Training));
}

}  // namespace
}  // namespace roentgen::data
