// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Pixels that convert stores: depth, colour and size.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "data/convert/convert_testing.h"
#include "data/stage/sample_reader.h"
#include "io/jpeg_writer.h"
#include "io/png_writer.h"

namespace roentgen::data {
namespace {

TEST_F(Convert, stretches_12_bits_to_16_where_a_format_cannot_say_so) {
  std::string tar;
  const std::array<std::uint16_t, 4> pixels{0, 4095, 1000, 17};
  dataset_.samples.resize(1);
  Sample& sample = dataset_.samples[0];
  sample.id = "raw";
  sample.path = out_.write("raw", {reinterpret_cast<const char*>(pixels.data()), 8});
  sample.stored = StoredImage{
      .length = 8, .image_length = 8, .raw = ImageLayout{.width_px = 2, .height_px = 2, .bits = 16, .max_value = 4095}};
  for (const auto& [encoding, white] : {std::pair(Encoding::Keep, 4095U), std::pair(Encoding::Png, 65535U)}) {
    auto wanted = to(fmt::format("twelve{}", white));
    wanted.encoding = encoding;
    wanted.should_verify = true;
    static_cast<void>(convert(dataset_, wanted));
    SourceOptions reading;
    reading.root = wanted.folder;
    reading.split.mode = SplitMode::Whole;
    SampleReader reader;
    Image image;
    ASSERT_TRUE(reader.load(load_dataset(reading).samples[0], Channels::Gray, image));
    EXPECT_EQ(image.layout().max_value, white);
    EXPECT_EQ(image.samples<std::uint16_t>()[1], white);
    EXPECT_EQ(image.samples<std::uint16_t>()[2], std::lround(1000.0 * white / 4095.0));
  }
}

TEST_F(Convert, resizes_as_the_network_would) {
  auto wanted = to("small");
  wanted.encoding = Encoding::Raw;
  wanted.size_px = 8;
  wanted.fit = Fit::Crop;
  wanted.should_verify = true;
  static_cast<void>(convert(dataset_, wanted));
  const Dataset small = read(wanted.folder);
  Preprocess preprocess;
  preprocess.size_px = 8;
  preprocess.fit = Fit::Crop;
  SampleReader reader;
  Transformer transformer;
  Image image;
  std::vector<std::byte> expected(64);
  for (const Sample& sample : small.samples) {
    const auto& original = dataset_.samples[static_cast<std::size_t>(std::stoi(sample.patient))];
    ASSERT_TRUE(reader.load(original, Channels::Gray, image));
    transformer.apply(image, preprocess, nullptr, {.bytes = expected, .dtype = DType::U8});
    ASSERT_TRUE(reader.load(sample, Channels::Gray, image));
    EXPECT_EQ(image.layout(), (ImageLayout{.width_px = 8, .height_px = 8}));
    EXPECT_TRUE(std::ranges::equal(image.bytes(), expected));
  }
}

TEST_F(Convert, keeps_colour_and_16_bits) {
  const std::array<std::byte, 2 * 2 * 6> rgb16 = [] {
    std::array<std::byte, 24> pixels{};
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::byte>(11 * i);
    return pixels;
  }();
  const auto bytes = io::encode_png({.width_px = 2, .height_px = 2, .channels = 3, .bits = 16, .pixels = rgb16});
  folder_.write("0.png", {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  dataset_.samples.resize(1);
  for (const std::int64_t size : {0, 2}) {
    auto wanted = to(fmt::format("colour{}", size));
    wanted.encoding = Encoding::Raw;
    wanted.size_px = size;
    wanted.should_verify = true;
    static_cast<void>(convert(dataset_, wanted));
    SourceOptions options;
    options.root = wanted.folder;
    options.split.mode = SplitMode::Whole;
    const Dataset read = load_dataset(options);
    SampleReader reader;
    Image image;
    ASSERT_TRUE(reader.load(read.samples[0], Channels::FromFile, image));
    EXPECT_EQ(image.layout(),
              (ImageLayout{.width_px = 2, .height_px = 2, .channels = 3, .bits = 16, .max_value = 65535}));
    EXPECT_TRUE(std::ranges::equal(image.bytes(), rgb16));
  }
}

TEST_F(Convert, of_colour_gives_networks_of_one_and_three_channels_the_batches_of_the_files) {
  Random random(kSeed, RandomStage::Test);
  for (std::size_t i = 0; i < dataset_.samples.size(); ++i) {
    const bool is_gray = i % 2 == 0;
    const int channels = i % 3 == 0 ? 4 : 3, bits = i % 5 == 0 ? 16 : 8;
    const std::int64_t width = 40, height = 37;  // rows shorter than a vector, which are summed in another order
    std::vector<std::uint16_t> wide;
    for (std::int64_t pixel = 0; pixel < width * height; ++pixel) {
      const auto gray = static_cast<std::uint16_t>(random.below(65536));
      for (int channel = 0; channel < channels; ++channel) {
        wide.push_back(is_gray && channel < 3 ? gray : static_cast<std::uint16_t>(random.below(65536)));
      }
    }
    const std::vector<std::uint8_t> narrow(wide.begin(), wide.end());  // low bytes of the samples
    const auto pixels = bits == 16 ? std::as_bytes(std::span(wide)) : std::as_bytes(std::span(narrow));
    const auto bytes = io::encode_png(
        {.width_px = width, .height_px = height, .channels = channels, .bits = bits, .pixels = pixels}, 1);
    folder_.write(fmt::format("{}.png", i), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    dataset_.samples[i].split = Split::Train;
  }
  const Dataset files = dataset_;
  for (const auto& [form, encoding] : {std::pair("tfrecord", Encoding::Raw), std::pair("tfrecord", Encoding::Png),
                                       std::pair("tar", Encoding::Raw), std::pair("png", Encoding::Png)}) {
    auto wanted = to(fmt::format("{}{}", form, static_cast<int>(encoding)));
    wanted.form = form;
    wanted.encoding = encoding;
    wanted.shards = form == std::string("png") ? 0 : 2;
    wanted.should_verify = true;
    EXPECT_EQ(convert(files, wanted).other_grays, 0);
    const Dataset records = read(wanted.folder);
    for (const int channels : {1, 3}) {
      auto loading = options();
      loading.preprocess = with_channels(loading.preprocess, channels);
      dataset_ = files;
      const auto expected = run(loading);
      dataset_.samples = records.samples;
      EXPECT_EQ(run(loading), expected) << form << ' ' << static_cast<int>(encoding) << ' ' << channels;
    }
    if (encoding != Encoding::Raw) continue;
    for (std::size_t i = 0; i < records.samples.size(); ++i) {
      EXPECT_EQ(records.samples[i].stored->raw->channels, i % 2 == 0 ? 1 : 3) << i;
    }
  }
}

TEST_F(Convert, of_colour_jpeg_says_that_its_gray_is_another) {
  Random random(kSeed, RandomStage::Test);
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<std::uint8_t> pixels(16 * 16 * 3);
    for (auto& pixel : pixels) pixel = i == 0 ? 100 : static_cast<std::uint8_t>(random.below(256));
    const auto bytes = io::encode_jpeg({.width_px = 16, .height_px = 16, .channels = 3, .pixels = pixels}, 90);
    folder_.write(fmt::format("{}.png", i), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  for (const auto& [encoding, others] :
       {std::pair(Encoding::Raw, 1), std::pair(Encoding::Png, 1), std::pair(Encoding::Keep, 0)}) {
    auto wanted = to(fmt::format("jpegs{}", static_cast<int>(encoding)));
    wanted.encoding = encoding;
    wanted.should_verify = true;
    EXPECT_EQ(convert(dataset_, wanted).other_grays, others) << static_cast<int>(encoding);
  }
}

TEST_F(Convert, writes_jpeg_near_the_pixels) {
  auto wanted = to("jpeg");
  parse_encoding("jpeg:95", wanted);
  wanted.should_verify = true;
  static_cast<void>(convert(dataset_, wanted));
  const Dataset read_back = read(wanted.folder);
  SampleReader reader;
  Image image;
  ASSERT_TRUE(reader.load(read_back.samples[0], Channels::Gray, image));
  EXPECT_GT(image.width_px(), 0);
}

}  // namespace
}  // namespace roentgen::data
