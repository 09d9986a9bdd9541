// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/caffe_log.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <ctime>
#include <limits>
#include <span>

#include "core/error.h"
#include "eval/top_k.h"

namespace roentgen::eval {
namespace {

constexpr std::int64_t kTop = 5;

// Beginning of a line in glog's form: "I1128 16:52:11.000250  4711 solver.cpp:398] ".
std::string line_head(std::chrono::system_clock::time_point time, int line) {
  const auto since_epoch = time.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since_epoch);
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(since_epoch - seconds).count();
  const auto calendar_time = static_cast<std::time_t>(seconds.count());
  std::tm local{};
  ::localtime_r(&calendar_time, &local);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "I%m%d %H:%M:%S", &local);
  return fmt::format("{}.{:06} {:5} solver.cpp:{}] ", std::string_view(text.data(), length), microseconds, ::getpid(),
                     line);
}

// Mean without NaN.
double mean_of_known(std::span<const double> values) {
  double sum = 0.0;
  std::int64_t count = 0;
  for (const double value : values) {
    if (std::isnan(value)) continue;
    sum += value;
    ++count;
  }
  return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> losses(const Predictions& predictions) {
  const std::size_t K = predictions.label_names.size();
  std::vector<double> losses(predictions.image_ids.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const auto truth = std::span(predictions.labels).subspan(i * K, K);
    if (std::ranges::count(truth, std::int8_t{1}) != 1) continue;
    const auto label = static_cast<std::size_t>(std::ranges::find(truth, std::int8_t{1}) - truth.begin());
    losses[i] = -std::log(static_cast<double>(std::max(predictions.probabilities[i * K + label], FLT_MIN)));
  }
  return losses;
}

}  // namespace

void require_classes(const std::vector<std::string>& label_names, Outputs outputs) {
  if (outputs == Outputs::Exclusive) return;
  const std::string got = label_names.size() < 2
                              ? "a single label"
                              : fmt::format("labels of which several may apply to an image, such as {} and {}",
                                            label_names[0], label_names[1]);
  throw DataError(error_text("eval.caffe_log", "--caffe-log", "one class per image, from a network with softmax", got,
                             "eval without --caffe-log, which reports each label"));
}

CaffeFigures caffe_figures(const Predictions& predictions) {
  require_classes(predictions.label_names, predictions.outputs);
  const CaffeFigures figures{.top1 = mean_of_known(top_k_credits(predictions, 1)),
                             .top5 = std::ssize(predictions.label_names) > kTop
                                         ? mean_of_known(top_k_credits(predictions, kTop))
                                         : std::numeric_limits<double>::quiet_NaN(),
                             .loss = mean_of_known(losses(predictions))};
  if (std::isnan(figures.top1)) {
    throw DataError(error_text("eval.caffe_log", "--caffe-log", "images whose class is known", "none", "other images"));
  }
  return figures;
}

std::string caffe_first_line(std::string_view name, std::chrono::system_clock::time_point time) {
  return fmt::format("{}Solving {}\n", line_head(time, 288), name);
}

std::string caffe_test_lines(const CaffeFigures& figures, std::int64_t iteration,
                             std::chrono::system_clock::time_point time) {
  std::string text = fmt::format("{}Iteration {}, Testing net (#0)\n", line_head(time, 347), iteration);
  int number = 0;
  const auto add = [&](std::string_view name, double value, const std::string& weight) {
    text +=
        fmt::format("{}    Test net output #{}: {} = {:.6g}{}\n", line_head(time, 414), number++, name, value, weight);
  };
  add("accuracy/top1", figures.top1, "");
  if (!std::isnan(figures.top5)) add("accuracy/top5", figures.top5, "");
  add("loss", figures.loss, fmt::format(" (* 1 = {:.6g} loss)", figures.loss));
  return text;
}

}  // namespace roentgen::eval
