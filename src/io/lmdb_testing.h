// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes the file of an LMDB database for tests in liblmdb's layout, at most two levels deep.
// tools/peers/records_lmdb.py checks that liblmdb reads and writes the same.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::io::testing {

/// Builds data.mdb with pages of 4096 bytes.
class LmdbWriter {
 public:
  static constexpr std::size_t kPage_bytes = 4096;
  /// Longer values are stored in separate pages, as liblmdb does.
  static constexpr std::size_t kInside_bytes = 1000;

  /// Encodes a database with `leaf_entries` entries per leaf page.
  static std::string file(const std::map<std::string, std::string>& entries, std::size_t leaf_entries = 3) {
    LmdbWriter writer;
    writer.pages_.resize(2);
    std::vector<std::pair<std::string, std::uint64_t>> leaves;  // first key and page number of each
    for (auto at = entries.begin(); at != entries.end();) {
      const std::string first = at->first;
      std::vector<std::string> nodes;
      for (std::size_t i = 0; i < leaf_entries && at != entries.end(); ++i, ++at) {
        nodes.push_back(writer.leaf_node(at->first, at->second));
      }
      leaves.emplace_back(first, writer.add_page(0x02, nodes));
    }
    std::uint64_t root = ~std::uint64_t{0};
    if (leaves.size() == 1) root = leaves[0].second;
    if (leaves.size() > 1) {
      std::vector<std::string> nodes;
      for (const auto& [key, page] : leaves) nodes.push_back(branch_node(nodes.empty() ? "" : key, page));
      root = writer.add_page(0x01, nodes);
    }
    writer.add_metas(entries.size(), root);
    std::string file;
    for (const std::string& page : writer.pages_) file += page;
    return file;
  }

  template <typename Number>
  static void put(std::string& page, std::size_t at, Number number) {
    std::memcpy(page.data() + at, &number, sizeof number);
  }

 private:
  template <typename Number>
  static std::string bytes(Number number) {
    return {reinterpret_cast<const char*>(&number), sizeof number};
  }
  static std::string node(std::uint64_t low48, std::uint16_t key, std::string_view data) {
    std::string node = bytes(low48).substr(0, 6) + bytes(key) + std::string(data);
    if (node.size() % 2 != 0) node += '\0';
    return node;
  }
  static std::string branch_node(const std::string& key, std::uint64_t page) {
    return node(page, static_cast<std::uint16_t>(key.size()), key);
  }
  std::string leaf_node(const std::string& key, const std::string& value) {
    const bool is_big = value.size() > kInside_bytes;
    const std::uint64_t head = value.size() | static_cast<std::uint64_t>(is_big ? 1 : 0) << 32;
    return node(head, static_cast<std::uint16_t>(key.size()), key + (is_big ? bytes(add_value(value)) : value));
  }
  std::uint64_t add_value(const std::string& value) {
    const std::uint64_t first = pages_.size();
    const std::size_t count = (value.size() + 16 + kPage_bytes - 1) / kPage_bytes;
    std::string run(count * kPage_bytes, '\0');
    put(run, 0, first);
    put(run, 10, std::uint16_t{0x04});
    put(run, 12, static_cast<std::uint32_t>(count));
    run.replace(16, value.size(), value);
    for (std::size_t i = 0; i < count; ++i) pages_.push_back(run.substr(i * kPage_bytes, kPage_bytes));
    return first;
  }
  std::uint64_t add_page(std::uint16_t flags, const std::vector<std::string>& nodes) {
    std::string page(kPage_bytes, '\0');
    put(page, 0, static_cast<std::uint64_t>(pages_.size()));
    put(page, 10, flags);
    std::size_t upper = kPage_bytes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      upper -= nodes[i].size();
      page.replace(upper, nodes[i].size(), nodes[i]);
      put(page, 16 + 2 * i, static_cast<std::uint16_t>(upper));
    }
    put(page, 12, static_cast<std::uint16_t>(16 + 2 * nodes.size()));
    put(page, 14, static_cast<std::uint16_t>(upper));
    pages_.push_back(page);
    return pages_.size() - 1;
  }
  void add_metas(std::uint64_t entries, std::uint64_t root) {
    for (std::uint64_t i = 0; i < 2; ++i) {
      std::string page(kPage_bytes, '\0');
      put(page, 0, i);
      put(page, 10, std::uint16_t{0x08});
      put(page, 16, std::uint32_t{0xBEEFC0DE});
      put(page, 20, std::uint32_t{1});
      put(page, 40, static_cast<std::uint32_t>(kPage_bytes));
      // The first meta page is that of the previous transaction, when the database was empty.
      put(page, 16 + 72 + 32, i == 0 ? 0 : entries);
      put(page, 16 + 72 + 40, i == 0 ? ~std::uint64_t{0} : root);
      put(page, 16 + 120, i == 0 ? 1 : static_cast<std::uint64_t>(pages_.size() - 1));
      put(page, 16 + 128, i);
      pages_[i] = page;
    }
  }

  std::vector<std::string> pages_;
};

}  // namespace roentgen::io::testing
