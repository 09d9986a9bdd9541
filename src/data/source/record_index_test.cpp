// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/record_index.h"

#include <cmath>
#include <fstream>

#include "data/source/record_listing.h"
#include "data/source/tfrecord_testing.h"

namespace roentgen::data {
namespace {

namespace fs = std::filesystem;

RecordIndex example() {
  const StoredImage raw{.begin = 12,
                        .length = 34,
                        .image_begin = 5,
                        .image_length = 6,
                        .framing = Framing::RecordIoParts,
                        .raw = ImageLayout{.width_px = 3, .height_px = 2, .channels = 1, .bits = 16, .max_value = 4095},
                        .order = PixelOrder::PlanarBgr};
  return {.records = {{.number = 1,
                       .sample = {.id = "00000001_000.png",
                                  .stored = raw,
                                  .patient = "1",
                                  .split = Split::Test,
                                  .view = "PA",
                                  .sex = "F",
                                  .age_years = 63.5F},
                       .labels = NamedLabels{.names = {"Mass", "Edema"}, .values = {1, -1}}},
                      {.number = 2,
                       .sample = {.id = "a", .stored = StoredImage{.length = 1}},
                       .labels = NamedLabels{.names = {"Mass", "Edema"}, .values = {0, 0}}},
                      {.number = 3,
                       .sample = {.id = "b", .stored = StoredImage{.length = 1}},
                       .labels = FoundLabels{.names = {"Nodule"}}},
                      {.number = 4,
                       .sample = {.stored = StoredImage{.length = 1}},
                       .labels = ClassLabel{.number = 7, .name = "crane"}}},
          .notes = {"a line", ""},
          .left_out = {{.what = "left out, files .tiff", .where = "a.tar"}},
          .absent = {{.what = "a.tar, 000017", .where = "a.tar"}},
          .given_splits = "image/split in the record files"};
}

TEST(RecordIndex, comes_back_as_it_was) {
  const auto read = decode_record_index(encode_record_index(example()));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->notes, example().notes);
  EXPECT_EQ(read->given_splits, example().given_splits);
  EXPECT_EQ(read->left_out.at(0).what, "left out, files .tiff");
  EXPECT_EQ(read->absent.at(0).what, "a.tar, 000017");
  ASSERT_EQ(read->records.size(), 4U);
  EXPECT_EQ(encode_record_index(*read), encode_record_index(example()));
  const IndexedRecord& first = read->records.front();
  EXPECT_EQ(first.sample.id, "00000001_000.png");
  EXPECT_EQ(first.sample.split, Split::Test);
  EXPECT_EQ(first.sample.age_years, 63.5F);
  EXPECT_EQ(first.sample.stored->raw->max_value, 4095U);
  EXPECT_EQ(first.sample.stored->order, PixelOrder::PlanarBgr);
  EXPECT_EQ(std::get<NamedLabels>(first.labels), (NamedLabels{.names = {"Mass", "Edema"}, .values = {1, -1}}));
  EXPECT_TRUE(std::isnan(read->records[1].sample.age_years));
  EXPECT_EQ(std::get<NamedLabels>(read->records[1].labels),
            (NamedLabels{.names = {"Mass", "Edema"}, .values = {0, 0}}));
  EXPECT_EQ(std::get<ClassLabel>(read->records[3].labels), (ClassLabel{.number = 7, .name = "crane"}));
}

TEST(RecordIndex, that_is_cut_short_or_changed_anywhere_is_none) {
  const std::string whole = encode_record_index(example());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(decode_record_index(whole.substr(0, size))) << size;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    EXPECT_FALSE(decode_record_index(damaged)) << at;
  }
  EXPECT_FALSE(decode_record_index(whole + '\0'));
}

class RecordIndexCase : public TfRecord {
 protected:
  static constexpr std::size_t kRecords = RecordListing::kLong + 10;

