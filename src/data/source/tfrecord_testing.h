// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fixtures for tests: images as TFRecords in several schemas.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/error.h"
#include "data/source/dataset.h"
#include "data/source/source_testing.h"
#include "data/stage/loader_testing.h"
#include "io/example.h"
#include "io/record.h"

namespace roentgen::data {

class TfRecord : public LoaderTest {
 protected:
  TfRecord() : LoaderTest(12) { ::setenv("XDG_CACHE_HOME", cache_.path().c_str(), 1); }

  /// Bytes of image i in the folder.
  [[nodiscard]] std::string image(std::size_t i) const {
    std::ifstream file(dataset_.samples.at(i).path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string frame(const io::ExampleWriter& example) { return io::record_frame(example.data()); }

  /// Encodes a record in the schema of Dell's TFRecord files: 14 labels and a file name.
  [[nodiscard]] std::string dell(std::size_t i) const {
    io::ExampleWriter example;
    example.text("image/encoded", image(i));
    std::array<std::int64_t, 14> labels{};
    labels[i % 14] = 1;
    example.integers("image/label", labels);
    example.text("image/filename", fmt::format("{:08}_000.png", i + 10));
    return frame(example);
  }
  /// Encodes a record in the schema that `convert` writes.
  [[nodiscard]] std::string own(std::size_t i) const {
    io::ExampleWriter example;
    example.text("image/encoded", image(i));
    example.text("image/format", "png");
    example.text("image/filename", dataset_.samples[i].id);
    example.texts("image/label_names", dataset_.label_names);
    std::vector<std::int64_t> labels;
    for (const float label : dataset_.samples[i].labels)
      labels.push_back(std::isnan(label) ? -1 : label > 0.5F ? 1 : 0);
    example.integers("image/label", labels);
    example.text("image/patient", fmt::format("p{}", i / 2));
    example.text("image/split", i < 8 ? "train" : "test");
    example.text("image/view", i % 2 == 0 ? "PA" : "AP");
    example.text("image/sex", "F");
    example.number("image/age", 40.0F + static_cast<float>(i));
    return frame(example);
  }
  static SourceOptions in(const TestFolder& folder) {
    SourceOptions options;
    options.root = folder.path();
    return options;
  }
  static std::string refusal(const SourceOptions& options) {
    try {
      static_cast<void>(load_dataset(options));
    } catch (const Error& error) {
      return error.what();
    }
    return "no refusal";
  }
  /// Error message for a folder that contains only this file.
  static std::string refusal_of(std::string_view file) {
    const TestFolder folder;
    folder.write("a.tfrecord", file);
    return refusal(in(folder));
  }
  /// An Example with this image and the label "x" = 1.
  static std::string labelled(std::string_view image) {
    io::ExampleWriter example;
    example.text("image/encoded", image);
    example.texts("image/label_names", std::array<std::string, 1>{"x"});
    example.integer("image/label", 1);
    return frame(example);
  }
  TestFolder cache_;
};

}  // namespace roentgen::data
