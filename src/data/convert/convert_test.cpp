// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/convert/convert.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <utility>

#include "core/error.h"
#include "data/convert/convert_testing.h"
#include "io/file.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

TEST_F(Convert, keeps_names_labels_splits_and_the_bytes_of_every_batch) {
  const auto from_files = run(options());
  const Dataset before = dataset_;
  for (const auto& [form, encoding] : {std::pair("tfrecord", Encoding::Keep), std::pair("tfrecord", Encoding::Png),
                                       std::pair("tfrecord", Encoding::Raw), std::pair("tar", Encoding::Keep),
                                       std::pair("tar", Encoding::Png), std::pair("tar", Encoding::Raw)}) {
    auto wanted = to(fmt::format("{}{}", form, static_cast<int>(encoding)));
    wanted.form = form;
    wanted.encoding = encoding;
    wanted.should_verify = true;
    wanted.workers = 3;
    dataset_ = before;
    const Converted done = convert(dataset_, wanted);
    EXPECT_EQ(done.images, 23);
    EXPECT_EQ(done.files, 6);
    dataset_ = read(wanted.folder);
    ASSERT_EQ(dataset_.samples.size(), 23U);
    EXPECT_EQ(dataset_.label_names, before.label_names);
    // Record files are read in alphabetical order: test, train, val.
    std::vector<Sample> sorted(23);
    for (const Sample& sample : dataset_.samples) sorted[static_cast<std::size_t>(std::stoi(sample.patient))] = sample;
    for (std::size_t i = 0; i < 23; ++i) {
      EXPECT_EQ(sorted[i].id, before.samples[i].id);
      EXPECT_EQ(sorted[i].split, before.samples[i].split);
      EXPECT_EQ(sorted[i].labels[0], before.samples[i].labels[0]);
      EXPECT_EQ(std::isnan(sorted[i].labels[1]), std::isnan(before.samples[i].labels[1]));
      EXPECT_EQ(sorted[i].view, "PA");
    }
    dataset_.samples = sorted;
    EXPECT_EQ(run(options()), from_files) << form << ' ' << static_cast<int>(encoding);
    EXPECT_EQ(dataset_.source, form);
  }
}

TEST_F(Convert, leaves_distortions_as_they_are_wherever_records_stand) {
  const auto hashes = [this](const std::vector<std::uint32_t>& samples) {
    Slots slots = slots_for(options());
    Loader loader(dataset_, samples, options(), slots.all());
    std::vector<std::string> seen;
    while (const auto batch = loader.next()) {
      seen.push_back(slots.hash(batch->slot));
      loader.release(batch->slot);
    }
    return seen;
  };
  const auto from_files = hashes(everything());
  const Dataset before = dataset_;
  static_cast<void>(convert(dataset_, to("records")));
  dataset_ = read(to("records").folder);
  std::vector<std::uint32_t> same_order;
  for (const Sample& sample : before.samples) {
    const auto found = std::ranges::find(dataset_.samples, sample.id, &Sample::id);
    same_order.push_back(static_cast<std::uint32_t>(found - dataset_.samples.begin()));
  }
  ASSERT_NE(same_order, everything()) << "records stand by split";
  EXPECT_EQ(hashes(same_order), from_files);
}

TEST_F(Convert, from_one_form_to_the_other_and_back_gives_the_same_files) {
  auto wanted = to("tfrecord");
  static_cast<void>(convert(dataset_, wanted));
  const Dataset records = read(wanted.folder);
  auto tar = to("tar");
  tar.form = "tar";
  static_cast<void>(convert(records, tar));
  auto again = to("again");
  static_cast<void>(convert(read(tar.folder), again));
  const std::string name = "train-00001-of-00002.tfrecord";
  std::ifstream first(wanted.folder / name, std::ios::binary), second(again.folder / name, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(first), {}};
  EXPECT_GT(bytes.size(), 1000U);
  EXPECT_TRUE(bytes == std::string(std::istreambuf_iterator<char>(second), {}));
}

