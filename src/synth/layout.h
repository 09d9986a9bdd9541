// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The text files of a data set in NIH ChestX-ray14's layout, from what is known of its studies. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "synth/study.h"

namespace roentgen::synth {

enum class Split : std::uint8_t { TrainVal, Test };

/// A study and where it belongs; `study.pixels` may be empty.
struct Entry {
  StudyKey key;
  Split split = Split::TrainVal;
  Study study;
};

/// The studies of a data set: patients 1, 2, ... with one to three studies each until there are `images`. Of every five
/// patients one, drawn, goes to the test set. A longer list begins with the shorter one.
[[nodiscard]] std::vector<Entry> list_studies(std::uint64_t seed, std::int64_t images);

/// "00000012_003.png": patient and follow-up.
[[nodiscard]] std::string image_name(const StudyKey& key);
/// Data_Entry_2017_v2020.csv with NIH's header; spacing is that of the written pixels, in mm.
[[nodiscard]] std::string data_entry_csv(std::span<const Entry> entries);
/// train_val_list.txt or test_list.txt: names, one a line.
[[nodiscard]] std::string name_list(std::span<const Entry> entries, Split split);
/// BBox_List_2017.csv: x, y, w, h on NIH's 1024 x 1024 grid whatever the size of the images; one row for each finding
/// that is there and labelled.
[[nodiscard]] std::string box_csv(std::span<const Entry> entries);
/// truth.csv: image, split, severity of each finding.
[[nodiscard]] std::string truth_csv(std::span<const Entry> entries);

}  // namespace roentgen::synth
