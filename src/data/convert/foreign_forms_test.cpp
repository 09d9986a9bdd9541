// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Formats of other programs that convert writes: MXNet's RecordIO and Caffe's LMDB.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <utility>

#include "data/convert/convert_testing.h"
#include "data/convert/record_form.h"
#include "data/stage/sample_reader.h"
#include "data/transform/geometry.h"
#include "data/transform/transform_testing.h"
#include "io/file.h"
#include "io/png_writer.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

class ForeignForms : public Convert {
 protected:
  /// Makes the labels classes: every image has exactly one.
  void make_classes() {
    dataset_.label_names = {"normal", "virus", "bacteria"};
    for (std::size_t i = 0; i < dataset_.samples.size(); ++i) {
      dataset_.samples[i].labels.assign(3, 0.0F);
      dataset_.samples[i].labels[i % 2] = 1.0F;  // no image has the last class
    }
  }
  [[nodiscard]] ConvertOptions to_form(std::string_view form, std::string_view name) const {
    ConvertOptions options = to(name);
    options.form = form;
    options.shards = form == "lmdb" ? 0 : 2;
    options.should_verify = true;
    return options;
  }
  /// Samples of `dataset` in the order of dataset_.
  [[nodiscard]] std::vector<Sample> in_order(const Dataset& dataset) const {
    std::vector<Sample> sorted;
    for (const Sample& wanted : dataset_.samples) {
      const auto found = std::ranges::find(dataset.samples, wanted.id, &Sample::id);
      if (found == dataset.samples.end()) throw DataError(wanted.id + " is missing");
      sorted.push_back(*found);
    }
    return sorted;
  }
  void expect_same_samples(const std::vector<Sample>& samples) const {
    ASSERT_EQ(samples.size(), dataset_.samples.size());
    for (std::size_t i = 0; i < samples.size(); ++i) {
      EXPECT_EQ(samples[i].split, dataset_.samples[i].split);
      ASSERT_EQ(samples[i].labels.size(), dataset_.samples[i].labels.size());
      for (std::size_t k = 0; k < samples[i].labels.size(); ++k) {
        const float wanted = dataset_.samples[i].labels[k], label = samples[i].labels[k];
        EXPECT_TRUE(label == wanted || (std::isnan(label) && std::isnan(wanted))) << samples[i].id << ' ' << k;
      }
    }
  }
};

TEST_F(ForeignForms, keep_names_labels_splits_and_the_bytes_of_every_batch) {
  for (const bool has_classes : {false, true}) {
    if (has_classes) make_classes();
    LoaderOptions loading = options();
    if (has_classes) loading.label_form = LabelForm::ClassIndex;
    const auto from_files = run(loading);
    const Dataset before = dataset_;
    for (const std::string form : {"recordio", "lmdb"}) {
      if (form == "lmdb" && !has_classes) continue;
      for (const Encoding encoding : {Encoding::Keep, Encoding::Png}) {
        auto wanted = to_form(form, fmt::format("{}{}{}", form, static_cast<int>(encoding), has_classes));
        wanted.encoding = encoding;
        wanted.workers = 7;  // more threads than files
        const Converted done = convert(dataset_, wanted);
        EXPECT_EQ(done.images, 23);
        EXPECT_EQ(done.files, form == "lmdb" ? 3 : 6);
        const Dataset records = read(wanted.folder);
        EXPECT_EQ(records.source, form);
        EXPECT_EQ(records.label_names, before.label_names);
        const auto samples = in_order(records);
        expect_same_samples(samples);
        dataset_.samples = samples;
        EXPECT_EQ(run(loading), from_files) << form << ' ' << static_cast<int>(encoding);
        dataset_ = before;
      }
    }
  }
}

TEST_F(ForeignForms, keep_a_single_label) {
  dataset_.label_names = {"even"};
  for (Sample& sample : dataset_.samples) sample.labels.resize(1);
  for (const std::string form : {"recordio", "lmdb"}) {
    const auto wanted = to_form(form, form);
    static_cast<void>(convert(dataset_, wanted));
    const Dataset records = read(wanted.folder);
    EXPECT_EQ(records.label_names, dataset_.label_names);
    expect_same_samples(in_order(records));
  }
}

TEST_F(ForeignForms, keep_names_without_an_extension) {
  make_classes();
  for (Sample& sample : dataset_.samples) sample.id = fs::path(sample.id).stem();
  dataset_.samples[4].id = "00000012_4";
  for (const std::string form : {"recordio", "lmdb"}) {
    const auto wanted = to_form(form, form);
    static_cast<void>(convert(dataset_, wanted));
    expect_same_samples(in_order(read(wanted.folder)));
  }
}

