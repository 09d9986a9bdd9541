// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/lmdb.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"
#include "data/stage/loader_testing.h"
#include "data/stage/sample_reader.h"
#include "io/lmdb_testing.h"
#include "io/protobuf.h"

namespace roentgen::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Entries = std::map<std::string, std::string>;

class LmdbSource : public LoaderTest {
 protected:
  LmdbSource() : LoaderTest(12) {}

  [[nodiscard]] std::string encoded(std::size_t i, std::int64_t label) const {
    std::ifstream file(dataset_.samples.at(i).path, std::ios::binary);
    const std::string image{std::istreambuf_iterator<char>(file), {}};
    io::ProtobufWriter datum;
    datum.text(4, image);
    datum.integer(5, label);
    datum.integer(7, 1);
    return datum.data();
  }
  static std::string raw(std::int64_t channels, std::int64_t height, std::int64_t width, std::string_view data) {
    io::ProtobufWriter datum;
    datum.integer(1, channels);
    datum.integer(2, height);
    datum.integer(3, width);
    datum.text(4, data);
    datum.integer(5, 1);
    return datum.data();
  }
  static SourceOptions in(const TestFolder& folder) {
    SourceOptions options;
    options.root = folder.path();
    options.split.unit = SplitUnit::Image;
    return options;
  }
  static std::string refusal(const Entries& entries) {
    const TestFolder folder;
    folder.write("data.mdb", io::testing::LmdbWriter::file(entries));
    return message_of<DataError>([&] { static_cast<void>(load_dataset(in(folder))); });
  }
};

TEST_F(LmdbSource, gives_the_batches_of_the_files_it_was_made_of) {
  Entries train, val;
  for (std::size_t i = 0; i < 12; ++i) {
    (i < 8 ? train : val)[fmt::format("{:08}_{}.png", i, i)] = encoded(i, static_cast<std::int64_t>(i % 2));
    dataset_.samples[i].labels = {i % 2 == 0 ? 1.0F : 0.0F, i % 2 == 0 ? 0.0F : 1.0F};
  }
  const TestFolder folder;
  folder.write("train_lmdb/data.mdb", io::testing::LmdbWriter::file(train));
  folder.write("val_lmdb/data.mdb", io::testing::LmdbWriter::file(val));
  folder.write("other/notes.txt", "none");
  const auto from_files = run(options());
  dataset_ = load_dataset(in(folder));
  EXPECT_EQ(dataset_.source, "lmdb");
  EXPECT_EQ(dataset_.samples[3].id, "3.png");
  EXPECT_EQ(dataset_.summary(Split::Train).images, 8);
  EXPECT_EQ(dataset_.summary(Split::Val).images, 4);
  EXPECT_THAT(dataset_.label_names, ElementsAre("class 0", "class 1"));
  EXPECT_EQ(run(options()), from_files);
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "train_lmdb/lock.mdb"));
}

TEST_F(LmdbSource, holds_raw_pixels_gray_and_blue_first) {
  const TestFolder folder;
  folder.write("data.mdb", io::testing::LmdbWriter::file(
                               {{"a", raw(1, 2, 3, "abcdef")}, {std::string("\x01\x00", 2), raw(3, 1, 2, "BbGgRr")}}));
  SourceOptions wanted = in(folder);
  wanted.split.mode = SplitMode::Whole;
  const Dataset dataset = load_dataset(wanted);
  const auto pixels = [&](std::size_t i) {
    SampleReader reader;
    Image image;
    static_cast<void>(reader.load(dataset.samples.at(i), Channels::FromFile, image).or_throw());
    return std::string(reinterpret_cast<const char*>(image.bytes().data()), image.bytes().size());
  };
  EXPECT_EQ(dataset.samples[0].id, "data.mdb#1") << "a key that cannot be printed";
  EXPECT_EQ(pixels(0), "RGBrgb");
  EXPECT_EQ(dataset.samples[1].id, "a");
  EXPECT_EQ(pixels(1), "abcdef");
}

TEST_F(LmdbSource, tells_of_fields_that_it_does_not_read) {
  const TestFolder folder;
  io::ProtobufWriter patient;
  patient.integer(8, 12);
  folder.write("data.mdb",
               io::testing::LmdbWriter::file({{"a.png", encoded(0, 0) + patient.data()}, {"b.png", encoded(1, 1)}}));
  SourceOptions options = in(folder);
  options.split.mode = SplitMode::Whole;
  EXPECT_THAT(load_dataset(options).notes,
              testing::Contains(HasSubstr("ignored, record fields that Caffe's Datum does not have: 1")));
}

TEST_F(LmdbSource, refuses_what_holds_no_images) {
  EXPECT_THAT(refusal({{"0", "a"}}),
              HasSubstr("[data.lmdb] data.mdb, record 1: expected an image record in Caffe's Datum format, got other"));
  EXPECT_THAT(refusal({{"0", raw(1, 2, 3, "abcde")}}), HasSubstr("got 5 bytes, 3x2, 1 channels"));
  EXPECT_THAT(refusal({{"0", raw(2, 1, 1, "ab")}}), HasSubstr("channels (1 or 3) say, got 2 bytes, 1x1, 2 channels"));
  EXPECT_THAT(refusal({{"0", raw(1, -2, -3, "abcdef")}}), HasSubstr("got 6 bytes, -3x-2"));
  EXPECT_THAT(refusal({{"0", raw(3, std::int64_t{1} << 40, std::int64_t{1} << 40, "ab")}}), HasSubstr("got 2 bytes"));
  io::ProtobufWriter floats;
  floats.number(6, 1.0F);
  EXPECT_THAT(refusal({{"0", floats.data()}}),
              HasSubstr("expected 8-bit pixels or an image file, got floating-point pixels (float_data)"));
  io::ProtobufWriter nothing;
  nothing.integer(7, 1);
  EXPECT_THAT(refusal({{"0", nothing.data()}}), HasSubstr("expected an image file in the record, got none"));
  EXPECT_THAT(refusal({}), HasSubstr("expected a record, got an empty file"));
  const TestFolder folder;
  folder.write("data.mdb", "nothing");
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(load_dataset(in(folder))); }),
              HasSubstr("[io.lmdb] data.mdb: expected an LMDB database"));
}

}  // namespace
}  // namespace roentgen::data
