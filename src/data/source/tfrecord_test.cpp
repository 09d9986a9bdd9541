// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"
#include "data/source/tfrecord_testing.h"
#include "data/stage/loader_testing.h"
#include "data/stage/sample_reader.h"
#include "io/example.h"
#include "io/record.h"

namespace roentgen::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(TfRecord, of_dells_schema_has_14_findings_and_nihs_patients) {
  const TestFolder folder;
  folder.write("train-00000-of-00002", dell(0) + dell(1) + dell(2));
  folder.write("train-00001-of-00002", dell(3));
  folder.write("val-00000-of-00001", dell(4) + dell(5));
  const Dataset dataset = load_dataset(in(folder));
  EXPECT_EQ(dataset.source, "tfrecord");
  EXPECT_EQ(dataset.label_names.size(), 14U);
  EXPECT_EQ(dataset.label_names[12], "Pleural_Thickening");
  ASSERT_EQ(dataset.samples.size(), 6U);
  EXPECT_EQ(dataset.samples[3].id, "00000013_000.png");
  EXPECT_EQ(dataset.samples[3].patient, "13");
  EXPECT_EQ(dataset.samples[3].labels[3], 1.0F);
  EXPECT_EQ(dataset.samples[3].labels[4], 0.0F);
  EXPECT_EQ(dataset.summary(Split::Train).images, 4);
  EXPECT_EQ(dataset.summary(Split::Val).images, 2);
}

TEST_F(TfRecord, of_our_schema_keeps_all_that_is_known) {
  const TestFolder folder;
  std::string file;
  for (std::size_t i = 0; i < 12; ++i) file += own(i);
  folder.write("all.tfrecord", file);
  const Dataset dataset = load_dataset(in(folder));
  EXPECT_THAT(dataset.label_names, ElementsAre("even", "odd"));
  ASSERT_EQ(dataset.samples.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) {
    const Sample& sample = dataset.samples[i];
    EXPECT_EQ(sample.id, dataset_.samples[i].id);
    EXPECT_EQ(sample.labels[0], dataset_.samples[i].labels[0]);
    EXPECT_EQ(std::isnan(sample.labels[1]), std::isnan(dataset_.samples[i].labels[1]));
    EXPECT_EQ(sample.patient, fmt::format("p{}", i / 2));
    EXPECT_EQ(sample.view, i % 2 == 0 ? "PA" : "AP");
    EXPECT_EQ(sample.age_years, 40.0F + static_cast<float>(i));
  }
  EXPECT_EQ(dataset.summary(Split::Test).images, 4);
}

TEST_F(TfRecord, of_imagenets_schema_has_a_class_an_image) {
  const TestFolder folder;
  std::string file;
  for (std::size_t i = 0; i < 6; ++i) {
    io::ExampleWriter example;
    example.text("image/encoded", image(i));
    example.integer("image/class/label", 1 + 4 * static_cast<std::int64_t>(i % 3));
    if (i % 3 == 1) example.text("image/class/text", "tench");
    file += frame(example);
  }
  folder.write("train-00000-of-00001", file);
  SourceOptions options = in(folder);
  options.split.unit = SplitUnit::Image;
  const Dataset dataset = load_dataset(options);
  EXPECT_THAT(dataset.label_names, ElementsAre("class 1", "tench", "class 9"));
  EXPECT_THAT(dataset.samples[4].labels, ElementsAre(0.0F, 1.0F, 0.0F));
  EXPECT_EQ(dataset.samples[4].id, "train-00000-of-00001#5");
}

TEST_F(TfRecord, gives_the_batches_of_the_files_it_was_made_of) {
  const TestFolder folder;
  std::string first, second;
  for (std::size_t i = 0; i < 5; ++i) first += own(i);
  for (std::size_t i = 5; i < 12; ++i) second += own(i);
  folder.write("a.tfrecord", first);
  folder.write("b.tfrecord", second);
  const auto from_files = run(options());
  dataset_ = load_dataset(in(folder));
  EXPECT_EQ(run(options()), from_files);
  auto interleaved = options();
  interleaved.pipeline = parse_pipeline("files | interleave(parallel=3) | shard(wrap) | repeat | map_and_batch");
  interleaved.augment = {};
  const auto seen = run(interleaved);
  ASSERT_EQ(seen.size(), 6U);
  EXPECT_THAT(seen[1].samples, ElementsAre(5, 6, 7, 8, 9));
}

