// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The two containers of torch.save: a zip archive (PyTorch 1.6 and later), and pickles with raw data behind them. For
// torch_file.cpp only.
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

inline constexpr std::string_view kRemedy = "weights alone, saved by torch.save(model.state_dict(), FILE)";

/// Number that the older container begins with, as a pickle stores it: 0x1950a86a20f9469cfc6c, little-endian.
inline constexpr std::string_view kLegacyMagic("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 10);

/// Type of a storage's elements.
struct ElementType {
  std::string_view name{};       ///< "FloatStorage"
  std::size_t size_bytes = 0;    ///< bytes of an element
  std::optional<DType> dtype{};  ///< none for integers and bools
};

/// A storage, as a pickle names it.
struct StorageId {
  std::string type;  ///< "torch.FloatStorage"
  std::string key;
  std::int64_t elements = 0;
};

/// The storage that a Persistent node names; nullopt for another node.
[[nodiscard]] std::optional<StorageId> storage_id(const Pickle& pickle, PickleId id);

/// The type of that name, also on a GPU ("torch.cuda.FloatStorage"); nullopt for complex, quantised and unknown ones.
[[nodiscard]] std::optional<ElementType> element_type(std::string_view name);

/// Parsed parts of a file.
struct Container {
  Pickle pickle;                                                         ///< the object that was saved
  std::unordered_map<std::string, std::span<const std::byte>> storages;  ///< data, by key
};

/// Parses a file. Failure, with the position: as scan_zip(), read_zip_member() and parse_pickle(), TorchScript, a
/// missing or foreign pickle, big-endian data, truncated storages.
/// @param what names the file in errors
[[nodiscard]] Result<Container> open_container(std::span<const std::byte> file, std::string_view what);

}  // namespace roentgen::io::torch