TEST_F(ForeignForms, give_the_same_files_with_any_number_of_threads) {
  make_classes();
  for (const std::string form : {"recordio", "lmdb", "tfrecord"}) {
    std::vector<std::string> files;
    for (const int workers : {1, 2, 16}) {
      auto wanted = to_form(form, fmt::format("{}{}", form, workers));
      wanted.workers = workers;
      static_cast<void>(convert(dataset_, wanted));
      std::vector<fs::path> paths;
      for (const auto& entry : fs::recursive_directory_iterator(wanted.folder)) {
        if (entry.is_regular_file()) paths.push_back(entry.path());
      }
      std::ranges::sort(paths);
      std::string all;
      for (const fs::path& path : paths) {
        all += path.lexically_relative(wanted.folder).string() + io::read_text(path).or_throw();
      }
      files.push_back(all);
    }
    EXPECT_GT(files[0].size(), 1000U);
    EXPECT_TRUE(files[0] == files[1] && files[0] == files[2]) << form;
  }
}

TEST_F(ForeignForms, of_mxnet_have_an_index_and_a_list) {
  make_classes();
  auto wanted = to_form("recordio", "rec");
  wanted.shards = 1;
  static_cast<void>(convert(dataset_, wanted));
  const fs::path name = wanted.folder / "val-00000-of-00001.rec";
  const std::string records = io::read_text(name).or_throw();
  const std::string index = io::read_text(fs::path(name).replace_extension(".idx")).or_throw();
  const std::string list = io::read_text(fs::path(name).replace_extension(".lst")).or_throw();
  EXPECT_EQ(list, "15\t1.000000\t15.png\n16\t0.000000\t16.png\n17\t1.000000\t17.png\n18\t0.000000\t18.png\n");
  std::istringstream lines(index);
  std::size_t key = 0, offset = 0, count = 0;
  while (lines >> key >> offset) {
    EXPECT_EQ(key, 15 + count++);
    EXPECT_EQ(records.substr(offset, 4), "\x0a\x23\xd7\xce") << "MXNet's magic number";
    std::uint64_t id = 0;
    std::memcpy(&id, records.data() + offset + 16, sizeof id);
    EXPECT_EQ(id, key);
  }
  EXPECT_EQ(count, 4U);
}

TEST_F(ForeignForms, are_repaired_by_verify) {
  make_classes();
  for (const auto& [form, file] :
       {std::pair("recordio", "train-00000-of-00002.rec"), std::pair("recordio", "train-00000-of-00002.lst"),
        std::pair("lmdb", "train_lmdb/data.mdb")}) {
    const auto wanted = to_form(form, form);
    static_cast<void>(convert(dataset_, wanted));
    const std::string sound = io::read_text(wanted.folder / file).or_throw();
    for (const std::size_t at : {std::size_t{40}, sound.size() / 2}) {
      std::string damaged = sound;
      damaged[at] = static_cast<char>(damaged[at] + 1);
      std::ofstream(wanted.folder / file, std::ios::binary) << damaged;
      const Converted again = convert(dataset_, wanted);
      EXPECT_EQ(again.files_kept, again.files - 1);
      EXPECT_TRUE(io::read_text(wanted.folder / file).or_throw() == sound) << file << ' ' << at;
    }
  }
}

TEST_F(ForeignForms, leave_no_file_half_written) {
  make_classes();
  damage(20);
  for (const std::string form : {"recordio", "lmdb"}) {
    auto wanted = to_form(form, form);
    wanted.workers = 8;
    wanted.shards = form == "lmdb" ? 0 : 1;
    EXPECT_THAT(refusal(wanted), HasSubstr("20.png"));
    for (const auto& entry : fs::recursive_directory_iterator(wanted.folder)) {
      const std::string name = entry.path().lexically_relative(wanted.folder).string();
      EXPECT_FALSE(entry.is_regular_file() && name.starts_with("test")) << name;
      EXPECT_NE(entry.path().extension(), ".tmp");
    }
  }
}

