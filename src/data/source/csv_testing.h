// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fixture for tests of the dataset reader `csv`: a folder with a table, and access to label values.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"

namespace roentgen::data {

/// A folder with images a.png .. f.png (empty files, because dataset readers do not read pixels) and this labels.csv.
class CsvSource : public testing::Test {
 protected:
  CsvSource() {
    for (const char* name : {"a.png", "b.png", "c.png", "d.png", "e.png", "f.png"}) folder_.write(name, "");
  }
  SourceOptions options(std::string_view csv, std::vector<std::string> labels = {"sick"}) {
    folder_.write("labels.csv", csv);
    SourceOptions options;
    options.root = folder_.path();
    options.labels = std::move(labels);
    options.split.mode = SplitMode::Whole;
    return options;
  }
  std::string refusal(const SourceOptions& options) {
    return message_of<DataError>([&] { static_cast<void>(load_dataset(options)); });
  }
  TestFolder folder_;
};

inline std::vector<float> column(const Dataset& dataset, std::size_t k) {
  std::vector<float> values;
  for (const auto& sample : dataset.samples) values.push_back(std::isnan(sample.labels[k]) ? -9.0F : sample.labels[k]);
  return values;
}

}  // namespace roentgen::data
