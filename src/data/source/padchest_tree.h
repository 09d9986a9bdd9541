// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// PadChest's labels form a tree, and the list of an image names the narrowest that its report allows: "laminar
// atelectasis", not "atelectasis" too. Here stands which labels mean a finding, and which leave it open.
#pragma once

#include <cstdint>
#include <string_view>

namespace roentgen::data {

/// What a label in an image's list says of a finding.
enum class PadchestRelation : std::uint8_t {
  None,   ///< nothing
  Open,   ///< it may be there: a wider label (infiltrates, of Consolidation) or a sign (volume loss, of Atelectasis)
  Means,  ///< it is there: the finding itself, by any data set's name, or a narrower label
};

/// Tells what `named`, a label of a list, says of `finding`, the name of a label that is asked for. Capitals, blanks,
/// `_` and
/// `-` do not count, but a label asked for as a list writes it, letter by letter, is always meant by it ("mass", which
/// leaves NIH's Mass open, since it is of any structure of the thorax). Narrower is what lies below in the tree of
/// labels that PadChest's authors published (auriml/Rx-thorax-automatic-captioning, manual_review/trees_code.txt;
/// Bustos et al. 2020); docs/reference/padchest.md says where NIH's findings make exceptions. Thread-safe.
[[nodiscard]] PadchestRelation padchest_relation(std::string_view finding, std::string_view named);

}  // namespace roentgen::data
