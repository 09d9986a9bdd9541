// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Relates PadChest's labels to findings. PadChest's labels form a tree, and an image is labelled with the narrowest
// that its report supports: "laminar atelectasis", without "atelectasis".
#pragma once

#include <cstdint>
#include <string_view>

namespace roentgen::data {

/// How a label in an image's list relates to a finding.
enum class PadchestRelation : std::uint8_t {
  None,   ///< unrelated
  Open,   ///< possibly present: a wider label (infiltrates for Consolidation) or a sign (volume loss for Atelectasis)
  Means,  ///< present: the label is the finding itself, by any data set's name, or a narrower label
};

/// Relation between `named`, a label in an image's list, and `finding`, a requested label. Capitals, blanks, `_` and
/// `-` are ignored. Identical names always give Means. Example: PadChest's "mass" gives Open for NIH's Mass, because
/// PadChest uses it for any structure of the thorax.
/// A narrower label lies below the finding in the tree that PadChest's authors published
/// (auriml/Rx-thorax-automatic-captioning, manual_review/trees_code.txt; Bustos et al. 2020).
/// docs/reference/padchest.md lists the exceptions for NIH's findings. Thread-safe.
[[nodiscard]] PadchestRelation padchest_relation(std::string_view finding, std::string_view named);

}  // namespace roentgen::data
