// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Python's pickles (protocol 2 to 5) as plain data. Nothing of a pickle is run: calls and objects become nodes that
// name them. torch_file.h gives the nodes of a PyTorch file their meaning.
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

/// Index of a node.
using PickleId = std::uint32_t;
inline constexpr PickleId kNoPickle = std::numeric_limits<PickleId>::max();  ///< no node

/// Kind of a node.
enum class PickleKind : std::uint8_t {
  None,
  Bool,
  Integer,
  Float,  ///< value is not kept
  Text,
  Bytes,
  Tuple,
  List,
  Dict,
  Set,
  Global,      ///< a function or class, by its name
  Call,        ///< result of a function
  Object,      ///< instance of a class
  Persistent,  ///< object stored outside of the pickle
};

/// A value of a pickle.
struct PickleNode {
  PickleKind kind = PickleKind::None;
  std::int64_t integer = 0;  ///< Bool, Integer; 0 for an Integer of more than 8 bytes
  /// Text and Bytes: the content. Global: "module.name". Integer of more than 8 bytes: its bytes, little-endian.
  std::string text{};
  /// Tuple, List, Set: elements. Dict: key, value, key, ... Call, Object: function or class, arguments. Persistent: id.
  std::vector<PickleId> items{};
  std::vector<PickleId> entries{};  ///< Call, Object: key, value, key, ... that were set in it as in a dict
  PickleId state = kNoPickle;       ///< Call, Object: attributes
};

/// The values of a pickle. They may hold each other in circles.
struct Pickle {
  std::vector<PickleNode> nodes{};
  PickleId root = 0;
  std::size_t size_bytes = 0;  ///< length of the pickle

  /// Node of an id.
  [[nodiscard]] const PickleNode& operator[](PickleId id) const { return nodes.at(id); }
};

/// Reads the pickle at the beginning of `bytes`; more may follow. Memory is bounded by the length of the pickle.
/// Failure, with the offset, for a truncated pickle, an opcode that no state dict needs, or a stack that does not fit.
/// Failure also for a call of a function that is not in `calls`, and more than a million values.
/// @param what names the pickle in errors
/// @param calls functions that may be called, as "module.name"
[[nodiscard]] Result<Pickle> parse_pickle(std::span<const std::byte> bytes, std::string_view what,
                                          std::span<const std::string_view> calls);

/// Name for an error: "a call of os.system", "a dict", "an object of argparse.Namespace", "os.system".
[[nodiscard]] std::string pickle_text(const Pickle& pickle, PickleId id);

}  // namespace roentgen::io
