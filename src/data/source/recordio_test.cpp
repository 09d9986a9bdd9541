// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/recordio.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"
#include "data/stage/loader_testing.h"
#include "data/stage/sample_reader.h"
#include "io/recordio_testing.h"

namespace roentgen::data {
namespace {

using io::testing::recordio_header;
using io::testing::recordio_record;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class RecordIoSource : public LoaderTest {
 protected:
  RecordIoSource() : LoaderTest(12) {}

  [[nodiscard]] std::string image(std::size_t i) const {
    std::ifstream file(dataset_.samples.at(i).path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  [[nodiscard]] std::string record(std::size_t i, const std::vector<float>& labels) const {
    return recordio_record(recordio_header(labels, i) + image(i));
  }
  static SourceOptions in(const TestFolder& folder) {
    SourceOptions options;
    options.root = folder.path();
    options.split.unit = SplitUnit::Image;
    return options;
  }
  static Dataset read(std::string_view file) {
    const TestFolder folder;
    folder.write("a.rec", file);
    SourceOptions options = in(folder);
    options.split.mode = SplitMode::Whole;
    return load_dataset(options);
  }
  static std::string refusal(std::string_view file) {
    return message_of<DataError>([&] { static_cast<void>(read(file)); });
  }
};

TEST_F(RecordIoSource, gives_the_batches_of_the_files_it_was_made_of) {
  std::string records[2], names[2];
  for (std::size_t i = 0; i < 12; ++i) {
    records[i < 5 ? 0 : 1] += record(i, dataset_.samples[i].labels);
    names[i < 5 ? 0 : 1] += fmt::format("{}\t0\t{}\n", i, dataset_.samples[i].id);
  }
  const TestFolder folder;
  for (std::size_t file = 0; file < 2; ++file) {
    folder.write(fmt::format("train_{}.rec", file), records[file]);
    folder.write(fmt::format("train_{}.lst", file), names[file]);
  }
  const auto from_files = run(options());
  SourceOptions wanted = in(folder);
  wanted.split.validation = ValidationFrom::None;
  dataset_ = load_dataset(wanted);
  EXPECT_EQ(dataset_.source, "recordio");
  EXPECT_THAT(dataset_.label_names, ElementsAre("label 0", "label 1"));
  EXPECT_EQ(run(options()), from_files);
}

TEST_F(RecordIoSource, has_classes_or_nihs_findings) {
  std::string classes;
  for (std::size_t i = 0; i < 6; ++i) classes += record(i, {static_cast<float>(i % 3)});
  const Dataset dataset = read(classes);
  EXPECT_THAT(dataset.label_names, ElementsAre("class 0", "class 1", "class 2"));
  EXPECT_THAT(dataset.samples[4].labels, ElementsAre(0.0F, 1.0F, 0.0F));
  EXPECT_EQ(dataset.samples[4].id, "a.rec#5");
  std::vector<float> findings(14, 0.0F);
  findings[4] = 1.0F;
  findings[5] = -1.0F;
  findings[6] = std::nanf("");
  const Dataset nih = read(record(0, findings) + record(1, std::vector<float>(14, 0.0F)));
  EXPECT_EQ(nih.label_names[4], "Mass");
  EXPECT_EQ(nih.samples[0].labels[4], 1.0F);
  EXPECT_TRUE(std::isnan(nih.samples[0].labels[5]));
  EXPECT_TRUE(std::isnan(nih.samples[0].labels[6]));
}

TEST_F(RecordIoSource, joins_images_in_parts) {
  // Decoders ignore bytes after a PNG's end. The magic number among them divides the record into parts.
  const std::string header = recordio_header({1.0F}, 0);
  std::string parted = image(0);
  while ((header.size() + parted.size()) % 4 != 0) parted += '\0';
  const std::size_t begin = parted.size();
  parted += io::testing::little_endian(io::testing::kRecordIoMagic) + "tail";
  const TestFolder folder;
  folder.write("a.rec", recordio_record(header + parted) + record(1, {0.0F}));
  SourceOptions wanted = in(folder);
  wanted.split.mode = SplitMode::Whole;
  const Dataset dataset = load_dataset(wanted);
  SampleReader reader;
  const auto bytes = reader.read(dataset.samples[0]).or_throw();
  const auto joined = reader.unpack(dataset.samples[0], bytes).or_throw();
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(joined.data()), joined.size()), parted);
  EXPECT_GT(begin, 0U);
  Sample damaged = dataset.samples[0];
  damaged.stored->length -= 1;
  EXPECT_THAT(reader.unpack(damaged, reader.read(damaged).or_throw()).error(),
              HasSubstr("expected the parts of one record in order"));
}

TEST_F(RecordIoSource, calls_images_as_the_list_beside_does) {
  const TestFolder folder;
  folder.write("test.rec", record(0, {0.0F}) + record(1, {1.0F}) + record(2, {1.0F}));
  folder.write("test.lst", "0\t0\tdir/00000013_005.png\r\n1\t1.0\tb.png\nnonsense\n7\n");
  SourceOptions wanted = in(folder);
  wanted.split.mode = SplitMode::Whole;
  const Dataset dataset = load_dataset(wanted);
  EXPECT_EQ(dataset.samples[0].id, "dir/00000013_005.png");
  EXPECT_EQ(dataset.samples[1].id, "b.png");
  EXPECT_EQ(dataset.samples[2].id, "test.rec#3");
  EXPECT_THAT(dataset.notes,
              Contains("not read, lines of the .lst file that do not begin with a number and a tab: 2 (test.rec)"));
  EXPECT_THAT(dataset.notes, Contains("without a name, records that are not in the .lst file: 1 (test.rec)"));
  folder.write("test.lst", "0\t0\ta.png\n0\t0\tb.png\n");
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(load_dataset(wanted)); }),
              HasSubstr("expected one line for each number in the .lst file, got two for 0"));
}