TEST_F(ForeignForms, refuse_what_they_cannot_hold) {
  auto wanted = to_form("lmdb", "refused");
  EXPECT_THAT(refusal(wanted),
              HasSubstr("--to lmdb: expected one class per image, because a record has a single label, "
                        "got 2 labels of which several or none may apply"));
  make_classes();
  wanted.shards = 2;
  EXPECT_THAT(refusal(wanted), HasSubstr("no --shards, because --to lmdb writes one file per split"));
  wanted.shards = 0;
  wanted.encoding = Encoding::Raw;
  EXPECT_THAT(refusal(wanted), HasSubstr("--encode: expected keep, png or jpeg, with --to lmdb, got raw"));
  wanted.encoding = Encoding::Keep;
  dataset_.label_names = {"odd"};
  for (Sample& sample : dataset_.samples) sample.labels = {std::nanf("")};
  wanted.form = "recordio";
  EXPECT_THAT(refusal(wanted), HasSubstr("expected a single label that is known for every image"));
  EXPECT_FALSE(fs::exists(wanted.folder));
  make_classes();
  wanted.form = "lmdb";
  dataset_.samples[0].id = std::string(503, 'n');
  EXPECT_THAT(refusal(wanted),
              HasSubstr("image names: expected at most 502 bytes, with --to lmdb, got a name of 503 bytes"));
  EXPECT_FALSE(fs::exists(wanted.folder));
  dataset_.samples[0].id.pop_back();
  EXPECT_EQ(refusal(wanted), "no refusal");
  RecordForm few = record_form("lmdb");
  EXPECT_FALSE(misfit(dataset_, few).has_value());
  EXPECT_EQ(few.most_images, 100'000'000) << "keys of 8 digits";
  few.most_images = 22;
  EXPECT_EQ(misfit(dataset_, few).value().expected, "at most 22 images");
}

TEST_F(Convert, resizes_the_shorter_edge_and_keeps_the_aspect_ratio) {
  auto wanted = to("shorter");
  wanted.encoding = Encoding::Raw;
  wanted.shorter_px = 6;
  wanted.should_verify = true;
  static_cast<void>(convert(dataset_, wanted));
  const Dataset small = read(wanted.folder);
  SampleReader reader;
  Image original, stored;
  for (const Sample& sample : small.samples) {
    ASSERT_TRUE(
        reader.load(dataset_.samples[static_cast<std::size_t>(std::stoi(sample.patient))], Channels::Gray, original));
    ASSERT_TRUE(reader.load(sample, Channels::Gray, stored));
    const std::int64_t width = original.width_px(), height = original.height_px();
    EXPECT_EQ(stored.width_px(), width <= height ? 6 : 6 * width / height);
    EXPECT_EQ(stored.height_px(), width <= height ? 6 * height / width : 6);
    EXPECT_EQ(std::min(stored.width_px(), stored.height_px()), 6);
  }
}

// The shorter edge of a square picture is its side, so both resizes must agree, in gray and in colour.
TEST(Stretch, of_a_square_picture_equals_the_squashed_one) {
  for (const int channels : {1, 3}) {
    const Image image = make_image({.width_px = 23, .height_px = 23, .channels = channels}, [](auto x, auto y, auto c) {
      return static_cast<double>((x * 37 + y * 101 + c * 59) % 256);
    });
    Preprocess preprocess = with_channels(Preprocess{}, channels);
    preprocess.size_px = 9;
    const std::size_t bytes = slot_bytes(preprocess, DType::U8);
    std::vector<std::byte> squashed(bytes), stretched(bytes);
    Transformer transformer;
    transformer.apply(image, preprocess, nullptr, {.bytes = squashed, .dtype = DType::U8});
    transformer.stretch(image, preprocess, {.width_px = 9, .height_px = 9}, {.bytes = stretched, .dtype = DType::U8});
    EXPECT_EQ(stretched, squashed);
  }
}

// A picture of vertical stripes stays one at any height, and a change of height alone keeps every column.
TEST(Stretch, scales_each_axis_by_itself) {
  const auto stripes = [](auto x, auto /*y*/, auto /*c*/) { return static_cast<double>(x * 20 % 256); };
  const Image image = make_image({.width_px = 12, .height_px = 30}, stripes);
  std::vector<std::byte> out(12 * 10);
  Transformer transformer;
  transformer.stretch(image, Preprocess{}, {.width_px = 12, .height_px = 10}, {.bytes = out, .dtype = DType::U8});
  for (std::size_t i = 0; i < out.size(); ++i) {
    EXPECT_EQ(static_cast<int>(out[i]), static_cast<int>(stripes(static_cast<int>(i % 12), 0, 0))) << i;
  }
}

}  // namespace
}  // namespace roentgen::data
