// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes the file of an LMDB database (data.mdb) from front to back, as one transaction leaves it. The layout is that
// of io/lmdb.h. liblmdb would map the output into memory, and it needs the size of the database in advance. This writer
// appends, so the caller can write a temporary file on any file system.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roentgen::io {

/// Builds the pages of a database. Memory: one page, and the first key of each leaf page. One thread.
class LmdbWriter {
 public:
  static constexpr std::size_t kPage_bytes = 4096;  ///< size of a page, as on most machines
  /// Size of the head, which is written last.
  static constexpr std::size_t kHead_bytes = 2 * kPage_bytes;
  /// Longest key that liblmdb reads, in bytes.
  static constexpr std::size_t kMostKey_bytes = 511;

  /// Adds an entry, and returns the bytes to append to the file. Keys must ascend bytewise and have 1 to kMostKey_bytes
  /// bytes; a value must be shorter than 2^32 bytes.
  [[nodiscard]] std::string add(std::string_view key, std::string_view value);
  /// Returns the last bytes of the file. Call it once, after the last entry.
  [[nodiscard]] std::string finish();
  /// Returns the first kHead_bytes bytes of the file. Call it after finish().
  [[nodiscard]] std::string head() const;

 private:
  /// Page of the tree: its first key and its number.
  using Child = std::pair<std::string, std::uint64_t>;

  /// Numbers the page that consists of `nodes`, and appends it to `out`.
  [[nodiscard]] std::uint64_t append_page(std::string& out, std::uint16_t flags, const std::vector<std::string>& nodes);
  void append_leaf(std::string& out);
  /// Writes the branch pages above `children`, and returns them.
  [[nodiscard]] std::vector<Child> append_branches(std::string& out, const std::vector<Child>& children);

  std::vector<std::string> nodes_;  ///< nodes of the leaf page that is not written yet
  std::size_t nodes_bytes_ = 0;     ///< size of nodes_ with their offsets
  std::string first_key_;           ///< key of nodes_[0]
  std::string last_key_;            ///< key of the last entry
  std::vector<Child> leaves_;       ///< leaf pages that were written
  std::uint64_t pages_ = 2;         ///< number of pages, including the head
  std::uint64_t entries_ = 0;
  std::uint64_t branch_pages_ = 0;
  std::uint64_t overflow_pages_ = 0;
  std::uint16_t depth_ = 0;
  std::uint64_t root_ = ~std::uint64_t{0};  ///< page number; all ones for an empty database
};

}  // namespace roentgen::io
