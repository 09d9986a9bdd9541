// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parses Python's pickles (protocol 2 to 5) as plain data. No code in a pickle is executed: calls and objects become
// nodes that name them. torch_file.h interprets the nodes of a PyTorch file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace roentgen::io {

/// Index of a node in Pickle::nodes.
using PickleId = std::uint32_t;
inline constexpr PickleId kNoPickle = std::numeric_limits<PickleId>::max();  ///< index that means no node

/// Kind of a node.
enum class PickleKind : std::uint8_t {
  None,
  Bool,
  Integer,
  Float,  ///< the value is not stored
  Text,
  Bytes,
  Tuple,
  List,
  Dict,
  Set,
  Global,      ///< a function or class, by its name
  Call,        ///< result of a function call
  Object,      ///< instance of a class
  Persistent,  ///< object that is stored outside the pickle
};

/// A node: one value of a pickle.
struct PickleNode {
  PickleKind kind = PickleKind::None;
  std::int64_t integer = 0;  ///< value of Bool and Integer; 0 for an Integer of more than 8 bytes
  /// Text and Bytes: content. Global: "module.name". Integer of more than 8 bytes: its bytes, little-endian.
  std::string text{};
  /// Tuple, List, Set: elements. Dict: key, value, key, ... Call, Object: function or class, then its arguments.
  /// Persistent: id.
  std::vector<PickleId> items{};
  std::vector<PickleId> entries{};  ///< Call, Object: key, value, key, ... of dict items set on it
  PickleId state = kNoPickle;       ///< Call, Object: attributes
};

/// Nodes of a pickle. They may refer to each other in cycles.
struct Pickle {
  std::vector<PickleNode> nodes{};
  PickleId root = 0;
  std::size_t size_bytes = 0;  ///< length of the pickle in bytes

  /// Returns the node with this index.
  [[nodiscard]] const PickleNode& operator[](PickleId id) const { return nodes.at(id); }
};

/// Parses the pickle at the beginning of `bytes`; other data may follow. Memory is bounded by the length of the pickle.
/// Fails, with the offset, for a truncated pickle, an opcode that no state dict needs, or an invalid stack. Also fails
/// for a call of a function that is not in `calls`, and for more than a million values.
/// @param what names the pickle in errors
/// @param calls functions that may be called, as "module.name"
[[nodiscard]] Result<Pickle> parse_pickle(std::span<const std::byte> bytes, std::string_view what,
                                          std::span<const std::string_view> calls);

/// Description of a node for errors: "a call of os.system", "a dict", "an object of argparse.Namespace", "os.system".
[[nodiscard]] std::string pickle_text(const Pickle& pickle, PickleId id);

}  // namespace roentgen::io
