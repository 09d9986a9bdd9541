// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Assigns every sample its split: from lists, from the table's split column, or at random by patient.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/source/source.h"

namespace roentgen::data {

/// Sets Sample::split of all samples in the listing and adds notes. Returns one line that says where the splits come
/// from. Throws DataError if lists name none of the images, an image is in two lists, or a patient is in two splits.
/// Also throws it if splits are random and a patient is unknown. options.patient_namespace must be set.
[[nodiscard]] std::string assign_splits(Listing& listing, const SourceOptions& options);

/// Returns the split that a word means: train, training, val, valid, validate, validation, test, testing or none.
/// Ignores case and blanks around it.
[[nodiscard]] std::optional<Split> find_split(std::string_view word);

/// True for names of columns and fields ("fold", "dataset", "meta.partition") that may contain the images' splits.
[[nodiscard]] bool looks_like_split(std::string_view name);

/// Notes on columns of table `what` that contain only words for train, val and test but are not among `read`.
[[nodiscard]] std::vector<std::string> notes_on_unread_splits(const io::Csv& table,
                                                              const std::vector<std::optional<std::size_t>>& read,
                                                              std::string_view what);

/// Throws DataError if fields of a table's split column name no split. The text gives the line of the first and all
/// such words.
void check_splits(const io::Csv& table, const std::string& what, std::size_t column);

/// True if splits stated by a table, a record or a folder are used: splits are not random, and not all images are test.
[[nodiscard]] bool uses_given_splits(const SplitOptions& options);

/// Throws DataError if a patient is in more than one of train, val and test.
/// @param rule rule of the random splits, for the proposed remedy
void refuse_shared_patients(const std::vector<Sample>& samples, SplitRule rule = SplitRule::Normal);

/// Number in [0, 1) that depends only on the arguments: the first 13 hex digits of a SHA-256, divided by 2^52. The hash
/// is of "roentgen " + purpose + "\n" + seed + "\n" + patient_namespace + "\n" + patient. A patient is put in a random
/// split if the number is below the split's fraction.
[[nodiscard]] double split_draw(std::string_view purpose, std::uint64_t seed, std::string_view patient_namespace,
                                std::string_view patient);

}  // namespace roentgen::data