TEST_F(TfRecord, takes_numbers_for_texts) {
  const auto record = [](const auto& set) {
    io::ExampleWriter example;
    example.text("image/encoded", "no image, nobody looks");
    example.texts("image/label_names", std::array<std::string, 1>{"x"});
    example.integer("image/label", 1);
    set(example);
    return frame(example);
  };
  const TestFolder folder;
  folder.write("a.tfrecord",
               record([](io::ExampleWriter& example) {
                 example.integer("image/filename", 17);
                 example.integer("image/patient", 9007199254740993);
                 example.integer("image/view", 1);
                 example.integer("image/sex", 0);
                 example.integer("image/age", 61);
                 example.integer("patient_id", 3);
               }) + record([](io::ExampleWriter& example) {
                 example.number("image/patient", 100000.0F);
                 example.text("image/age", "47");
               }) + record([](io::ExampleWriter& example) { example.number("image/patient", std::nanf("")); }));
  SourceOptions options = in(folder);
  options.split.mode = SplitMode::Whole;
  const Dataset dataset = load_dataset(options);
  EXPECT_EQ(dataset.samples[0].id, "17");
  EXPECT_EQ(dataset.samples[0].patient, "9007199254740993");
  EXPECT_EQ(dataset.samples[0].view, "1");
  EXPECT_EQ(dataset.samples[0].sex, "0");
  EXPECT_EQ(dataset.samples[0].age_years, 61.0F);
  EXPECT_EQ(dataset.samples[1].age_years, 47.0F);
  EXPECT_EQ(dataset.samples[2].patient, "");
  EXPECT_THAT(dataset.notes, testing::Contains("not read, record field patient_id (patients are read from "
                                               "image/patient): 1 (a.tfrecord)"));
  const auto refusal_with = [&](const auto& set) { return refusal_of(record(set)); };
  EXPECT_THAT(refusal_with([](io::ExampleWriter& example) { example.number("image/patient", 16777217.0F); }),
              HasSubstr("expected text or an integer for image/patient, got a float of more than 7 digits"));
  EXPECT_THAT(refusal_with([](io::ExampleWriter& example) {
                example.integers("image/patient", std::array<std::int64_t, 2>{1, 2});
              }),
              HasSubstr("expected one value for image/patient, got 2"));
  EXPECT_THAT(refusal_with([](io::ExampleWriter& example) { example.integer("image/split", 0); }),
              HasSubstr("expected train, val, test or none as image/split, got 0"));
  EXPECT_THAT(refusal_with([](io::ExampleWriter& example) {
                example.texts("image/encoded", std::array<std::string, 2>{"one", "other"});
              }),
              HasSubstr("expected one image in image/encoded, got 2"));
}

TEST_F(TfRecord, refuses_patients_in_two_splits_though_they_are_numbers) {
  const TestFolder folder;
  for (const auto& [name, split] : {std::pair("a.tfrecord", "train"), std::pair("b.tfrecord", "test")}) {
    io::ExampleWriter example;
    example.text("image/encoded", name);
    example.texts("image/label_names", std::array<std::string, 1>{"x"});
    example.integer("image/label", 1);
    example.integer("image/patient", 7);
    example.text("image/split", split);
    folder.write(name, frame(example));
  }
  SourceOptions options = in(folder);
  options.split.validation = ValidationFrom::None;
  EXPECT_THAT(refusal(options), HasSubstr("1 of 1 patient in two or more"));
}

