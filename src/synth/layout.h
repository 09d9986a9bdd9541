// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Text files of a data set in the layout of NIH ChestX-ray14, made from its studies. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "synth/study.h"
#include "synth/synth.h"

namespace roentgen::synth {

/// A study with its split and file names; `study.pixels` may be empty.
struct Entry {
  StudyKey key;
  Split split = Split::TrainVal;
  Study study;
  /// Format of its image file.
  Form form = Form::Png8;
};

/// Lists the studies of a data set: patients 1, 2, ... with one to three studies each, until there are `images` images.
/// One random patient of every five goes to the test set. With a larger `images`, the list only gets more entries at
/// its end.
[[nodiscard]] std::vector<Entry> list_studies(std::uint64_t seed, std::int64_t images);

/// Returns a file name such as "00000012_003.png", from patient and follow-up; ".jpg" for JPEG.
[[nodiscard]] std::string image_name(const StudyKey& key, Form form = Form::Png8);
/// Returns the text of Data_Entry_2017_v2020.csv with NIH's header. The pixel spacing is in mm per pixel of the image
/// file.
[[nodiscard]] std::string data_entry_csv(std::span<const Entry> entries);
/// Returns the text of labels.csv: path (from the set's folder), patient, split, view, sex, age, and a column for each
/// finding. A finding's field is 1, 0, -1 (uncertain), or empty if the label is blank.
[[nodiscard]] std::string labels_csv(std::span<const Entry> entries, std::string_view image_folder);
/// Returns the text of train_val_list.txt or test_list.txt, with one file name per line.
[[nodiscard]] std::string name_list(std::span<const Entry> entries, Split split);
/// Returns the text of BBox_List_2017.csv: x, y, w, h on NIH's grid of 1024 x 1024, for all image sizes. It has one row
/// for each finding that is both present and labelled.
[[nodiscard]] std::string box_csv(std::span<const Entry> entries);
/// Selects whether truth.csv has a last column Tubes (1 or 0), after image, split and the severity of each finding.
enum class TubeColumn : std::uint8_t { Absent, Present };
[[nodiscard]] std::string truth_csv(std::span<const Entry> entries, TubeColumn tubes = TubeColumn::Absent);
/// Returns the text of film.csv. Columns: image, inverted (1 or 0), marker (L, R or empty), left, top, right, bottom.
/// The last four are the edges of the collimator's open area, on the grid of box_csv(); right and bottom are excluded.
[[nodiscard]] std::string film_csv(std::span<const Entry> entries);
/// Returns the text of pairs.csv: image, finding, path of the image with and without it (from the set's folder),
/// severity. It has one row for each present finding that `pairs` selects.
[[nodiscard]] std::string pairs_csv(std::span<const Entry> entries, const PerFinding<bool>& pairs,
                                    std::string_view image_folder);

/// Folder in a data set for the images without a finding: kPairFolder/<Finding>/<image>.
inline constexpr std::string_view kPairFolder = "pairs";

}  // namespace roentgen::synth
