// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads the two container formats of torch.save: a zip archive (PyTorch 1.6 and later), and pickles followed by raw
// data. For torch_file.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/result.h"
#include "core/shape.h"
#include "io/pickle.h"

namespace roentgen::io::torch {

inline constexpr std::string_view kRemedy = "saving only the weights with torch.save(model.state_dict(), FILE)";

/// Number at the start of the older format, as a pickle stores it: 0x1950a86a20f9469cfc6c, little-endian.
inline constexpr std::string_view kLegacyMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);

/// Element type of a storage.
struct ElementType {
  std::string_view name{};       ///< such as "FloatStorage"
  std::size_t size_bytes = 0;    ///< size of an element in bytes
  std::optional<DType> dtype{};  ///< nullopt for integers and bools
};

/// A storage, as a pickle refers to it.
struct StorageId {
  std::string type;  ///< such as "torch.FloatStorage"
  std::string key;
  std::int64_t elements = 0;
};

/// Returns the storage that a Persistent node refers to; nullopt for other nodes.
[[nodiscard]] std::optional<StorageId> storage_id(const Pickle& pickle, PickleId id);

/// Returns the element type of a storage's name, also on a GPU ("torch.cuda.FloatStorage"). Returns nullopt for
/// complex, quantised and unknown types.
[[nodiscard]] std::optional<ElementType> element_type(std::string_view name);

/// Parsed parts of a file that torch.save wrote.
struct Container {
  Pickle pickle;                                                         ///< the object that was saved
  std::unordered_map<std::string, std::span<const std::byte>> storages;  ///< raw data by storage key
};

/// Parses a file. Fails, with the offset, as scan_zip(), read_zip_member() and parse_pickle() do. Also fails for
/// TorchScript, a missing or unknown pickle, big-endian data, or truncated storages.
/// @param what names the file in errors
[[nodiscard]] Result<Container> open_container(std::span<const std::byte> file, std::string_view what);

}  // namespace roentgen::io::torch
