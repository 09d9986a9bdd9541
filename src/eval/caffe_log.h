// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Top-1 and top-5 accuracy and loss as Caffe's solver logs them, so that scripts for Caffe's logs read them
// (tools/extra/parse_log.py of Caffe, NVIDIA DIGITS).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "eval/predictions.h"

namespace roentgen::eval {

/// Figures of Caffe's layers Accuracy and SoftmaxWithLoss on a test set.
struct CaffeFigures {
  double top1 = 0.0;  ///< share of images whose class has the highest probability
  double top5 = 0.0;  ///< share of images whose class is among the five most probable; NaN for at most five classes
  double loss = 0.0;  ///< mean over images of -ln(probability of the class), with probabilities of at least FLT_MIN
};

/// Throws DataError that names two labels if labels are not exclusive classes.
void require_classes(const std::vector<std::string>& label_names, Outputs outputs);

/// Computes the figures over all images whose class is known. Throws as require_classes() does, and DataError if no
/// class is known.
[[nodiscard]] CaffeFigures caffe_figures(const Predictions& predictions);

/// Returns the lines of one test in the form of glog and Caffe's solver. They contain "Iteration 100, Testing net (#0)"
/// and "Test net output #0: accuracy/top1 = 0.75".
/// @param iteration number of updates of the tested weights
/// @param time local time of the lines, shown with microseconds
[[nodiscard]] std::string caffe_test_lines(const CaffeFigures& figures, std::int64_t iteration,
                                           std::chrono::system_clock::time_point time);

/// Returns the first line of a log, from which scripts take the start time: "Solving NAME".
[[nodiscard]] std::string caffe_first_line(std::string_view name, std::chrono::system_clock::time_point time);

}  // namespace roentgen::eval
