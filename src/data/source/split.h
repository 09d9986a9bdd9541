// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Gives every sample its split: from lists, from the table's column, or drawn by patient.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/source.h"

namespace roentgen::data {

/// Sets Sample::split of all samples of the listing, adds notes, and says in one line where the splits come from.
/// DataError: lists that name none of the images, an image in two lists, a patient unknown where splits are drawn, a
/// patient in two splits. options.patient_namespace must be set.
[[nodiscard]] std::string assign_splits(Listing& listing, const SourceOptions& options);

/// The split that a word names, without regard to case and blanks around it: train, training, val, valid, validate,
/// validation, test, testing, none.
[[nodiscard]] std::optional<Split> find_split(std::string_view word);

/// True for names of columns and fields ("fold", "dataset", "meta.partition") that may say the images' splits.
[[nodiscard]] bool looks_like_split(std::string_view name);

/// Notes for columns of the table `what`, not among `read`, that say train, val or test and nothing else.
[[nodiscard]] std::vector<std::string> notes_on_unread_splits(const io::Csv& table,
                                                              const std::vector<std::optional<std::size_t>>& read,
                                                              std::string_view what);

/// DataError when fields of a table's split column name no split, with the line of the first and all such words.
void check_splits(const io::Csv& table, const std::string& what, std::size_t column);

/// True if the splits that a table, a record or a folder gives count: splits are not drawn, and not all images are
/// test.
[[nodiscard]] bool uses_given_splits(const SplitOptions& options);

/// DataError when a patient is in two of train, val and test.
/// @param rule by which splits were drawn, for the remedy
void refuse_shared_patients(const std::vector<Sample>& samples, SplitRule rule = SplitRule::Normal);

/// A number in [0, 1) that depends on the arguments only: the first 13 hex digits of a SHA-256, over 2^52. The hash is
/// of "roentgen " + purpose + "\n" + seed + "\n" + patient_namespace + "\n" + patient. A patient goes to the drawn
/// split when the number is below the split's fraction.
[[nodiscard]] double split_draw(std::string_view purpose, std::uint64_t seed, std::string_view patient_namespace,
                                std::string_view patient);

}  // namespace roentgen::data
