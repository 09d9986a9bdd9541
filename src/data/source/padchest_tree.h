// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// PadChest's labels form a tree, and the list of an image names the narrowest that its report allows: "laminar
// atelectasis", not "atelectasis" too. Here stands which labels mean a finding, and which leave it open.
#pragma once

#include <cstdint>
#include <string_view>

namespace roentgen::data {

/// Relation of a label in an image's list to a finding.
enum class PadchestRelation : std::uint8_t {
  None,   ///< nothing
  Open,   ///< it may be there: a wider label (infiltrates, of Consolidation) or a sign (volume loss, of Atelectasis)
  Means,  ///< it is there: the finding itself, by any data set's name, or a narrower label
};

/// Relation of `named`, a label of a list, to `finding`, the name of a requested label. Capitals, blanks, `_` and `-`
/// do not count. A requested label that equals a list's label letter by letter always means it. Example: "mass" as
/// PadChest writes it, which leaves NIH's Mass open, since it is of any structure of the thorax.
/// Narrower labels are those below in the tree that PadChest's authors published
/// (auriml/Rx-thorax-automatic-captioning, manual_review/trees_code.txt; Bustos et al. 2020).
/// docs/reference/padchest.md lists the exceptions for NIH's findings. Thread-safe.
[[nodiscard]] PadchestRelation padchest_relation(std::string_view finding, std::string_view named);

}  // namespace roentgen::data
