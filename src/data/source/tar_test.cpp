// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/tar.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/record_source.h"
#include "data/source/source_testing.h"
#include "data/stage/loader_testing.h"
#include "data/stage/sample_reader.h"
#include "io/npy.h"

namespace roentgen::data {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class TarSource : public LoaderTest {
 protected:
  TarSource() : LoaderTest(12) {}

  [[nodiscard]] std::string image(std::size_t i) const {
    std::ifstream file(dataset_.samples.at(i).path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::string sample(std::size_t i, std::string_view ending, std::string_view known) const {
    return io::tar_member(fmt::format("{:06}.png", i), image(i)) +
           io::tar_member(fmt::format("{:06}.{}", i, ending), known);
  }
  static std::string ended(std::string_view members) {
    return std::string(members) + std::string(io::kTarEnd_bytes, '\0');
  }
  static SourceOptions in(const TestFolder& folder) {
    SourceOptions options;
    options.root = folder.path();
    options.split.unit = SplitUnit::Image;
    return options;
  }
  static Dataset read(std::string_view members) {
    const TestFolder folder;
    folder.write("a.tar", ended(members));
    return load_dataset(in(folder));
  }
  static std::string refusal(std::string_view members) {
    return message_of<DataError>([&] { static_cast<void>(read(members)); });
  }
};

TEST_F(TarSource, gives_the_batches_of_the_files_it_was_made_of) {
  const auto label = [this](std::size_t i, int k) {
    const float value = dataset_.samples[i].labels[static_cast<std::size_t>(k)];
    return std::isnan(value) ? "null" : value > 0 ? "1" : "0";
  };
  const TestFolder folder;
  std::string first, second;
  for (std::size_t i = 0; i < 12; ++i) {
    (i < 7 ? first : second) +=
        sample(i, "json",
               fmt::format(R"({{"filename": "{}.png", "labels": {{"even": {}, "odd": {}}}, "split": "train"}})", i,
                           label(i, 0), label(i, 1)));
  }
  folder.write("x-000000.tar", ended(first));
  folder.write("x-000001.tar", ended(second));
  EXPECT_EQ(record_source(folder.path()), "tar");
  const auto from_files = run(options());
  SourceOptions wanted = in(folder);
  wanted.split.validation = ValidationFrom::None;
  dataset_ = load_dataset(wanted);
  EXPECT_EQ(dataset_.source, "tar");
  EXPECT_THAT(dataset_.label_names, ElementsAre("even", "odd"));
  EXPECT_EQ(run(options()), from_files);
}

TEST_F(TarSource, knows_what_json_says) {
  const Dataset dataset = read(
      sample(0, "json", R"({"labels": {"Mass": true, "Edema": -1}, "patient": "7", "view": "PA", "sex": "F", "age": 61,
                            "split": "val", "other": [1, 2]})") +
      sample(1, "json", R"({"filename": "00000013_005.png", "labels": {"Mass": 0, "Edema": 1}, "split": "train"})"));
  EXPECT_EQ(dataset.samples[0].id, "000000.png");
  EXPECT_EQ(dataset.samples[0].patient, "7");
  EXPECT_EQ(dataset.samples[0].view, "PA");
  EXPECT_EQ(dataset.samples[0].sex, "F");
  EXPECT_EQ(dataset.samples[0].age_years, 61.0F);
  EXPECT_EQ(dataset.samples[0].split, Split::Val);
  EXPECT_EQ(dataset.samples[0].labels[0], 1.0F);
  EXPECT_TRUE(std::isnan(dataset.samples[0].labels[1]));
  EXPECT_EQ(dataset.samples[1].id, "00000013_005.png");
  EXPECT_EQ(dataset.samples[1].patient, "13");
}

TEST_F(TarSource, has_labels_in_json_cls_or_txt) {
  std::string names, classes, words, texts, labels;
  for (std::size_t i = 0; i < 12; ++i) {
    names += sample(i, "json", i % 2 == 0 ? R"({"labels": ["Mass", "Edema"]})" : R"({"labels": []})");
    labels += sample(i, "json", fmt::format(R"({{"label": {}}})", i % 2 + 4));
    classes += sample(i, "cls", fmt::format("{}\n", i % 3));
    words += sample(i, "cls", i % 3 == 0 ? "cat" : "dog");
    texts += sample(i, "txt", i % 2 == 0 ? "Mass|Pleural Effusion" : "No Finding\n");
  }
  EXPECT_THAT(read(names).label_names, ElementsAre("Edema", "Mass"));
  EXPECT_THAT(read(names).samples[1].labels, ElementsAre(0.0F, 0.0F));
  EXPECT_THAT(read(labels).label_names, ElementsAre("class 4", "class 5"));
  EXPECT_THAT(read(classes).label_names, ElementsAre("class 0", "class 1", "class 2"));
  EXPECT_THAT(read(classes).samples[5].labels, ElementsAre(0.0F, 0.0F, 1.0F));
  EXPECT_THAT(read(words).label_names, ElementsAre("cat", "dog"));
  EXPECT_THAT(read(texts).label_names, ElementsAre("Mass", "Pleural Effusion"));
  EXPECT_THAT(read(texts).samples[2].labels, ElementsAre(1.0F, 1.0F));
}

TEST_F(TarSource, holds_pixels_as_npy) {
  const std::array<std::uint16_t, 6> wide{0, 257, 514, 65535, 4095, 1};
  const std::string data(reinterpret_cast<const char*>(wide.data()), 12);
  const auto with = [&](const Shape& shape, DType dtype, std::string_view more = "") {
    return io::tar_member("a.npy", io::npy_head(shape, dtype) + data) +
           io::tar_member("a.json", fmt::format(R"({{"labels": {{"x": 1}}{}}})", more));
  };
  const TestFolder folder;
  folder.write("test-0.tar", ended(with({2, 3}, DType::U16, R"(, "max_value": 4095)")));
  SourceOptions wanted = in(folder);
  wanted.split.mode = SplitMode::Whole;
  const Dataset dataset = load_dataset(wanted);
  SampleReader reader;
  Image pixels;
  ASSERT_TRUE(reader.load(dataset.samples[0], Channels::Gray, pixels));
  EXPECT_EQ(pixels.layout(), (ImageLayout{.width_px = 3, .height_px = 2, .bits = 16, .max_value = 4095}));
  EXPECT_THAT(pixels.samples<std::uint16_t>(), testing::ElementsAreArray(wide));
  EXPECT_THAT(refusal(with({3}, DType::F32)), HasSubstr("an array (H, W) or (H, W, 3) of u1 or u2, got (3) f32"));
  EXPECT_THAT(refusal(with({6, 2}, DType::U16)), HasSubstr("[io.npy] a.tar, record 1: expected 24 bytes of elements"));
  EXPECT_THAT(refusal(with({2, 3}, DType::U16, R"(, "max_value": 70000)")), HasSubstr("max_value from 1 to 65535"));
}

TEST_F(TarSource, takes_splits_from_names_of_shards) {
  const TestFolder folder;
  folder.write("train-000000.tar", ended(sample(0, "cls", "0") + sample(1, "cls", "1")));
  folder.write("val-000000.tar", ended(sample(2, "cls", "0")));
  folder.write("notes.tar.txt", "not one");
  const Dataset dataset = load_dataset(in(folder));
  EXPECT_EQ(dataset.summary(Split::Train).images, 2);
  EXPECT_EQ(dataset.summary(Split::Val).images, 1);
}

TEST_F(TarSource, passes_over_other_files) {
  const Dataset dataset = read(io::tar_member("readme.txt", "about") + io::tar_member(".hidden.png", "x") +
                               io::tar_member("a/0.PNG", image(0)) + io::tar_member("a/0.seg.png", "a mask") +
                               io::tar_member("a/0.cls", "1") + sample(1, "cls", "0") + sample(2, "cls", "0"));
  ASSERT_EQ(dataset.samples.size(), 3U);
  EXPECT_EQ(dataset.samples[0].id, "a/0.PNG");
}

TEST_F(TarSource, refuses_samples_without_a_label_or_with_two_images) {
  EXPECT_THAT(refusal(io::tar_member("a.png", "x")),
              HasSubstr("[data.tar] a.tar, record 1: expected labels in a .json"));
  EXPECT_THAT(refusal(io::tar_member("a.png", "x") + io::tar_member("a.jpg", "x")),
              HasSubstr("a.tar, a: expected one image a sample, got png and jpg"));
  EXPECT_THAT(refusal(io::tar_member("a.txt", "x")), HasSubstr("expected a record, got an empty file"));
  EXPECT_THAT(refusal(sample(0, "json", "[]")), HasSubstr("expected a table as .json, got array"));
  EXPECT_THAT(refusal(sample(0, "json", "{")), HasSubstr("a.tar, record 1"));
  EXPECT_THAT(refusal(sample(0, "json", R"({"labels": {"a": "yes"}})")),
              HasSubstr("expected 1, 0, -1 or null as label"));
  EXPECT_THAT(refusal(sample(0, "json", R"({"labels": {"a": 2}})")), HasSubstr("expected 1, 0 or -1 as label, got 2"));
  EXPECT_THAT(refusal(sample(0, "json", R"({"labels": {}})")), HasSubstr("expected a label in labels"));
  EXPECT_THAT(refusal(sample(0, "cls", "-3")), HasSubstr("expected a class of at least 0, got -3"));
  EXPECT_THAT(refusal(sample(0, "cls", "")), HasSubstr("text in one line as .cls, got nothing"));
  EXPECT_THAT(refusal(sample(0, "cls", "1") + sample(1, "txt", "Mass")), HasSubstr("labels as in the records before"));
  EXPECT_THAT(refusal(sample(0, "cls", "1") + sample(1, "cls", "1") + sample(0, "cls", "1")),
              HasSubstr("expected one row for each image, got 1 repeated (000000.png)"));
  std::string descriptions;
  for (int i = 0; i < 5000; ++i) {
    descriptions += io::tar_member(fmt::format("{}.png", i), "x") +
                    io::tar_member(fmt::format("{}.txt", i), fmt::format("an image of {}", i));
  }
  EXPECT_THAT(refusal(descriptions), HasSubstr("expected at most 4096 different labels"));
}

}  // namespace
}  // namespace roentgen::data
