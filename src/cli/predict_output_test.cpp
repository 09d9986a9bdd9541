// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/predict_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "core/folder_testing.h"
#include "io/csv.h"

namespace roentgen::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

TEST(PredictionOutput, a_csv_of_labels_and_names_of_any_kind_reads_back) {
  const TemporaryFolder folder;
  const std::filesystem::path csv = folder.path() / "preds.csv";
  PredictionOutput output({"new\nline", "=cmd|calc!A1", "a\"b,c"}, eval::Outputs::Independent, std::nullopt, csv);
  constexpr std::array kProbabilities{0.5F, 0.25F, 0.75F};
  output.add(1, "=one.png", kProbabilities);
  output.add(2, "two\n.png", kProbabilities);
  output.finish();
  const io::Csv table = io::read_csv(csv).or_throw();
  EXPECT_THAT(table.header, ElementsAre("Image Index", "prob_new\nline", "prob_=cmd|calc!A1", "prob_a\"b,c"));
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("=one.png", "0.5", "0.25", "0.75"),
                                      ElementsAre("two\n.png", "0.5", "0.25", "0.75")));
}

TEST(PredictionOutput, the_table_says_why_images_have_numbers) {
  PredictionOutput output({"Mass"}, eval::Outputs::Independent, std::nullopt, {});
  output.add(1, "\x1b[31mone.png", std::array{0.5F});
  EXPECT_THAT(output.table(publish::ImageNames::Hidden), HasSubstr("\n1 "));
  EXPECT_THAT(output.table(publish::ImageNames::Hidden), HasSubstr("images are numbered"));
  EXPECT_THAT(output.table(publish::ImageNames::Shown), HasSubstr("\n\\x1b[31mone.png "));
  EXPECT_THAT(output.table(publish::ImageNames::Shown), Not(HasSubstr("by number")));
}

}  // namespace
}  // namespace roentgen::cli
