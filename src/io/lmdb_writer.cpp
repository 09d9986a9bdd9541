// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Layout as in the structs MDB_meta, MDB_db, MDB_page and MDB_node in mdb.c of LMDB 0.9, on 64-bit machines.
#include "io/lmdb_writer.h"

#include "core/error.h"
#include "io/little_endian.h"

namespace roentgen::io {
namespace {

constexpr std::size_t kPageHead_bytes = 16, kNodeHead_bytes = 8, kOffset_bytes = 2;
constexpr std::size_t kRoom_bytes = LmdbWriter::kPage_bytes - kPageHead_bytes;
/// Largest node that liblmdb stores in a leaf page: at least two nodes must fit. The values of larger nodes are stored
/// in pages of their own.
constexpr std::size_t kMostNode_bytes = kRoom_bytes / 2 - kOffset_bytes;
constexpr std::uint16_t kBranch = 0x01, kLeaf = 0x02, kOverflow = 0x04, kMeta = 0x08;
constexpr std::uint16_t kBig = 0x01;          // flag of a node whose value is in pages of its own
constexpr std::uint16_t kIntegerKeys = 0x08;  // flag of the database of free pages
constexpr std::uint64_t kNoPage = ~std::uint64_t{0};

// Beginning of every page. The last two numbers are offsets of free space, or the number of pages of a large value.
void append_page_head(std::string& out, std::uint64_t number, std::uint16_t flags, std::uint32_t last) {
  append_little_endian(out, number);
  append_little_endian(out, std::uint16_t{0});
  append_little_endian(out, flags);
  append_little_endian(out, last);
}

// A node. `low` holds the length of its value and its flags, or the number of a page.
std::string node_of(std::uint64_t low, std::string_view key, std::string_view data) {
  std::string node;
  append_little_endian(node, static_cast<std::uint32_t>(low));
  append_little_endian(node, static_cast<std::uint16_t>(low >> 32));
  append_little_endian(node, static_cast<std::uint16_t>(key.size()));
  node += key;
  node += data;
  if (node.size() % 2 != 0) node += '\0';
  return node;
}

/// Counts of a database within the head.
struct Counts {
  std::uint32_t pad = 0;
  std::uint16_t flags = 0, depth = 0;
  std::uint64_t branch_pages = 0, leaf_pages = 0, overflow_pages = 0, entries = 0;
  std::uint64_t root = kNoPage;
};

void append_counts(std::string& out, const Counts& counts) {
  append_little_endian(out, counts.pad);
  append_little_endian(out, counts.flags);
  append_little_endian(out, counts.depth);
  for (const std::uint64_t number :
       {counts.branch_pages, counts.leaf_pages, counts.overflow_pages, counts.entries, counts.root}) {
    append_little_endian(out, number);
  }
}

}  // namespace

std::string LmdbWriter::add(std::string_view key, std::string_view value) {
  RG_ASSERT(!key.empty() && key.size() <= kMostKey_bytes && (entries_ == 0 || last_key_ < key));
  RG_ASSERT(value.size() <= 0xFFFF'FFFFU);
  std::string out;
  std::string node;
  if (kNodeHead_bytes + key.size() + value.size() > kMostNode_bytes) {
    const std::uint64_t pages = (kPageHead_bytes + value.size() + kPage_bytes - 1) / kPage_bytes;
    const std::uint64_t first = pages_;
    append_page_head(out, first, kOverflow, static_cast<std::uint32_t>(pages));
    out += value;
    out.resize(pages * kPage_bytes, '\0');
    pages_ += pages;
    overflow_pages_ += pages;
    std::string place;
    append_little_endian(place, first);
    node = node_of(value.size() | std::uint64_t{kBig} << 32, key, place);
  } else {
    node = node_of(value.size(), key, value);
  }
  if (nodes_bytes_ + node.size() + kOffset_bytes > kRoom_bytes) append_leaf(out);
  if (nodes_.empty()) first_key_ = key;
  nodes_bytes_ += node.size() + kOffset_bytes;
  nodes_.push_back(std::move(node));
  last_key_ = key;
  ++entries_;
  return out;
}

std::uint64_t LmdbWriter::append_page(std::string& out, std::uint16_t flags, const std::vector<std::string>& nodes) {
  std::size_t bytes = 0;
  for (const std::string& node : nodes) bytes += node.size();
  const std::size_t lower = kPageHead_bytes + kOffset_bytes * nodes.size();
  const std::size_t upper = kPage_bytes - bytes;
  RG_ASSERT(lower <= upper);
  const std::size_t begin = out.size();
  append_page_head(out, pages_, flags, static_cast<std::uint32_t>(lower | upper << 16));
  std::size_t at = kPage_bytes;  // nodes fill the page from its end
  for (const std::string& node : nodes) {
    at -= node.size();
    append_little_endian(out, static_cast<std::uint16_t>(at));
  }
  out.resize(begin + upper, '\0');
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) out += *node;
  return pages_++;
}

void LmdbWriter::append_leaf(std::string& out) {
  leaves_.emplace_back(std::move(first_key_), append_page(out, kLeaf, nodes_));
  nodes_.clear();
  nodes_bytes_ = 0;
}

// liblmdb ignores the first key of a branch page, and requires at least two children.
std::vector<LmdbWriter::Child> LmdbWriter::append_branches(std::string& out, const std::vector<Child>& children) {
  std::vector<std::size_t> ends;  // one past the last child of each page
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < children.size(); ++i) {
    const std::size_t node = kNodeHead_bytes + (children[i].first.size() + 1) / 2 * 2 + kOffset_bytes;
    if (bytes + node > kRoom_bytes) {
      ends.push_back(i);
      bytes = 0;
    }
    bytes += node;
  }
  ends.push_back(children.size());
  if (ends.size() > 1 && ends.back() - ends[ends.size() - 2] == 1) --ends[ends.size() - 2];
  std::vector<Child> parents;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    std::vector<std::string> nodes;
    for (std::size_t i = begin; i < end; ++i) {
      nodes.push_back(node_of(children[i].second, i == begin ? std::string_view() : children[i].first, {}));
    }
    parents.emplace_back(children[begin].first, append_page(out, kBranch, nodes));
    begin = end;
  }
  branch_pages_ += parents.size();
  return parents;
}