TEST_F(Convert, writes_a_folder_of_png_files_and_its_table) {
  auto wanted = to("png");
  wanted.form = "png";
  wanted.shards = 0;
  wanted.workers = 2;
  wanted.should_verify = true;
  dataset_.samples[3].id = "deep/er/3.png";
  dataset_.samples[4].id = "../outside.png";
  dataset_.samples[5].id = "0.jpg";
  const Converted done = convert(dataset_, wanted);
  EXPECT_EQ(done.files, 23);
  const auto from_files = run(options());
  const Dataset before = dataset_;
  dataset_ = read(wanted.folder);
  EXPECT_EQ(dataset_.source, "csv");
  EXPECT_EQ(dataset_.label_names, before.label_names) << "without being told";
  const auto place = [&](std::size_t i) { return dataset_.samples[i].path.lexically_relative(wanted.folder).string(); };
  EXPECT_EQ(place(0), "images/0.png");
  EXPECT_EQ(place(3), "images/deep/er/3.png");
  EXPECT_EQ(place(4), "images/00000004.png");
  EXPECT_EQ(place(5), "images/0.jpg.png");
  for (std::size_t i = 0; i < 23; ++i) {
    EXPECT_EQ(dataset_.samples[i].id, before.samples[i].id);
    EXPECT_EQ(dataset_.samples[i].split, before.samples[i].split);
    EXPECT_EQ(dataset_.samples[i].patient, before.samples[i].patient);
    EXPECT_EQ(dataset_.samples[i].view, before.samples[i].view);
    EXPECT_TRUE(dataset_.samples[i].age_years == before.samples[i].age_years ||
                std::isnan(before.samples[i].age_years));
  }
  EXPECT_EQ(run(options()), from_files);
  dataset_ = before;
  EXPECT_EQ(convert(dataset_, wanted).files_kept, 23);
}

TEST_F(Convert, writes_a_folder_of_which_some_labels_can_be_asked_for) {
  auto wanted = to("png");
  wanted.form = "png";
  wanted.shards = 0;
  static_cast<void>(convert(dataset_, wanted));
  SourceOptions reading;
  reading.root = wanted.folder;
  reading.labels = {"odd"};
  EXPECT_EQ(load_dataset(reading).label_names, reading.labels);
  // If convert.json, which names the label columns, is missing or was not written by convert, labels must not be
  // guessed.
  for (const char* manifest : {"", "{", "[]", R"({"labels": ["even"]})", R"({"format": "png", "labels": "even"})",
                               R"({"format": "png", "labels": [1]})", R"({"format": "tar", "labels": ["even"]})"}) {
    out_.write("png/convert.json", manifest);
    EXPECT_THROW(static_cast<void>(read(wanted.folder)), ConfigError) << manifest;
  }
  fs::remove(wanted.folder / "convert.json");
  EXPECT_THROW(static_cast<void>(read(wanted.folder)), ConfigError);
}

TEST_F(Convert, writes_a_folder_of_images_without_labels_that_is_read_as_such) {
  dataset_.label_names.clear();
  for (Sample& sample : dataset_.samples) sample.labels.clear();
  auto wanted = to("png");
  wanted.form = "png";
  wanted.shards = 0;
  static_cast<void>(convert(dataset_, wanted));
  const Dataset images = read(wanted.folder);
  EXPECT_EQ(images.samples.size(), 23U);
  EXPECT_TRUE(images.label_names.empty());
}

TEST_F(Convert, told_to_verify_looks_at_files_that_are_there_already) {
  auto wanted = to("kept");
  static_cast<void>(convert(dataset_, wanted));
  std::map<fs::path, std::string> sound;
  for (const auto& entry : fs::directory_iterator(wanted.folder)) {
    if (entry.path().extension() == ".tfrecord") sound[entry.path()] = io::read_text(entry.path()).or_throw();
  }
  ASSERT_FALSE(sound.empty());
  const auto& [path, bytes] = *sound.begin();
  wanted.should_verify = true;
  for (const std::string& damaged :
       {bytes.substr(0, bytes.size() - 9),
        bytes.substr(0, bytes.size() / 2) + "damage" + bytes.substr(bytes.size() / 2 + 6), bytes + "more"}) {
    std::ofstream(path, std::ios::binary) << damaged;
    const Converted result = convert(dataset_, wanted);
    EXPECT_EQ(io::read_text(path).or_throw(), bytes);
    EXPECT_EQ(result.files_kept, result.files - 1);
  }
  EXPECT_EQ(convert(dataset_, wanted).files_kept, std::ssize(sound));
}

TEST_F(Convert, refuses_names_that_no_reader_takes) {
  dataset_.samples[2].id = "a\tb.png";
  EXPECT_THAT(message_of<ConfigError>([&] { static_cast<void>(convert(dataset_, to("named"))); }),
              HasSubstr("image names: expected names without line breaks and control characters"));
}

