// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Record files and class folders from other programs. Expected values come from Python's tarfile and Pillow, and from
// the tables next to the files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.h"
#include "data/codec/sha1_testing.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"
#include "data/source/unpacked.h"
#include "data/stage/sample_reader.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/gzip.h"
#include "io/lmdb.h"
#include "io/record.h"

namespace roentgen::data {
namespace {

using testing::ElementsAre;

class RecordReal : public RealDataTest {
 protected:
  static Dataset whole(const std::filesystem::path& root, std::string_view source) {
    SourceOptions options;
    options.root = root;
    options.source = source;
    options.split.mode = SplitMode::Whole;
    return load_dataset(options);
  }
  static std::string pixels_of(const Sample& sample) {
    SampleReader reader;
    Image image;
    const Status status = reader.load(sample, Channels::FromFile, image);
    return status.ok() ? sha1_hex(image.bytes()) : status.error();
  }
};

TEST_F(RecordReal, webdatasets_sample_has_90_digits) {
  const TestFolder folder;
  const auto packed = io::read_text(real_data() / "records/webdataset/sample.tgz").or_throw();
  folder.write("sample.tar", io::gunzip(packed, std::size_t{1} << 24, "sample.tgz").or_throw());
  const Dataset dataset = whole(folder.path(), "auto");
  EXPECT_EQ(dataset.source, "tar");
  ASSERT_EQ(dataset.samples.size(), 90U);
  std::vector<std::int64_t> positives;
  for (const LabelCounts& counts : dataset.summary(Split::Test).labels) positives.push_back(counts.positives);
  EXPECT_THAT(positives, ElementsAre(7, 12, 7, 11, 12, 6, 10, 14, 2, 9));
  EXPECT_EQ(dataset.label_names.at(4), "class 4");
  const auto sample = std::ranges::find(dataset.samples, "10.png", &Sample::id);
  ASSERT_NE(sample, dataset.samples.end());
  EXPECT_EQ(sample->labels.front(), 1.0F);
  EXPECT_EQ(pixels_of(*sample), "fe48dba59d31e0116691d645358a55312db5ec2d");
  for (const Sample& one : dataset.samples) EXPECT_EQ(pixels_of(one).size(), 40U) << one.id;
}

TEST_F(RecordReal, gzipped_tfrecords_are_as_many_as_the_index_says) {
  const TestFolder cache;
  const auto index = io::read_csv(real_data() / "records/index.csv").or_throw();
  int files = 0;
  for (const auto& row : index.rows) {
    if (!row[0].starts_with("tfrecord/") || !row[0].ends_with(".gz")) continue;
    const auto file = io::MappedFile::open(unpacked(real_data() / "records" / row[0], cache.path())).or_throw();
    EXPECT_EQ(std::to_string(io::scan_records(file.bytes(), row[0], io::RecordCheck::Data).or_throw().size()), row[2]);
    ++files;
  }
  EXPECT_EQ(files, 4);
}

TEST_F(RecordReal, lmdb_has_ten_letters_and_no_images) {
  const auto file = io::MappedFile::open(real_data() / "records/lmdb/data.mdb").or_throw();
  std::string keys, values;
  for (const auto& [key, begin, length] : io::scan_lmdb(file.bytes(), "data.mdb").or_throw()) {
    keys += key;
    const auto value = file.bytes().subspan(begin, length);
    values.append(reinterpret_cast<const char*>(value.data()), value.size());
  }
  EXPECT_EQ(keys, "0123456789");
  EXPECT_EQ(values, "abcdefghij");
  EXPECT_THAT(message_of<DataError>([] { static_cast<void>(whole(real_data() / "records/lmdb", "auto")); }),
              testing::HasSubstr("[data.lmdb] data.mdb, record 1: expected an image record in Caffe's Datum"));
}

TEST_F(RecordReal, jpeg_folder_has_the_classes_of_its_table) {
  const auto table = io::read_csv(real_data() / "jpeg_folder/labels.csv").or_throw();
  const Dataset dataset = whole(real_data() / "jpeg_folder", "class_folders");
  EXPECT_EQ(dataset.samples.size(), table.rows.size());
  for (const auto& row : table.rows) {
    const auto sample = std::ranges::find(dataset.samples, row[0], &Sample::id);
    ASSERT_NE(sample, dataset.samples.end()) << row[0];
    const auto label = std::ranges::find(dataset.label_names, row[1]) - dataset.label_names.begin();
    EXPECT_EQ(sample->labels.at(static_cast<std::size_t>(label)), 1.0F);
    EXPECT_EQ(std::ranges::count(sample->labels, 1.0F), 1);
  }
}

}  // namespace
}  // namespace roentgen::data
