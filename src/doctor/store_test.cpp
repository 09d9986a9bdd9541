// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "doctor/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "core/error.h"
#include "core/folder_testing.h"
#include "data/stage/storage.h"

namespace roentgen::doctor {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Data set of 8 files of 1,000 bytes.
class Store : public testing::Test {
 protected:
  Store() {
    for (int i = 0; i < 8; ++i) {
      data::Sample sample;
      sample.id = std::to_string(i) + ".png";
      sample.path = folder_.path() / sample.id;
      std::ofstream(sample.path) << std::string(1000, 'x');
      dataset_.samples.push_back(sample);
    }
  }
  TemporaryFolder folder_;
  data::Dataset dataset_;
};

TEST_F(Store, limit_of_opens_is_measured) {
  data::EmulatedStorage storage({.opens_per_s = 200.0});
  const StoreSpeed speed = measure_store(dataset_, {.most_readers = 4, .point_s = 0.5, .storage = &storage});
  EXPECT_EQ(speed.image_bytes, 1000.0);
  EXPECT_EQ(speed.opens_per_image, 1.0);
  ASSERT_EQ(speed.points.size(), 3U) << "1, 2 and 4 readers";
  // The emulated storage never opens faster, but for the first file of each point. A busy machine can only be slower.
  for (const StorePoint& point : speed.points) EXPECT_LE(point.images_per_s, 200.0 + 4.0 / 0.5);
  EXPECT_GT(speed.best().images_per_s, 20.0);
  EXPECT_DOUBLE_EQ(speed.best().bytes_per_s, 1000.0 * speed.best().images_per_s);
}

TEST_F(Store, latency_is_hidden_by_readers) {
  data::EmulatedStorage storage({.open_s = 0.02});
  const StoreSpeed speed = measure_store(dataset_, {.most_readers = 6, .point_s = 0.3, .storage = &storage});
  EXPECT_EQ(speed.points.back().readers, 6);
  EXPECT_LE(speed.points.front().images_per_s, 50.0 + 1e-9) << "one reader waits 20 ms for each file";
  EXPECT_LE(speed.points.back().images_per_s, 300.0 + 1e-9);
  EXPECT_GT(speed.points.back().images_per_s, speed.points.front().images_per_s);
}

TEST_F(Store, that_cannot_be_read_is_refused) {
  std::filesystem::remove(dataset_.samples[3].path);
  EXPECT_THROW(static_cast<void>(measure_store(dataset_, {.most_readers = 2, .point_s = 0.1})), DataError);
  EXPECT_THROW(static_cast<void>(measure_store({}, {})), ConfigError);
}

TEST(StoreRemedies, fit_what_is_slow) {
  const InputSpeed slow_store{.storage_per_s = 10.0, .decode_per_s = 1000.0};
  EXPECT_EQ(slow_store.predicted_per_s(), 10.0);
  EXPECT_THAT(store_remedies(slow_store, 9.0, "lustre", true), IsEmpty());
  EXPECT_THAT(store_remedies(slow_store, 100.0, "lustre", true), Contains(HasSubstr("lfs setstripe -c 1 ")));
  EXPECT_THAT(store_remedies(slow_store, 100.0, "lustre", false), Contains(HasSubstr("lfs setstripe -c -1 ")));
  EXPECT_THAT(store_remedies(slow_store, 100.0, "nfs4", true), Not(Contains(HasSubstr("setstripe"))));
  EXPECT_THAT(store_remedies(slow_store, 100.0, "nfs4", true), Not(Contains(HasSubstr("decod"))));
  const InputSpeed slow_decode{.storage_per_s = 1000.0, .decode_per_s = 10.0};
  EXPECT_THAT(store_remedies(slow_decode, 100.0, "lustre", true), Contains(HasSubstr("decoded once")));
  EXPECT_THAT(store_remedies(slow_decode, 100.0, "lustre", true), Not(Contains(HasSubstr("setstripe"))));
}

}  // namespace
}  // namespace roentgen::doctor
