// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TFRecord files that are gzipped or damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "data/source/dataset.h"
#include "data/source/tfrecord_testing.h"
#include "data/stage/sample_reader.h"

namespace roentgen::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(TfRecord, is_unpacked_into_the_cache_folder) {
  const TestFolder folder;
  folder.write("train-00000-of-00002.gz", gzipped(own(0) + own(1)));
  folder.write("train-00001-of-00002", gzipped(own(2) + own(3)));
  folder.write("test-00000-of-00001.tfrecord.gz", gzipped(own(8) + own(9)));
  SourceOptions wanted = in(folder);
  wanted.split.validation = ValidationFrom::None;
  const Dataset dataset = load_dataset(wanted);
  ASSERT_EQ(dataset.samples.size(), 6U);
  EXPECT_EQ(dataset.summary(Split::Train).images, 4);
  EXPECT_THAT(dataset.notes, testing::Contains("3 gzipped record files, unpacked into the cache folder"));
  SampleReader reader;
  Image image;
  for (const Sample& sample : dataset.samples) {
    EXPECT_TRUE(sample.path.string().starts_with(cache_.path().string())) << sample.path;
    EXPECT_TRUE(reader.load(sample, Channels::Gray, image));
  }
}

TEST_F(TfRecord, takes_damaged_records_for_corrupt_images) {
  const TestFolder folder;
  std::string damaged = own(1);
  damaged[20] = '\x7f';  // invalid features
  std::string names = own(2);
  names[names.find("even")] = 'E';
  folder.write("train-0.tfrecord", damaged + own(0) + names + own(3) + own(4));
  SourceOptions wanted = in(folder);
  wanted.split.validation = ValidationFrom::None;
  const Dataset dataset = load_dataset(wanted);
  ASSERT_EQ(dataset.samples.size(), 5U);
  EXPECT_THAT(dataset.label_names, ElementsAre("even", "odd"));
  EXPECT_EQ(dataset.samples[0].id, "train-0.tfrecord#1");
  EXPECT_TRUE(std::isnan(dataset.samples[0].labels[0]));
  EXPECT_EQ(dataset.samples[0].split, Split::Train);
  EXPECT_EQ(dataset.samples[2].id, "train-0.tfrecord#3");
  EXPECT_THAT(dataset.notes,
              testing::Contains("damaged records, counted as corrupt images: 2 (train-0.tfrecord, record 1, "
                                "train-0.tfrecord, record 3)"));
  SampleReader reader;
  Image image;
  EXPECT_THAT(reader.load(dataset.samples[0], Channels::Gray, image).error(),
              HasSubstr("expected a record with a valid checksum"));
  EXPECT_TRUE(reader.load(dataset.samples[1], Channels::Gray, image));
  folder.write("train-0.tfrecord", own(0));
  folder.write("more.tfrecord", damaged + own(3));
  EXPECT_THAT(refusal(wanted), HasSubstr("more.tfrecord, record 1: expected")) << "of no known split";
  wanted.split.mode = SplitMode::Whole;
  EXPECT_EQ(load_dataset(wanted).samples.size(), 3U);
  folder.write("train-0.tfrecord", damaged);
  std::filesystem::remove(folder.path() / "more.tfrecord");
  EXPECT_THAT(refusal(wanted), HasSubstr("expected a record, got only damaged records"));
}

}  // namespace
}  // namespace roentgen::data
