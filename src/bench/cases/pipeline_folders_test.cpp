// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/pipeline_folders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "bench/images_testing.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class PipelineFolders : public ImagesTest {
 protected:
  /// Copies the images of the fixture into another folder.
  [[nodiscard]] ImageFolder copy(const std::string& name) const {
    ImageFolder folder{.name = (folder_.path() / name).string(), .dataset = dataset_};
    fs::create_directory(folder.name);
    for (data::Sample& sample : folder.dataset.samples) {
      const fs::path path = fs::path(folder.name) / sample.path.filename();
      fs::copy_file(sample.path, path, fs::copy_options::overwrite_existing);
      sample.path = path;
    }
    return folder;
  }
  static std::string error_of(const std::vector<ImageFolder>& folders) {
    try {
      static_cast<void>(compare_folders(folders, small(), 1));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(PipelineFolders, have_one_row_each) {
  for (const bool is_cold : {false, true}) {
    InputOptions options = small();
    options.is_cold = is_cold;
    const Value result = compare_folders({copy("a"), copy("b"), copy("c")}, options, 2);
    const auto& rows = result.at("folders").as_array();
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_THAT(rows[1].at("folder").as_string(), testing::EndsWith("/b"));
    EXPECT_DOUBLE_EQ(rows[0].at("of_first").as_double(), 1.0);
    for (const Value& row : rows) {
      EXPECT_GT(row.at("images_per_s").as_double(), 0.0);
      EXPECT_LE(row.at("low").as_double(), row.at("images_per_s").as_double());
      EXPECT_GE(row.at("high").as_double(), row.at("images_per_s").as_double());
      EXPECT_GT(row.at("read_bytes").as_double(), 0.0);
      EXPECT_TRUE(row.at("file_system").is_string()) << "every folder is in a file system";
      EXPECT_EQ(row.at("checksum").as_string(), rows[0].at("checksum").as_string());
    }
    EXPECT_EQ(result.at("cold").as_bool(), is_cold);
    EXPECT_EQ(result.at("rounds").as_integer(), 2);
  }
}

TEST_F(PipelineFolders, must_hold_the_same_images) {
  ImageFolder fewer = copy("b");
  fewer.dataset.samples.pop_back();
  EXPECT_THAT(error_of({copy("a"), fewer}), HasSubstr("/b: expected "));
  ImageFolder renamed = copy("c");
  renamed.dataset.samples[2].id = "another.png";
  EXPECT_THAT(error_of({copy("a"), renamed}), HasSubstr("/c: expected images of the same names as in"));
  const ImageFolder changed = copy("d");
  for (std::size_t i = 1; i < changed.dataset.samples.size(); ++i) {
    fs::copy_file(changed.dataset.samples[0].path, changed.dataset.samples[i].path,
                  fs::copy_options::overwrite_existing);
  }
  EXPECT_THAT(error_of({copy("a"), changed}), HasSubstr("in the first batch, got other pixels"));
  // Pixels are compared in the first round: 100 million rounds would not end.
  try {
    static_cast<void>(compare_folders({copy("a"), changed}, small(), 100'000'000));
    FAIL() << "other pixels";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/d: expected the pixels of"));
  }
}

TEST_F(PipelineFolders, keep_to_the_memory_budget) {
  InputOptions options = small();
  options.image_px = 512;
  options.memory_mb = 2;  // a batch has 4 MiB
  try {
    static_cast<void>(compare_folders({copy("a"), copy("b")}, options, 1));
    FAIL() << "two batches of 4 MiB";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("[data.memory] memory of the input pipeline: expected at most 2.0 MiB"));
  }
}

}  // namespace
}  // namespace roentgen::bench
