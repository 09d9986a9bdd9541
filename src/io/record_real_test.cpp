// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// TFRecord files written by TensorFlow and other programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/csv.h"
#include "io/example.h"
#include "io/file.h"
#include "io/io_testing.h"
#include "io/record.h"

namespace roentgen::io {
namespace {

namespace fs = std::filesystem;

fs::path records() { return testing::real_data() / "records"; }

class RealRecords : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::is_directory(records())) GTEST_SKIP() << "NO REAL DATA at " << records() << ": NOTHING TESTED";
  }
};

TEST_F(RealRecords, are_as_many_as_the_index_says) {
  const Csv index = read_csv(records() / "index.csv").or_throw();
  int files = 0;
  for (const auto& row : index.rows) {
    if (!row[0].ends_with(".tfrecord")) continue;
    const auto file = MappedFile::open(records() / row[0]).or_throw();
    EXPECT_EQ(std::to_string(scan_records(file.bytes(), row[0], RecordCheck::Data).or_throw().size()), row[2]);
    ++files;
  }
  EXPECT_EQ(files, 3);
}

TEST_F(RealRecords, of_mnist_hold_an_image_and_a_digit_each) {
  const auto file = MappedFile::open(records() / "tfrecord/mnist.tfrecord").or_throw();
  const auto places = scan_records(file.bytes(), "mnist", RecordCheck::Data).or_throw();
  for (const RecordPlace& place : places) {
    const auto message = file.bytes().subspan(place.begin, place.length);
    const Example example = parse_example(message, "mnist").or_throw();
    int images = 0, digits = 0;
    for (const auto& [name, feature] : example) {
      if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&feature)) {
        digits += integers->size() == 1 && integers->front() >= 0 && integers->front() <= 9;
      }
      if (const auto* floats = std::get_if<std::vector<float>>(&feature)) images += floats->size() == 784;
      if (const auto* bytes = std::get_if<BytesList>(&feature)) images += !bytes->empty();
    }
    ASSERT_GE(images, 1);
    ASSERT_GE(digits, 1);
  }
}

}  // namespace
}  // namespace roentgen::io