TEST_F(TfRecord, is_found_under_every_usual_name_and_missed_where_a_link_leads_nowhere) {
  const TestFolder folder;
  folder.write("x-train.tfrecord-00000-of-00002", own(0));
  folder.write("v1.0-train-00000-of-00001.TFRecord", own(1));
  SourceOptions options = in(folder);
  options.split.mode = SplitMode::Whole;
  EXPECT_THAT(refusal(options), HasSubstr("1 of x-train.tfrecord-*-of-00002 missing"));
  folder.write("x-train.tfrecord-00001-of-00002", own(2));
  EXPECT_EQ(load_dataset(options).samples.size(), 3U);
  std::filesystem::create_symlink("nowhere", folder.path() / "more.tfrecord");
  EXPECT_THAT(refusal(options), HasSubstr("more.tfrecord (a broken link) missing"));
  options.absent = Absent::Skip;
  EXPECT_EQ(load_dataset(options).samples.size(), 3U);
}

TEST_F(TfRecord, interleaves_the_records_of_its_files) {
  const TestFolder folder;
  for (int file = 0; file < 3; ++file) {
    std::string records;
    for (std::size_t i = 0; i < 4; ++i) records += own(4 * static_cast<std::size_t>(file) + i);
    folder.write(fmt::format("{}.tfrecord", file), records);
  }
  dataset_ = load_dataset(in(folder));
  auto wanted = options(LoadMode::Evaluation);
  wanted.pipeline = parse_pipeline("files | interleave(cycle=3, parallel=2) | map_and_batch | prefetch");
  const auto seen = run(wanted);
  EXPECT_THAT(seen[0].samples, ElementsAre(0, 4, 8, 1, 5));
}

TEST_F(TfRecord, holds_raw_pixels_of_8_and_16_bits) {
  const std::array<std::uint16_t, 6> wide{0, 257, 514, 65535, 4095, 1};
  const std::array<std::uint8_t, 6> narrow{0, 1, 2, 255, 16, 7};
  const auto raw = [](std::string_view bytes, std::int64_t bits, std::int64_t white) {
    io::ExampleWriter example;
    example.text("image/encoded", bytes);
    example.text("image/format", "raw");
    example.integer("image/width", 3);
    example.integer("image/height", 2);
    example.integer("image/channels", 1);
    example.integer("image/bits", bits);
    if (white > 0) example.integer("image/max_value", white);
    example.texts("image/label_names", std::array<std::string, 1>{"x"});
    example.integer("image/label", bits == 8 ? 1 : 0);
    return frame(example);
  };
  const TestFolder folder;
  folder.write("a.tfrecord", raw({reinterpret_cast<const char*>(narrow.data()), 6}, 8, 0) +
                                 raw({reinterpret_cast<const char*>(wide.data()), 12}, 16, 4095));
  SourceOptions options = in(folder);
  options.split.mode = SplitMode::Whole;
  const Dataset dataset = load_dataset(options);
  SampleReader reader;
  Image image;
  ASSERT_TRUE(reader.load(dataset.samples[0], Channels::Gray, image));
  EXPECT_EQ(image.layout(), (ImageLayout{.width_px = 3, .height_px = 2}));
  EXPECT_THAT(image.samples<std::uint8_t>(), testing::ElementsAreArray(narrow));
  ASSERT_TRUE(reader.load(dataset.samples[1], Channels::Gray, image));
  EXPECT_EQ(image.layout(), (ImageLayout{.width_px = 3, .height_px = 2, .bits = 16, .max_value = 4095}));
  EXPECT_THAT(image.samples<std::uint16_t>(), testing::ElementsAreArray(wide));
  EXPECT_THAT(refusal_of(raw("12345", 8, 0)), HasSubstr("expected raw pixels that match width"));
  EXPECT_THAT(refusal_of(raw("123456", 12, 0)), HasSubstr("12 bits"));
  EXPECT_THAT(refusal_of(raw("123456", (std::int64_t{1} << 32) + 8, 0)), HasSubstr("4294967304 bits"));
  EXPECT_THAT(refusal_of(raw("123456", 8, 256)), HasSubstr("max_value 256"));
}

