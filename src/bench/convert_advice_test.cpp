// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/convert_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace roentgen::bench {
namespace {

using testing::HasSubstr;

// 100 images: an epoch takes 10 s from files and 4 s from records. Converting takes 90 s.
constexpr FormatSpeed kSpeed{.convert_s = 90.0, .files_images_per_s = 10.0, .images_per_s = 25.0};

TEST(PlannedTime, counts_every_training_and_every_conversion) {
  const PlannedTime time = planned_time(100, kSpeed, {.trainings = 4, .changes = 2, .epochs = 5});
  EXPECT_DOUBLE_EQ(time.files_s, 4 * 5 * 10.0);
  EXPECT_DOUBLE_EQ(time.records_s, 3 * 90.0 + 4 * 5 * 4.0);
  // A training of 5 epochs wins 30 s, so three conversions of 90 s are won back within the 10th training.
  EXPECT_EQ(time.least_trainings, 10);
  EXPECT_EQ(planned_time(100, kSpeed, {.epochs = 100}).least_trainings, 1);
}

TEST(PlannedTime, at_the_least_number_of_trainings_is_the_first_that_is_shorter) {
  for (const std::int64_t changes : {0, 1, 7}) {
    PlannedUse use{.changes = changes, .epochs = 3};
    const std::int64_t least = planned_time(100, kSpeed, use).least_trainings.value();
    use.trainings = least;
    EXPECT_LT(planned_time(100, kSpeed, use).records_s, planned_time(100, kSpeed, use).files_s);
    use.trainings = least - 1;
    EXPECT_GE(planned_time(100, kSpeed, use).records_s, planned_time(100, kSpeed, use).files_s);
  }
}

TEST(PlannedTime, of_a_slower_format_is_never_won_back) {
  FormatSpeed slow = kSpeed;
  slow.images_per_s = 10.0;
  EXPECT_FALSE(planned_time(100, slow, {.trainings = 1000}).least_trainings.has_value());
}

Value row(const char* form, const char* size, double warm, double cold, double convert_s) {
  return Value(Value::Table{{"form", form},
                            {"size", size},
                            {"warm_images_per_s", warm},
                            {"cold_images_per_s", cold},
                            {"convert_s", convert_s},
                            {"same_batches", std::string_view(form) != "tar jpeg"}});
}

TEST(ConvertAdvice, names_the_format_that_takes_the_least_time) {
  Value rows = Value::array();
  rows.push_back(row("files", "original", 10.0, 5.0, 0.0));
  rows.push_back(row("tfrecord keep", "original", 11.0, 8.0, 20.0));
  rows.push_back(row("tar keep", "original", 9.0, 6.0, 10.0));
  rows.push_back(row("tar jpeg", "original", 900.0, 900.0, 1.0));  // left out, because its pixels differ
  rows.push_back(row("tfrecord raw", "256 px", 100.0, 80.0, 500.0));
  const auto text_of = [&](const PlannedUse& use, std::size_t i) {
    return convert_advice(100, rows, use).as_array().at(i).at("text").as_string();
  };
  const PlannedUse once{.trainings = 1, .epochs = 3};
  // Warm: 30 s from files. tar takes 10 + 33.3 s and never pays; tfrecord takes 20 + 27.3 s and pays later, because a
  // training wins 2.73 s.
  EXPECT_EQ(text_of(once, 0),
            "keep the files: tfrecord keep would take 47.3 s instead of 30 s for 1 training of 3 "
            "epochs, with 1 conversion; it pays from 8 trainings on");
  // Cold: 60 s from files; tfrecord 20 + 37.5 s, tar 10 + 50 s.
  EXPECT_EQ(
      text_of(once, 2),
      "convert to tfrecord keep: input takes 57.5 s instead of 60 s for 1 training of 3 epochs, with 1 conversion; "
      "it pays from 1 training on");
  EXPECT_THAT(text_of({.trainings = 1, .changes = 1, .epochs = 3}, 2), HasSubstr("keep the files"));
  const Value advice = convert_advice(100, rows, {.trainings = 50, .epochs = 10});
  ASSERT_EQ(advice.as_array().size(), 4U);
  EXPECT_EQ(advice.as_array()[1].at("size").as_string(), "256 px");
  EXPECT_EQ(advice.as_array()[1].at("verdict").as_string(), "convert");
  EXPECT_EQ(advice.as_array()[1].at("least_trainings").as_integer(), 6);  // 500 s, 9 s an epoch
  EXPECT_EQ(advice.as_array()[0].at("form").as_string(), "tfrecord keep");
  for (Value& each : rows.as_array()) each.set("warm_images_per_s", 9.0);
  EXPECT_THAT(text_of(once, 0), HasSubstr("no format reads faster than the files"));
}

}  // namespace
}  // namespace roentgen::bench
