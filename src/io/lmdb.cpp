// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Layout as in the structs MDB_meta, MDB_db, MDB_page and MDB_node in mdb.c of LMDB 0.9.
#include "io/lmdb.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "io/little_endian.h"

namespace roentgen::io {
namespace {

constexpr std::uint32_t kMagic = 0xBEEFC0DE;
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kPageHead_bytes = 16, kNodeHead_bytes = 8, kMeta_bytes = 136;
constexpr std::uint16_t kBranch = 0x01, kLeaf = 0x02, kOverflow = 0x04, kMeta = 0x08, kLeafOfFixedKeys = 0x20;
constexpr std::uint16_t kSeveralValues = 0x04;  // flag of a database: several values per key
constexpr std::uint16_t kBig = 0x01, kDatabase = 0x02, kDuplicates = 0x04;  // flags of a node
constexpr std::uint64_t kNoPage = ~std::uint64_t{0};
constexpr std::size_t kDeepest = 32;

/// Fields of a meta page.
struct Meta {
  std::size_t page_bytes = 0;
  std::uint16_t flags = 0;
  std::uint64_t entries = 0;
  std::uint64_t root = kNoPage;
  std::uint64_t last_page = 0;
  std::uint64_t transaction = 0;
};

std::optional<Meta> meta_at(std::span<const std::byte> file, std::size_t at) {
  if (file.size() < kPageHead_bytes + kMeta_bytes || at > file.size() - kPageHead_bytes - kMeta_bytes) return {};
  const auto page = file.subspan(at);
  const auto meta = page.subspan(kPageHead_bytes);
  if ((little_endian_at<std::uint16_t>(page, 10) & kMeta) == 0) return {};
  if (little_endian_at<std::uint32_t>(meta, 0) != kMagic || little_endian_at<std::uint32_t>(meta, 4) != kVersion)
    return {};
  constexpr std::size_t kFree = 24, kMain = 72;
  return Meta{.page_bytes = little_endian_at<std::uint32_t>(meta, kFree),
              .flags = little_endian_at<std::uint16_t>(meta, kMain + 4),
              .entries = little_endian_at<std::uint64_t>(meta, kMain + 32),
              .root = little_endian_at<std::uint64_t>(meta, kMain + 40),
              .last_page = little_endian_at<std::uint64_t>(meta, 120),
              .transaction = little_endian_at<std::uint64_t>(meta, 128)};
}

// Returns the newer of the two meta pages.
std::optional<Meta> last_meta(std::span<const std::byte> file) {
  const auto first = meta_at(file, 0);
  if (!first || first->page_bytes < 512 || first->page_bytes > (1 << 16)) return std::nullopt;
  const auto second = meta_at(file, first->page_bytes);
  if (!second || second->page_bytes != first->page_bytes) return std::nullopt;
  return second->transaction > first->transaction ? second : first;
}

/// Walks the tree of pages.
class Scan {
 public:
  Scan(std::span<const std::byte> file, const Meta& meta, std::string_view what)
      : file_(file), meta_(meta), what_(what) {}

  Result<std::vector<LmdbEntry>> run() {
    if ((meta_.flags & kSeveralValues) != 0) return refuse("one value for each key", "a database with several");
    const std::uint64_t pages = file_.size() / meta_.page_bytes;
    if (meta_.last_page >= pages) {
      return refuse(fmt::format("{} pages", meta_.last_page + 1), fmt::format("{} to the end of the file", pages));
    }
    if (meta_.root != kNoPage) {
      if (auto status = walk(meta_.root, 0); !status) return status.why();
    }
    if (entries_.size() != meta_.entries) {
      return refuse(fmt::format("{} entries", meta_.entries), fmt::format("{}", entries_.size()));
    }
    return std::move(entries_);
  }

 private:
  [[nodiscard]] Failure refuse(std::string_view expected, std::string_view got) const {
    return failure("io.lmdb", what_, expected, got, "fetching or writing the database again");
  }
  [[nodiscard]] Failure refuse_page(std::uint64_t number, std::string_view expected, std::string_view got) const {
    return failure("io.lmdb", fmt::format("{}, page {}", what_, number), expected, got,
                   "fetching or writing the database again");
  }

  // Returns a page; empty if it does not exist.
  [[nodiscard]] std::span<const std::byte> page_at(std::uint64_t number) const {
    if (number < 2 || number > meta_.last_page) return {};
    const auto page = file_.subspan(static_cast<std::size_t>(number) * meta_.page_bytes, meta_.page_bytes);
    return little_endian_at<std::uint64_t>(page, 0) == number ? page : std::span<const std::byte>();
  }