TEST_F(TfRecord, notices_damage_when_the_image_is_read) {
  const TestFolder folder;
  std::string damaged = own(1);
  damaged[damaged.find("IDAT")] = 'i';
  folder.write("a.tfrecord", own(0) + damaged);
  SourceOptions options = in(folder);
  options.split.mode = SplitMode::Whole;
  const Dataset dataset = load_dataset(options);
  SampleReader reader;
  Image image;
  const Status status = reader.load(dataset.samples[1], Channels::Gray, image);
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error(), HasSubstr("[data.read] 1.png: expected a record with a valid checksum"));
  EXPECT_TRUE(reader.load(dataset.samples[0], Channels::Gray, image));
}

TEST_F(TfRecord, refuses_what_holds_no_labelled_images) {
  io::ExampleWriter nothing;
  nothing.text("words", "some");
  EXPECT_THAT(refusal_of(frame(nothing)), HasSubstr("[data.tfrecord] a.tfrecord, record 1: expected an image"));
  io::ExampleWriter unlabelled;
  unlabelled.text("image/encoded", "x");
  EXPECT_THAT(refusal_of(frame(unlabelled)), HasSubstr("got 0 labels, 0 names, 0 classes"));
  EXPECT_THAT(refusal_of(io::record_frame("no message")), HasSubstr("expected a TensorFlow record (tf.train.Example)"));
  EXPECT_THAT(refusal_of(labelled("x").substr(0, 40)), HasSubstr("[io.record] a.tfrecord, record 1 at byte 0"));
  EXPECT_THAT(refusal_of(gzipped(labelled("x")).substr(0, 60)),
              HasSubstr("[io.gzip] a.tfrecord: expected a complete gzip"));
  EXPECT_THAT(refusal_of(""), HasSubstr("expected a record, got an empty file"));
  EXPECT_THAT(refusal_of(own(0) + dell(1)), HasSubstr("record 2: expected the same label names as in earlier records"));
  EXPECT_THAT(refusal_of(own(0) + own(0)), HasSubstr("expected one row for each image, got 1 repeated (0.png)"));
  io::ExampleWriter wrong;
  wrong.text("image/encoded", "x");
  wrong.texts("image/label_names", std::array<std::string, 1>{"x"});
  wrong.integer("image/label", 2);
  EXPECT_THAT(refusal_of(frame(wrong)), HasSubstr("expected 1, 0 or -1 as label value, got 2"));
  io::ExampleWriter split;
  split.text("image/encoded", "x");
  split.texts("image/label_names", std::array<std::string, 1>{"x"});
  split.integer("image/label", 1);
  split.text("image/split", "holdout");
  EXPECT_THAT(refusal_of(frame(split)), HasSubstr("train, val, test or none as image/split, got holdout"));
}

TEST_F(TfRecord, refuses_names_that_break_lines) {
  const auto with = [](std::string_view label, std::string_view id) {
    io::ExampleWriter example;
    example.text("image/encoded", "x");
    example.texts("image/label_names", std::array<std::string, 1>{std::string(label)});
    example.integer("image/label", 1);
    example.text("image/filename", id);
    return frame(example);
  };
  EXPECT_THAT(refusal_of(with("a\nb", "id")),
              HasSubstr("one line of text as image/label_names, got control characters"));
  EXPECT_THAT(refusal_of(with("", "id")), HasSubstr("one line of text as image/label_names, got an empty text"));
  EXPECT_THAT(refusal_of(with("a", "i\x1b[d")), HasSubstr("one line of text as image/filename"));
  io::ExampleWriter unlabelled;
  unlabelled.text("image/encoded", "x");
  unlabelled.integer("image/class/label", -1);
  EXPECT_THAT(refusal_of(frame(unlabelled)), HasSubstr("expected a class number of at least 0, got -1"));
}