TEST_F(RecordIoSource, refuses_fewer_records_than_the_index_beside_has) {
  const TestFolder folder;
  folder.write("test.rec", record(0, {0.0F}) + record(1, {1.0F}));
  folder.write("test.idx", "0\t0\n1\t1000\n2\t2000\n");
  SourceOptions wanted = in(folder);
  wanted.split.mode = SplitMode::Whole;
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(load_dataset(wanted)); }),
              HasSubstr("test.rec: expected 3 records, as stated by its .idx file, got 2"));
  folder.write("test.idx", "0\t0\n1\t1000\n");
  EXPECT_EQ(load_dataset(wanted).samples.size(), 2U);
}

TEST_F(RecordIoSource, refuses_what_holds_no_labelled_images) {
  EXPECT_THAT(refusal(record(0, {0.5F})),
              HasSubstr("[data.recordio] a.rec, record 1: expected a class number of at least 0"));
  EXPECT_THAT(refusal(record(0, {-1.0F})), HasSubstr("of at least 0, got -1"));
  EXPECT_THAT(refusal(record(0, {std::nanf("")})), HasSubstr("expected a class"));
  EXPECT_THAT(refusal(record(0, {1.0F, 2.0F})), HasSubstr("labels 1, 0, -1 or nan (unknown), got 2"));
  EXPECT_THAT(refusal(record(0, {1.0F}) + record(1, {1.0F, 0.0F})),
              HasSubstr("the same label names as in earlier records"));
  EXPECT_THAT(refusal(record(0, {1.0F}) + recordio_record(recordio_header({1.0F}, 1))),
              HasSubstr("a.rec, record 2: expected an image after the header, got none"));
  EXPECT_THAT(refusal(recordio_record("short")), HasSubstr("a.rec, record 1: expected a header of 24 bytes"));
  EXPECT_THAT(refusal("no records"), HasSubstr("expected RecordIO's magic"));
  const Dataset dataset =
      read(recordio_record(recordio_header({2.0F, 4.0F}, 0)) + record(0, {1.0F}) + record(1, {0.0F}));
  EXPECT_EQ(dataset.samples.size(), 2U);
  EXPECT_THAT(dataset.notes, Contains("left out, first records without an image: 1 (a.rec)"));
}

}  // namespace
}  // namespace roentgen::data