  Status walk(std::uint64_t number, std::size_t depth) {
    const auto page = page_at(number);
    // Limits the walk, because a damaged tree may contain a page repeatedly.
    if (page.empty() || depth == kDeepest || ++visited_ > meta_.last_page) {
      return refuse_page(number, "a valid page of the search tree", "a damaged tree");
    }
    const auto flags = little_endian_at<std::uint16_t>(page, 10);
    const bool is_branch = (flags & kBranch) != 0;
    if (is_branch == ((flags & kLeaf) != 0) || (flags & (kOverflow | kMeta | kLeafOfFixedKeys)) != 0) {
      return refuse_page(number, "a branch or leaf page", fmt::format("flags {:x}", flags));
    }
    const std::size_t lower = little_endian_at<std::uint16_t>(page, 12);
    if (lower < kPageHead_bytes || lower > page.size() || lower % 2 != 0) {
      return refuse_page(number, "a valid table of node offsets", fmt::format("a table of {} bytes", lower));
    }
    // Subtracts each node's size from the space for nodes. If a node exceeds the rest, nodes overlap.
    std::size_t room = page.size() - lower;
    for (std::size_t at = kPageHead_bytes; at < lower; at += 2) {
      const std::size_t node = little_endian_at<std::uint16_t>(page, at);
      if (node < lower || node + kNodeHead_bytes > page.size())
        return refuse_page(number, "nodes inside the page", "a node outside");
      const std::size_t used = kNodeHead_bytes + little_endian_at<std::uint16_t>(page, node + 6);
      if (used > room) return refuse_page(number, "nodes that do not overlap", "overlapping nodes");
      room -= used;
      const auto status = is_branch ? branch(page.subspan(node), depth) : leaf(page, number, node);
      if (!status) return status;
    }
    return Done{};
  }

  Status branch(std::span<const std::byte> node, std::size_t depth) {
    const std::uint64_t child = little_endian_at<std::uint16_t>(node, 0) |
                                static_cast<std::uint64_t>(little_endian_at<std::uint16_t>(node, 2)) << 16 |
                                static_cast<std::uint64_t>(little_endian_at<std::uint16_t>(node, 4)) << 32;
    return walk(child, depth + 1);
  }

  Status leaf(std::span<const std::byte> page, std::uint64_t number, std::size_t at) {
    const auto node = page.subspan(at);
    const std::uint64_t length = little_endian_at<std::uint16_t>(node, 0) |
                                 static_cast<std::uint64_t>(little_endian_at<std::uint16_t>(node, 2)) << 16;
    const auto flags = little_endian_at<std::uint16_t>(node, 4);
    const std::size_t key = little_endian_at<std::uint16_t>(node, 6);
    const std::size_t room = node.size() - kNodeHead_bytes;
    if ((flags & (kDatabase | kDuplicates)) != 0) {
      return refuse_page(number, "one value for each key", "a nested database");
    }
    const bool is_big = (flags & kBig) != 0;
    if (key > room || (is_big ? sizeof(std::uint64_t) : length) > room - key) {
      return refuse_page(number, "keys and values inside the page", "a value that ends outside");
    }
    LmdbEntry entry{.key = std::string(reinterpret_cast<const char*>(node.data()) + kNodeHead_bytes, key),
                    .begin = number * meta_.page_bytes + at + kNodeHead_bytes + key,
                    .length = length};
    if (is_big) {
      const auto first = little_endian_at<std::uint64_t>(node, kNodeHead_bytes + key);
      const auto overflow = page_at(first);
      const std::uint64_t pages = overflow.empty() ? 0 : little_endian_at<std::uint32_t>(overflow, 12);
      if (overflow.empty() || (little_endian_at<std::uint16_t>(overflow, 10) & kOverflow) == 0 ||
          pages > meta_.last_page - first + 1 || length + kPageHead_bytes > pages * meta_.page_bytes) {
        return refuse_page(first, fmt::format("a value of {} bytes", length), "other pages");
      }
      entry.begin = first * meta_.page_bytes + kPageHead_bytes;
    }
    entries_.push_back(std::move(entry));
    return Done{};
  }

  const std::span<const std::byte> file_;
  const Meta meta_;
  const std::string_view what_;
  std::uint64_t visited_ = 0;
  std::vector<LmdbEntry> entries_;
};

}  // namespace

Result<std::vector<LmdbEntry>> scan_lmdb(std::span<const std::byte> file, std::string_view what) {
  const auto meta = last_meta(file);
  if (meta) return Scan(file, *meta, what).run();
  return failure("io.lmdb", what, "an LMDB database (format 1, 64 bits)", "other data",
                 "fetching or writing the database again");
}

}  // namespace roentgen::io