TEST_F(Convert, goes_on_where_it_was_killed) {
  auto wanted = to("again");
  static_cast<void>(convert(dataset_, wanted));
  const auto whole = fs::file_size(wanted.folder / "train-00001-of-00002.tfrecord");
  fs::remove(wanted.folder / "train-00001-of-00002.tfrecord");
  std::ofstream(wanted.folder / ".train-00001-of-00002.tfrecord.roentgen-1-0.tmp") << "as a kill leaves it";
  // Existing output is not written again, so a deleted source image has no effect.
  const fs::path first = dataset_.samples[0].path;
  const auto modified = fs::last_write_time(first);
  std::fstream(first, std::ios::in | std::ios::out | std::ios::binary) << "no image";
  fs::last_write_time(first, modified);
  const Converted done = convert(dataset_, wanted);
  EXPECT_EQ(done.files, 6);
  EXPECT_EQ(done.files_kept, 5);
  EXPECT_EQ(fs::file_size(wanted.folder / "train-00001-of-00002.tfrecord"), whole);
  EXPECT_EQ(files_in(wanted.folder), 7U) << "six files and convert.json";
}

TEST_F(Convert, goes_on_where_it_was_killed_before_anything_had_its_name) {
  auto wanted = to("early");
  fs::create_directories(wanted.folder);
  std::ofstream(wanted.folder / ".convert.json.roentgen-17666-0.tmp") << "{";
  EXPECT_EQ(convert(dataset_, wanted).images, 23);
  EXPECT_EQ(files_in(wanted.folder), 7U) << "six files and convert.json";
  wanted = to("of somebody else");
  fs::create_directories(wanted.folder);
  std::ofstream(wanted.folder / ".convert.json.roentgen-tmp") << "{";
  EXPECT_THAT(refusal(wanted), HasSubstr("expected a new or empty folder"));
}

TEST_F(Convert, leaves_no_file_half_written) {
  damage(20);
  auto wanted = to("broken");
  EXPECT_THAT(refusal(wanted), HasSubstr("20.png"));
  for (const auto& entry : fs::directory_iterator(wanted.folder)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("test-00000")) << entry.path();
    EXPECT_NE(entry.path().extension(), ".tmp");
  }
}

TEST_F(Convert, refuses_other_folders_and_options) {
  auto wanted = to("one");
  static_cast<void>(convert(dataset_, wanted));
  wanted.encoding = Encoding::Raw;
  EXPECT_THAT(refusal(wanted),
              HasSubstr("an unfinished conversion with the same data and options, got a folder of another"));
  wanted = to("one");
  dataset_.samples[3].patient = "somebody else";
  EXPECT_THAT(refusal(wanted),
              HasSubstr("an unfinished conversion with the same data and options, got a folder of another"));
  wanted = to("two");
  out_.write("two/notes.txt", "mine");
  EXPECT_THAT(refusal(wanted), HasSubstr("expected a new or empty folder, got a folder that contains notes.txt"));
  wanted = to("three");
  wanted.size_px = 8;
  EXPECT_THAT(refusal(wanted), HasSubstr("--resize: expected --encode raw, png or jpeg, got --encode keep"));
  EXPECT_FALSE(fs::exists(wanted.folder));
  wanted.size_px = 0;
  wanted.form = "hdf5";
  EXPECT_THAT(refusal(wanted), HasSubstr("--to: expected tfrecord, tar, recordio, lmdb, png, got hdf5"));
  wanted.form = "png";
  EXPECT_THAT(refusal(wanted), HasSubstr("--shards: expected no --shards"));
  wanted.shards = 0;
  wanted.encoding = Encoding::Raw;
  EXPECT_THAT(refusal(wanted), HasSubstr("--encode: expected keep or png, with --to png, got raw"));
  wanted.encoding = Encoding::Keep;
  dataset_.label_names[0] = "View";
  EXPECT_THAT(refusal(wanted), HasSubstr("View: expected a label whose name no other column"));
  EXPECT_FALSE(fs::exists(wanted.folder));
  wanted.form = "tfrecord";
  const auto labels = std::exchange(dataset_.label_names, {});
  EXPECT_THAT(refusal(wanted),
              HasSubstr("expected labels, because record files must contain labels, got images without labels"));
  dataset_.label_names = labels;
  wanted.shards = 100000;
  EXPECT_THAT(refusal(wanted), HasSubstr("--shards: expected at most 99999"));
}

TEST(Encoding, is_read_or_refused) {
  ConvertOptions options;
  parse_encoding("raw", options);
  EXPECT_EQ(options.encoding, Encoding::Raw);
  parse_encoding("jpeg:70", options);
  EXPECT_EQ(options.encoding, Encoding::Jpeg);
  EXPECT_EQ(options.jpeg_quality, 70);
  for (const auto* text : {"", "tiff", "jpeg:", "jpeg:0", "jpeg:101", "jpeg:9x", "png:5"}) {
    EXPECT_THROW(parse_encoding(text, options), ConfigError) << text;
  }
}

}  // namespace
}  // namespace roentgen::data
