// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/same_images.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "train/ranks_testing.h"

namespace roentgen::train {
namespace {

using testing::HasSubstr;

/// Runs two ranks with four images each; rank 1 may get changed images.
class SameImages : public testing::Test {
 protected:
  using Change = std::function<void(data::Dataset& dataset)>;

  // Returns the exceptions of the two ranks; null if a rank threw none.
  std::vector<std::exception_ptr> compare(const Change& change) {
    return as_ranks(2, [&](dist::CommThread& comm) {
      data::Dataset dataset = make(comm.rank());
      if (comm.rank() == 1) change(dataset);
      std::vector<std::uint32_t> samples(4);
      std::iota(samples.begin(), samples.end(), 0U);
      require_same_images(Ranks(&comm), dataset, samples);
    });
  }
  void expect_refused(const Change& change, const std::string& text) {
    for (const auto& error : compare(change)) EXPECT_THAT(text_of(error), HasSubstr(text));
  }

 private:
  data::Dataset make(int rank) {
    data::Dataset dataset;
    dataset.label_names = {"Mass", "Nodule"};
    for (int i = 0; i < 4; ++i) {
      const std::string id = "image" + std::to_string(i) + ".png";
      const std::string file = "rank" + std::to_string(rank) + "/" + id;
      folder_.write(file, std::string(20'000, static_cast<char>('a' + i)));
      dataset.samples.push_back({.id = id,
                                 .path = folder_.path() / file,
                                 .patient = "p" + std::to_string(i),
                                 .split = data::Split::Train,
                                 .labels = {1.0F, std::numeric_limits<float>::quiet_NaN()}});
    }
    return dataset;
  }

  data::TestFolder folder_;
};

TEST_F(SameImages, may_lie_in_other_folders) {
  expect_none(compare([](data::Dataset&) {}));
}

TEST_F(SameImages, have_the_same_labels) {
  expect_refused(
      [](data::Dataset& dataset) {
        dataset.samples[2].labels = {0.0F, 1.0F};
      },
      "image 3 on rank 1, image2.png: expected Mass 1, as on rank 0, got Mass 0; try the same --data on all hosts");
  expect_refused([](data::Dataset& dataset) { dataset.samples[3].labels[1] = 0.0F; },
                 "image 4 on rank 1, image3.png: expected Nodule unknown, as on rank 0, got Nodule 0");
}

TEST_F(SameImages, come_in_the_same_order_and_number) {
  expect_refused([](data::Dataset& dataset) { std::swap(dataset.samples[0], dataset.samples[1]); },
                 "image 1 on rank 1: expected image0.png, as on rank 0, got image1.png");
  expect_refused([](data::Dataset& dataset) { dataset.samples.push_back(dataset.samples.front()); },
                 "image 5 on rank 1: expected no such image, as on rank 0, got image0.png");
}

TEST_F(SameImages, have_the_same_patients_and_name_none) {
  expect_refused([](data::Dataset& dataset) { dataset.samples[1].patient = "secret"; },
                 "image 2 on rank 1, image1.png: expected the same patient, as on rank 0, got another patient");
  for (const auto& error : compare([](data::Dataset& dataset) { dataset.samples[1].patient = "secret"; })) {
    EXPECT_THAT(text_of(error), testing::Not(HasSubstr("secret")));
  }
}

TEST_F(SameImages, have_the_same_bytes) {
  expect_refused([](data::Dataset& dataset) { std::swap(dataset.samples[1].path, dataset.samples[3].path); },
                 "image 2 on rank 1, image1.png: expected the same file, as on rank 0, got another file of this name");
}

TEST_F(SameImages, of_records_are_compared_by_their_part_of_the_file) {
  const auto at = [](std::uint64_t begin) {
    return [begin](data::Dataset& dataset) { dataset.samples[1].stored = {.begin = begin, .length = 20'000 - begin}; };
  };
  expect_none(compare(at(0)));
  expect_refused(at(10), "image 2 on rank 1, image1.png: expected the same file");
}

}  // namespace
}  // namespace roentgen::train
