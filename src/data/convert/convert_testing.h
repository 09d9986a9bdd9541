// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Fixtures for tests of convert: a data set with splits and patients, and output folders.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "core/error.h"
#include "data/convert/convert.h"
#include "data/stage/loader_testing.h"

namespace roentgen::data {

namespace fs = std::filesystem;

class Convert : public LoaderTest {
 protected:
  Convert() : LoaderTest(23) {
    for (std::size_t i = 0; i < 23; ++i) {
      Sample& sample = dataset_.samples[i];
      sample.split = i < 15 ? Split::Train : i < 19 ? Split::Val : Split::Test;
      sample.patient = fmt::format("{}", i);
      sample.view = "PA";
    }
  }
  [[nodiscard]] ConvertOptions to(std::string_view name) const {
    ConvertOptions options;
    options.folder = out_.path() / name;
    options.shards = 2;
    return options;
  }
  static Dataset read(const fs::path& folder) {
    SourceOptions options;
    options.root = folder;
    return load_dataset(options);
  }
  [[nodiscard]] std::string refusal(const ConvertOptions& options) const {
    try {
      static_cast<void>(convert(dataset_, options));
    } catch (const Error& error) {
      return error.what();
    }
    return "no refusal";
  }
  static std::size_t files_in(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }
  TestFolder out_;
};

}  // namespace roentgen::data
