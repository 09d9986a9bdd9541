// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Unreadable files: replaced and counted in training, refused in evaluation.
#include "core/error.h"
#include "data/stage/image_cache.h"
#include "data/stage/loader_testing.h"
#include "io/csv.h"
#include "io/file.h"

namespace roentgen::data {
namespace {

using testing::HasSubstr;

TEST_F(LoaderTest, replaces_corrupt_samples_the_same_way_with_any_number_of_workers) {
  damage(3);
  damage(11, "");
  auto wanted = options();
  wanted.max_bad_share = 0.1;
  wanted.workers = 1;
  const auto one = run(wanted);
  ASSERT_EQ(one.size(), 8U);
  for (const auto& batch : one) {
    EXPECT_THAT(batch.samples, testing::Not(testing::Contains(3U)));
    EXPECT_THAT(batch.samples, testing::Not(testing::Contains(11U)));
    EXPECT_EQ(batch.samples.size(), 5U);
  }
  wanted.workers = 8;
  EXPECT_EQ(run(wanted), one);
}

TEST_F(LoaderTest, writes_each_corrupt_sample_once_to_the_quarantine) {
  damage(3);
  damage(11);
  auto wanted = options();
  wanted.epochs = 3;
  wanted.max_bad_share = 0.1;
  wanted.shard = {.batch = 23, .tail = Tail::Drop};
  wanted.quarantine = folder_.path() / "quarantine.csv";
  EXPECT_EQ(run(wanted).size(), 3U);
  const auto table = io::read_csv(wanted.quarantine).or_throw();
  EXPECT_THAT(table.header, testing::ElementsAre("image", "epoch", "reason"));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_THAT((std::vector<std::string>{table.rows[0][0], table.rows[1][0]}),
              testing::UnorderedElementsAre("3.png", "11.png"));
  EXPECT_THAT(table.rows[0][2], HasSubstr("[data."));
}

TEST_F(LoaderTest, stops_beyond_the_share_of_corrupt_samples) {
  damage(3);
  damage(11);
  damage(12);
  auto wanted = options();
  wanted.max_bad_share = 0.1;  // allows 2 of 23 samples
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(run(wanted)); }),
              testing::AllOf(HasSubstr("[data.loader] corrupt images: expected at most 10% of the images, got 3 of 23"),
                             HasSubstr("11.png"), HasSubstr("train.max_bad=0.14")));
}

TEST_F(LoaderTest, counts_the_corrupt_samples_known_from_before) {
  damage(3);
  auto wanted = options();
  wanted.max_bad_share = 0.1;  // allows 2 of 23 samples
  wanted.known_bad = {12, 3};
  Slots slots = slots_for(wanted);
  Loader loader(dataset_, everything(), wanted, slots.all());
  EXPECT_EQ(loader.stats().bad, 2);
  while (const auto batch = loader.next()) loader.release(batch->slot);
  EXPECT_THAT(loader.bad_samples(), testing::ElementsAre(3U, 12U)) << "one that is met again counts once";
  damage(11);
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(run(wanted)); }),
              testing::AllOf(HasSubstr("expected at most 10% of the images, got 3 of 23"), HasSubstr("11.png")));
}

TEST_F(LoaderTest, bears_no_corrupt_sample_in_evaluation) {
  damage(7);
  const auto wanted = options(LoadMode::Evaluation);
  Slots slots = slots_for(wanted);
  Loader loader(dataset_, everything(), wanted, slots.all());
  loader.release(loader.next()->slot);
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(loader.next()); }),
              testing::AllOf(HasSubstr("evaluation reads every image"), HasSubstr("7.png")));
  EXPECT_FALSE(loader.next().has_value());
}

TEST_F(LoaderTest, treats_absent_files_folders_and_truncation_as_corrupt) {
  const auto refusal = [&] {
    return message_of<DataError>([&] { static_cast<void>(run(options(LoadMode::Evaluation))); });
  };
  const auto path = folder_.path() / "0.png";
  const auto bytes = io::read_file(path).or_throw();
  damage(0, std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size() / 2));
  EXPECT_THAT(refusal(), HasSubstr("0.png"));
  std::filesystem::remove(path);
  EXPECT_THAT(refusal(), HasSubstr("No such file"));
  std::filesystem::create_directory(path);
  EXPECT_THAT(refusal(), HasSubstr("a folder"));
}

TEST_F(LoaderTest, gives_up_when_nothing_is_readable) {
  for (int i = 0; i < 23; ++i) damage(i);
  auto wanted = options();
  wanted.max_bad_share = 1.0;
  EXPECT_THAT(message_of<DataError>([&] { static_cast<void>(run(wanted)); }), HasSubstr("100 corrupt images in a row"));
}

TEST_F(LoaderTest, carries_a_workers_exception_to_next) {
  ImageCache too_small(4, 1000);  // sample 4 does not exist, an error of the caller that a worker detects
  auto wanted = options(LoadMode::Evaluation);
  wanted.cache = &too_small;
  Slots slots = slots_for(wanted);
  Loader loader(dataset_, everything(), wanted, slots.all());
  EXPECT_THROW(static_cast<void>(loader.next()), std::out_of_range);
}

}  // namespace
}  // namespace roentgen::data
