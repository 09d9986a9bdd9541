// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Summary of a data set, for people and for programs. No patient is named.
#pragma once

#include <string>

#include "core/value.h"
#include "data/source/dataset.h"

namespace roentgen::data {

/// Lines for the terminal: source, csv and hash, splits (images, patients, list hash), views, sexes, ages, positives of
/// each label in each split, notes. Ends with a newline.
[[nodiscard]] std::string describe(const Dataset& dataset);

/// Lines of `eval` on the label tables, "labels: FILE, sha256 ...", and on the data, "note: ...".
[[nodiscard]] std::string label_notes(const Dataset& dataset);

/// The label tables for JSON: [{"file", "sha256"}].
[[nodiscard]] Value tables_value(const Dataset& dataset);

/// Contents of describe() as JSON. Splits without images are left out; "" stands for unknown. Form:
///   {source, of several sources: [{name, source, images, split_origin, known_labels}], csv: [{file, sha256}],
///    split_origin, splits: {train: {images, patients, list_sha256, labels: {NAME: {positives, negatives, unknown}}},
///    ...}, views: {PA: n, ...}, sexes: {...}, age: {known, min, median, max}, notes}
[[nodiscard]] Value describe_value(const Dataset& dataset);

}  // namespace roentgen::data