  static std::string record(std::size_t i, const char* sex = "F") {
    io::ExampleWriter example;
    example.text("image/encoded", "no image, nobody looks");
    example.text("image/filename", fmt::format("{}.png", i));
    example.texts("image/label_names", std::vector<std::string>{"Mass", "Edema"});
    example.integers("image/label", std::vector<std::int64_t>{i % 2 == 0 ? 1 : 0, i % 3 == 0 ? 1 : -1});
    example.text("image/patient", fmt::format("p{}", i / 2));
    example.text("image/split", i / 2 % 5 == 0 ? "test" : "train");
    example.text("image/sex", sex);
    return frame(example);
  }
  fs::path write(const char* sex = "F") {
    std::string bytes;
    for (std::size_t i = 0; i < kRecords; ++i) bytes += record(i, sex);
    return records_.write("all.tfrecord", bytes);
  }
  [[nodiscard]] Dataset load() const { return load_dataset({.root = records_.path()}); }
  /// Index files in the cache folder.
  [[nodiscard]] std::vector<fs::path> kept() const {
    std::vector<fs::path> files;
    if (!fs::exists(cache_.path() / "roentgen/records")) return files;
    for (const auto& entry : fs::directory_iterator(cache_.path() / "roentgen/records")) files.push_back(entry.path());
    return files;
  }
  static void expect_same(const Dataset& one, const Dataset& other) {
    ASSERT_EQ(one.samples.size(), other.samples.size());
    EXPECT_EQ(one.label_names, other.label_names);
    EXPECT_EQ(one.csv_sha256, other.csv_sha256);
    EXPECT_EQ(one.notes, other.notes);
    EXPECT_EQ(one.split_origin, other.split_origin);
    for (std::size_t i = 0; i < one.samples.size(); ++i) {
      const Sample &a = one.samples[i], &b = other.samples[i];
      EXPECT_EQ(a.id, b.id);
      EXPECT_EQ(a.path, b.path);
      EXPECT_EQ(a.stored->image_begin, b.stored->image_begin);
      EXPECT_EQ(a.patient + a.sex, b.patient + b.sex);
      EXPECT_EQ(a.split, b.split);
      EXPECT_EQ(io::fast_hash(std::as_bytes(std::span(a.labels))), io::fast_hash(std::as_bytes(std::span(b.labels))));
    }
  }

  TestFolder records_;
};

TEST_F(RecordIndexCase, spares_reading_the_records_again) {
  write();
  const Dataset first = load();
  ASSERT_EQ(kept().size(), 1U);
  // Changes the stored index, so that the changed value proves that it was used.
  auto index = find_record_index(kept().front());
  for (IndexedRecord& record : index->records) record.sample.sex = "X";
  keep_record_index(kept().front(), *index);
  EXPECT_EQ(load().samples.front().sex, "X");
}

TEST_F(RecordIndexCase, is_made_anew_where_another_file_has_the_times_of_the_old_one) {
  const fs::path file = write();
  EXPECT_EQ(load().samples.front().sex, "F");
  const auto changed = fs::last_write_time(file);
  const auto size = fs::file_size(file);
  write("M");
  fs::last_write_time(file, changed);  // cp -p and rsync also keep the time
  EXPECT_EQ(fs::file_size(file), size);
  EXPECT_EQ(load().samples.front().sex, "M");
}

TEST_F(RecordIndexCase, is_made_anew_for_a_file_that_has_changed) {
  const fs::path file = write();
  EXPECT_EQ(load().samples.front().sex, "F");
  const auto changed = fs::last_write_time(file);
  write("M");
  fs::last_write_time(file, changed + std::chrono::seconds(1));
  EXPECT_EQ(load().samples.front().sex, "M");
  EXPECT_EQ(load().samples.front().sex, "M");
  EXPECT_EQ(kept().size(), 2U);
}

TEST_F(RecordIndexCase, that_is_damaged_is_made_again) {
  write();
  const Dataset first = load();
  const fs::path index = kept().front();
  std::ofstream(index, std::ios::binary | std::ios::in | std::ios::out).seekp(100) << "damage";
  expect_same(first, load());
  EXPECT_TRUE(find_record_index(index)) << "whole again";
  std::ofstream(index, std::ios::binary) << "";
  expect_same(first, load());
}

TEST_F(RecordIndexCase, is_not_kept_of_a_few_records_nor_of_damaged_ones) {
  records_.write("train-few.tfrecord", record(1) + record(2));
  std::string bytes;
  for (std::size_t i = 10; i < 10 + kRecords; ++i) bytes += record(i);
  bytes[bytes.size() - record(10 + kRecords - 1).size() + 14] ^= 0x7f;  // a length in the last record
  records_.write("train-damaged.tfrecord", bytes);
  const Dataset dataset = load_dataset({.root = records_.path(), .split = {.mode = SplitMode::Whole}});
  EXPECT_EQ(dataset.samples.size(), kRecords + 2);
  EXPECT_TRUE(kept().empty());
}

TEST_F(RecordIndexCase, beside_records_of_another_kind_those_are_named) {
  write();
  records_.write("more.rec", "something");
  EXPECT_THAT(load().notes, testing::Contains(testing::HasSubstr("not read, although also in this folder: *.rec")));
  EXPECT_THAT(load_dataset({.root = records_.path(), .source = "tfrecord"}).notes,
              testing::Not(testing::Contains(testing::HasSubstr("not read"))));
}

TEST_F(RecordIndexCase, that_cannot_be_kept_is_no_failure) {
  std::ofstream(cache_.path() / "roentgen") << "a file where the folder is to be";
  write();
  EXPECT_EQ(load().samples.size(), kRecords);
}

}  // namespace
}  // namespace roentgen::data
