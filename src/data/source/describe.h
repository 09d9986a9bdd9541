// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Summary of a data set, as text and as JSON. Contains no patient ids.
#pragma once

#include <string>

#include "core/value.h"
#include "data/source/dataset.h"

namespace roentgen::data {

/// Report for the terminal. It shows the dataset reader, tables with hashes, splits (images, patients, list hash),
/// views, sexes and ages. It also shows the positives of each label in each split, and the notes. Ends with a newline.
[[nodiscard]] std::string describe(const Dataset& dataset);

/// Lines that `eval` prints: "labels: FILE, sha256 ..." for each label table, and "note: ..." for each note.
[[nodiscard]] std::string label_notes(const Dataset& dataset);

/// Label tables as JSON: [{"file", "sha256"}].
[[nodiscard]] Value tables_value(const Dataset& dataset);

/// Contents of describe() as JSON. Splits without images are omitted; the key "" means unknown. Form:
///   {source; with several sources: [{name, source, images, split_origin, known_labels}], csv: [{file, sha256}],
///    split_origin, splits: {train: {images, patients, list_sha256, labels: {NAME: {positives, negatives, unknown}}},
///    ...}, views: {PA: n, ...}, sexes: {...}, age: {known, min, median, max}, notes}
[[nodiscard]] Value describe_value(const Dataset& dataset);

}  // namespace roentgen::data