TEST_F(TfRecord, wants_all_files_that_their_names_count) {
  const TestFolder folder;
  folder.write("train-00000-of-00003", own(0) + own(1));
  folder.write("train-00002-of-00003", own(8));
  SourceOptions options = in(folder);
  options.split.validation = ValidationFrom::None;
  EXPECT_THAT(refusal(options), HasSubstr("expected all record files of the numbered set, got 1 of train-*-of-00003 "
                                          "missing; try --set data.absent=skip"));
  options.absent = Absent::Skip;
  EXPECT_EQ(load_dataset(options).samples.size(), 3U);
}

TEST_F(TfRecord, leaves_folders_with_a_table_to_csv_and_other_numbered_files_alone) {
  const TestFolder folder;
  folder.write("a.tfrecord", own(0));
  folder.write("x.png", image(0));
  folder.write("labels.csv", "path,ill,split\nx.png,1,test\n");
  SourceOptions options = in(folder);
  options.labels = {"ill"};
  EXPECT_EQ(load_dataset(options).source, "csv");
  const TestFolder other;
  other.write("model.ckpt.data-00000-of-00001", "weights");
  other.write("model-00000-of-00001", "weights of some other program");
  EXPECT_THAT(refusal(in(other)), HasSubstr("expected one of these data sets: nih"));
  options.csv = {"labels.csv"};
  options.source = "tfrecord";
  EXPECT_THAT(refusal(options),
              HasSubstr("data.csv: expected no data.csv, because the record files contain the labels"));
}

TEST_F(TfRecord, knows_what_names_of_files_say_of_splits) {
  const TestFolder folder;
  folder.write("training.tfrecord", own(0) + own(1));
  folder.write("eval_0.tfrecords", dell(0));
  EXPECT_THAT(refusal(in(folder)), HasSubstr("the same label names as in earlier records"));
  const TestFolder dells;
  dells.write("training.tfrecord", dell(0) + dell(1));
  dells.write("eval_0.tfrecords", dell(2));
  dells.write("test.tfrec", dell(3));
  dells.write("more.tfrec", dell(4));
  const Dataset dataset = load_dataset(in(dells));
  EXPECT_EQ(dataset.summary(Split::Train).images, 2);
  EXPECT_EQ(dataset.summary(Split::Val).images, 1);
  EXPECT_EQ(dataset.summary(Split::Test).images, 1);
  EXPECT_THAT(dataset.notes, testing::Contains(HasSubstr("1 of 4 record files have names without train, val or test")));
}

TEST_F(TfRecord, has_another_hash_with_other_names_or_splits) {
  const auto hash = [&](std::string_view label, std::string_view split) {
    io::ExampleWriter example;
    example.text("image/encoded", "x");
    example.text("image/filename", "1");
    example.texts("image/label_names", std::array<std::string, 1>{std::string(label)});
    example.integer("image/label", 1);
    example.text("image/split", split);
    const TestFolder folder;
    folder.write("a.tfrecord", frame(example));
    SourceOptions options = in(folder);
    options.split.validation = ValidationFrom::None;
    return load_dataset(options).csv_sha256.at(0);
  };
  EXPECT_EQ(hash("a", "test"), hash("a", "test"));
  EXPECT_NE(hash("a", "test"), hash("b", "test"));
  EXPECT_NE(hash("a", "test"), hash("a", "train"));
}

TEST_F(TfRecord, takes_the_labels_asked_for_and_no_policies) {
  const TestFolder folder;
  folder.write("train-00000-of-00001", dell(0) + dell(2));
  folder.write("test-00000-of-00001", dell(1));
  SourceOptions options = in(folder);
  options.labels = {"Pleural Effusion", "Cardiomegaly"};
  options.split.validation = ValidationFrom::None;
  const Dataset dataset = load_dataset(options);
  EXPECT_THAT(dataset.samples.back().labels, ElementsAre(1.0F, 0.0F));
  options.labels = {"Fracture"};
  EXPECT_THAT(refusal(options), HasSubstr("[data.labels] Fracture: expected a label that the record files contain"));
  options.labels = {};
  options.policy.uncertain = Uncertain::One;
  EXPECT_THAT(refusal(options), HasSubstr("expected none of these keys, because"));
}

}  // namespace
}  // namespace roentgen::data
