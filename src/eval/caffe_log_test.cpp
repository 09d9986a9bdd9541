// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/caffe_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>
#include <sstream>

#include "core/error.h"

namespace roentgen::eval {
namespace {

using testing::HasSubstr;

// Three images of classes 0, 1 and 6, of seven classes. The class of the last image is the sixth most probable.
Predictions seven_classes() {
  Predictions predictions{.label_names = {"a", "b", "c", "d", "e", "f", "g"},
                          .image_ids = {"1", "2", "3"},
                          .patients = {1, 2, 3},
                          .probabilities = {0.7F, 0.05F, 0.05F, 0.05F, 0.05F, 0.05F, 0.05F,  //
                                            0.4F, 0.3F,  0.1F,  0.1F,  0.05F, 0.03F, 0.02F,  //
                                            0.4F, 0.2F,  0.1F,  0.1F,  0.1F,  0.04F, 0.06F},
                          .labels = std::vector<std::int8_t>(21, 0),
                          .outputs = Outputs::Exclusive};
  predictions.labels[0] = predictions.labels[7 + 1] = predictions.labels[14 + 6] = 1;
  return predictions;
}

/// Reads a log with the regular expressions of Caffe's tools/extra/parse_log.py and the fields that
/// tools/extra/extract_seconds.py takes from each line.
struct Log {
  std::map<std::string, double> outputs;
  int iteration = -1;
  bool has_start = false;

  explicit Log(const std::string& text) {
    const std::regex iteration_of(R"(Iteration (\d+))");
    const std::regex output_of(R"(Test net output #(\d+): (\S+) = ([\.\deE+-]+))");
    const std::regex time_of(R"(^[IWEF]\d{4} \d{2}:\d{2}:\d{2}\.\d{6} +\d+ \S+:\d+\] )");
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(std::regex_search(line, time_of)) << line;
      has_start = has_start || line.find("Solving") != std::string::npos;
      std::smatch found;
      if (std::regex_search(line, found, iteration_of)) iteration = std::stoi(found[1]);
      if (!std::regex_search(line, found, output_of)) continue;
      EXPECT_EQ(std::stoi(found[1]), number++) << line;
      outputs[found[2]] = std::stod(found[3]);
    }
  }
};

TEST(CaffeLog, is_read_by_the_expressions_of_caffes_own_script) {
  const auto time = std::chrono::system_clock::time_point(std::chrono::microseconds(1'764'000'000'000'250));
  const CaffeFigures figures = caffe_figures(seven_classes());
  const Log log(caffe_first_line("densenet121", time) + caffe_test_lines(figures, 4000, time));
  EXPECT_TRUE(log.has_start);
  EXPECT_EQ(log.iteration, 4000);
  ASSERT_EQ(log.outputs.size(), 3U);
  EXPECT_NEAR(log.outputs.at("accuracy/top1"), 1.0 / 3.0, 1e-6);
  EXPECT_NEAR(log.outputs.at("accuracy/top5"), 2.0 / 3.0, 1e-6);
  EXPECT_NEAR(log.outputs.at("loss"), -(std::log(0.7) + std::log(0.3) + std::log(0.06)) / 3.0, 1e-5);
  EXPECT_THAT(caffe_test_lines(figures, 1, time), HasSubstr(".000250 "));
}

TEST(CaffeLog, of_few_classes_has_no_top_5) {
  Predictions predictions{.label_names = {"normal", "virus"},
                          .image_ids = {"1", "2"},
                          .patients = {1, 2},
                          .probabilities = {0.75F, 0.25F, 0.0F, 1.0F},
                          .labels = {1, 0, 1, 0},
                          .outputs = Outputs::Exclusive};
  const CaffeFigures figures = caffe_figures(predictions);
  EXPECT_EQ(Log(caffe_test_lines(figures, 7, {})).outputs.count("accuracy/top5"), 0U);
  EXPECT_DOUBLE_EQ(figures.top1, 0.5);
  // Caffe replaces probabilities below FLT_MIN = 1.17549e-38, so that the loss stays finite.
  EXPECT_NEAR(figures.loss, (-std::log(0.75) + 87.336544) / 2.0, 1e-4);
  predictions.labels = {-1, -1, 1, 0};
  EXPECT_DOUBLE_EQ(caffe_figures(predictions).top1, 0.0) << "an image of unknown class does not count";
  predictions.labels = {-1, -1, -1, -1};
  EXPECT_THROW(static_cast<void>(caffe_figures(predictions)), DataError);
}

TEST(CaffeLog, refuses_labels_that_are_no_classes_by_name) {
  Predictions predictions = seven_classes();
  predictions.outputs = Outputs::Independent;
  predictions.label_names[0] = "Mass";
  predictions.label_names[1] = "Edema";
  try {
    static_cast<void>(caffe_figures(predictions));
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("[eval.caffe_log] --caffe-log: expected one class per image, from a network "
                                        "with softmax, got labels of which several may apply to an image, such as "
                                        "Mass and Edema; try eval without --caffe-log"));
  }
}

}  // namespace
}  // namespace roentgen::eval
