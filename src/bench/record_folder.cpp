// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/record_folder.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "core/log.h"

namespace roentgen::bench {
namespace {

namespace fs = std::filesystem;

// Adds one label to a data set without labels, because record files need at least one.
data::Dataset with_label(data::Dataset dataset) {
  if (!dataset.label_names.empty()) return dataset;
  dataset.label_names = {"none"};
  for (data::Sample& sample : dataset.samples) sample.labels = {0.0F};
  return dataset;
}

}  // namespace

RecordFolder::RecordFolder(const data::Dataset& dataset, const data::ConvertOptions& options)
    : folder_(options.folder) {
  try {
    const data::Dataset labelled = with_label(dataset);
    const auto begin = std::chrono::steady_clock::now();
    const data::Converted converted = data::convert(labelled, options);
    seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    bytes_ = converted.bytes;
    data::SourceOptions source{.root = options.folder};
    source.labels = labelled.label_names;
    source.split.mode = data::SplitMode::Whole;
    dataset_ = data::load_dataset(source);
  } catch (...) {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    throw;
  }
}

RecordFolder::~RecordFolder() {
  std::error_code error;
  fs::remove_all(folder_, error);
  if (error) log::warning("cannot remove " + folder_.string() + ": " + error.message());
}

std::int64_t record_files_for(std::int64_t images) {
  constexpr std::int64_t kImagesInAFile = 32, kMostFiles = 64;
  return std::clamp<std::int64_t>(images / kImagesInAFile, 1, kMostFiles);
}

}  // namespace roentgen::bench