std::string LmdbWriter::finish() {
  std::string out;
  if (!nodes_.empty()) append_leaf(out);
  if (leaves_.empty()) return out;
  std::vector<Child> level = leaves_;
  for (depth_ = 1; level.size() > 1; ++depth_) level = append_branches(out, level);
  root_ = level.front().second;
  return out;
}

// The first of the two head pages belongs to transaction 0, when the database was empty.
std::string LmdbWriter::head() const {
  constexpr std::uint32_t kMagic = 0xBEEFC0DE, kVersion = 1;
  std::string head;
  for (std::uint64_t transaction = 0; transaction < 2; ++transaction) {
    const bool is_last = transaction == 1;
    append_page_head(head, transaction, kMeta, 0);
    append_little_endian(head, kMagic);
    append_little_endian(head, kVersion);
    append_little_endian(head, std::uint64_t{0});      // address of the map: any
    append_little_endian(head, pages_ * kPage_bytes);  // size of the map
    append_counts(head, {.pad = kPage_bytes, .flags = kIntegerKeys});
    append_counts(head, !is_last ? Counts{}
                                 : Counts{.depth = depth_,
                                          .branch_pages = branch_pages_,
                                          .leaf_pages = leaves_.size(),
                                          .overflow_pages = overflow_pages_,
                                          .entries = entries_,
                                          .root = root_});
    append_little_endian(head, is_last ? pages_ - 1 : std::uint64_t{1});  // number of the last page
    append_little_endian(head, transaction);
    head.resize((transaction + 1) * kPage_bytes, '\0');
  }
  return head;
}

}  // namespace roentgen::io
