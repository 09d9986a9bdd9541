// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/dataset.h"
#include "tests/fuzz/fuzz.h"

namespace roentgen::fuzz {

// Reads one table as every data source would, with the images 0.png and view1_frontal.jpg next to it, and alone.
void fuzz_label_tables(Input input) {
  static const auto images = [] {
    const auto folder = scratch_folder() / "train" / "patient00001" / "study1";
    std::filesystem::create_directories(folder);
    return std::vector{write_scratch("0.png", {}), write_scratch("train/patient00001/study1/view1_frontal.jpg", {})};
  }();
  static_cast<void>(write_scratch("table.csv", input));
  for (const std::string_view source : {"nih", "chexpert", "mimic", "padchest", "csv"}) {
    for (const auto files : {data::ImageFiles::Needed, data::ImageFiles::Unneeded}) {
      may_refuse([source, files] {
        data::SourceOptions options{.root = scratch_folder(), .source = std::string(source), .csv = {"table.csv"}};
        if (source == "csv") options.labels = {"a", "b:x"};
        options.absent = data::Absent::Skip;
        options.duplicates = data::Duplicates::First;
        options.files = files;
        options.split.unit = data::SplitUnit::Image;
        static_cast<void>(data::load_dataset(options));
      });
    }
  }
}

}  // namespace roentgen::fuzz
