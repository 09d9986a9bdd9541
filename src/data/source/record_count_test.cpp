// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// No reader of records drops an image silently: given images = used images + images that notes count as left out.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>
#include <numeric>

#include "core/error.h"
#include "data/convert/convert.h"
#include "data/source/tfrecord_testing.h"
#include "io/lmdb_testing.h"
#include "io/protobuf.h"
#include "io/recordio_testing.h"
#include "io/tar.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::HasSubstr;

/// Sum of the numbers after the colon in notes on what was left out.
std::int64_t left_out_in(const std::vector<std::string>& notes) {
  return std::accumulate(notes.begin(), notes.end(), std::int64_t{0}, [](std::int64_t sum, const std::string& note) {
    if (!note.starts_with("left out, ") && !note.starts_with("repeated rows, the first is kept")) return sum;
    const std::size_t at = note.rfind(": ") + 2;
    std::int64_t count = 0;
    std::from_chars(note.data() + at, note.data() + note.size(), count);
    return sum + count;
  });
}

class RecordCount : public TfRecord {
 protected:
  /// Reads the folder and compares the number of used and left-out images with `given`.
  void expect_all_counted(const TestFolder& folder, std::int64_t given, std::int64_t used) const {
    SourceOptions options = in(folder);
    options.split.mode = SplitMode::Whole;
    options.absent = Absent::Skip;
    options.duplicates = Duplicates::First;
    const Dataset dataset = load_dataset(options);
    EXPECT_EQ(std::ssize(dataset.samples), used);
    EXPECT_EQ(used + left_out_in(dataset.notes), given) << testing::PrintToString(dataset.notes);
    const Dataset again = load_dataset(options);  // reads the index, if one was stored
    EXPECT_EQ(again.notes, dataset.notes);
  }
  [[nodiscard]] std::string tar_sample(std::string_view key, std::string_view ending = "png") const {
    return io::tar_member(fmt::format("{}.{}", key, ending), image(0)) +
           io::tar_member(fmt::format("{}.cls", key), "1");
  }
  static std::string ended(std::string_view members) {
    return std::string(members) + std::string(io::kTarEnd_bytes, '\0');
  }
  [[nodiscard]] fs::path converted(std::string_view form) const {
    Dataset dataset = dataset_;
    for (std::size_t i = 0; i < dataset.samples.size(); ++i) {
      dataset.samples[i].split = i < 8 ? Split::Train : Split::Test;
      dataset.samples[i].patient = fmt::format("{}", i);
    }
    ConvertOptions options{.folder = out_.path() / form, .form = std::string(form)};
    options.shards = form == "png" ? 0 : 2;
    static_cast<void>(convert(dataset, options));
    return options.folder;
  }
  static std::string first_record(const fs::path& shard) {
    std::ifstream file(shard, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const auto places = io::scan_records(std::as_bytes(std::span(bytes)), "shard", io::RecordCheck::Data).or_throw();
    return bytes.substr(0, places.front().begin + places.front().length + io::kFrameTail_bytes);
  }
  static std::string refusal_of_folder(const fs::path& folder) {
    SourceOptions options;
    options.root = folder;
    return refusal(options);
  }
  TestFolder out_;
};

TEST_F(RecordCount, of_tar_is_that_of_the_images_in_the_archive) {
  const TestFolder folder;
  std::string archive;
  for (int i = 0; i < 20; ++i) archive += tar_sample(fmt::format("{:06}", i));
  archive += tar_sample("1.2.840.7") + tar_sample("1.2.840.8", "JPG") + tar_sample("d/a") + tar_sample("000003") +
             io::tar_member("000003.seg.png", "a mask") + tar_sample("b") + io::tar_member(".hidden.png", "x") +
             io::tar_member("c.tiff", "x");
  folder.write("train-0.tar", ended(archive));
  folder.write("train-1.tar", ended(tar_sample("e") + io::tar_member("e.left.png", "x")));
  folder.write("train-2.tar", ended(""));
  expect_all_counted(folder, 30, 25);
}

TEST_F(RecordCount, of_tfrecord_is_that_of_the_records) {
  const TestFolder folder;
  std::string damaged = own(1);
  damaged[damaged.size() - 20] ^= 1;
  folder.write("train-0.tfrecord", own(0) + damaged + own(2));
  folder.write("train-1.tfrecord", own(2) + own(3));
  folder.write("train-2.tfrecord", "");
  expect_all_counted(folder, 5, 4);
}

TEST_F(RecordCount, of_gzipped_files_is_that_of_the_records_in_them) {
  const TestFolder records, archives;
  records.write("train-0.tfrecord.gz", gzipped(own(0) + own(1)));
  records.write("train-1.tfrecord.gz", gzipped(own(1) + own(2)));
  expect_all_counted(records, 4, 3);
  archives.write("train-0.tar.gz", gzipped(ended(tar_sample("a") + tar_sample("b") + io::tar_member("c.tiff", "x"))));
  archives.write("train-1.tgz", gzipped(ended(tar_sample("b") + io::tar_member(".d.png", "x"))));
  expect_all_counted(archives, 5, 2);
}

TEST_F(RecordCount, of_recordio_is_that_of_the_records) {
  const TestFolder folder;
  using io::testing::recordio_header;
  using io::testing::recordio_record;
  std::string records = recordio_record(recordio_header({1.0F}, 0));
  for (std::size_t i = 1; i < 6; ++i) records += recordio_record(recordio_header({1.0F}, i) + image(i));
  folder.write("train.rec", records);
  folder.write("val.rec", "");
  expect_all_counted(folder, 6, 5);
}

TEST_F(RecordCount, of_lmdb_is_that_of_the_keys) {
  const TestFolder folder;
  std::map<std::string, std::string> entries;
  for (std::size_t i = 0; i < 7; ++i) {
    io::ProtobufWriter datum;
    datum.text(4, image(i));
    datum.integer(5, 1);
    datum.integer(7, 1);
    entries[fmt::format("{:08}_{}.png", i, i == 6 ? 5 : i) + (i == 2 ? std::string(1, '\0') : "")] = datum.data();
  }
  folder.write("train_lmdb/data.mdb", io::testing::LmdbWriter::file(entries));
  folder.write("val_lmdb/data.mdb", io::testing::LmdbWriter::file({}));
  expect_all_counted(folder, 7, 6);
}

TEST_F(RecordCount, of_a_conversion_is_held_against_its_convert_json) {
  for (const char* form : {"tar", "tfrecord"}) {
    const fs::path folder = converted(form);
    EXPECT_EQ(refusal_of_folder(folder), "no refusal") << form;
    const fs::path shard = folder / fmt::format("train-00001-of-00002.{}", form);
    // Complete records, zeros, or nothing: in each case the truncated file looks valid.
    const std::string rest = form == std::string("tar") ? ended("") : first_record(shard);
    for (const std::string& cut : {rest, std::string()}) {
      if (cut.empty() && form == std::string("tar")) continue;  // an empty archive is refused anyway
      std::ofstream(shard, std::ios::binary) << cut;
      EXPECT_THAT(refusal_of_folder(folder), HasSubstr("expected 12 images, as stated in convert.json, got ")) << form;
      SourceOptions options;
      options.root = folder;
      options.absent = Absent::Skip;
      EXPECT_THAT(load_dataset(options).notes, Contains(HasSubstr("images listed in convert.json: 12")));
    }
  }
  const fs::path folder = converted("png");
  EXPECT_EQ(refusal_of_folder(folder), "no refusal");
  std::ifstream file(folder / "labels.csv");
  std::string table{std::istreambuf_iterator<char>(file), {}};
  table.resize(table.rfind('\n', table.size() - 2) + 1);
  std::ofstream(folder / "labels.csv") << table;
  EXPECT_THAT(refusal_of_folder(folder), HasSubstr("expected 12 images, as stated in convert.json, got 11"));
}

}  // namespace
}  // namespace roentgen::data
