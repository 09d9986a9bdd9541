// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom_start.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t kPreamble_bytes = 128;
/// Group of the meta information, which is explicit little-endian, and first group of a data set.
constexpr std::uint32_t kMetaGroup = 0x0002, kFirstGroup = 0x0008;
/// Longest value accepted for a first element; character sets, image types and UIDs are shorter.
constexpr std::uint32_t kLongestFirst_bytes = 256;

enum class Order : std::uint8_t { Little, Big };
enum class Coding : std::uint8_t { Explicit, Implicit };

struct Form {
  Order order;
  Coding coding;
};

std::uint32_t number_at(Bytes bytes, std::size_t at, std::size_t size, Order order) {
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::size_t place = order == Order::Big ? at + i : at + size - 1 - i;
    number = number << 8U | std::to_integer<std::uint32_t>(bytes[place]);
  }
  return number;
}

struct Element {
  std::uint32_t group = 0;
  std::uint32_t number = 0;
  /// Offset of the element after this one.
  std::size_t end = 0;
};

// True for value representations with a length field of two bytes. Of the representations with longer length fields,
// only OB occurs in a file's first elements.
bool has_short_length(std::string_view vr) {
  constexpr std::array<std::string_view, 20> kShort{"AE", "AS", "AT", "CS", "DA", "DS", "DT", "FL", "FD", "IS",
                                                    "LO", "LT", "PN", "SH", "SL", "SS", "ST", "TM", "UI", "UL"};
  return std::ranges::find(kShort, vr) != kShort.end();
}

// Parses an element header. Returns nullopt if no element begins at `at`, or if the bytes end within its header.
std::optional<Element> element_at(Bytes bytes, std::size_t at, Form form) {
  constexpr std::size_t kHead_bytes = 8, kLongHead_bytes = 12;
  if (at > bytes.size() || bytes.size() - at < kHead_bytes) return std::nullopt;
  Element element{.group = number_at(bytes, at, 2, form.order), .number = number_at(bytes, at + 2, 2, form.order)};
  std::uint32_t length = 0;
  element.end = at + kHead_bytes;
  if (form.coding == Coding::Implicit) {
    length = number_at(bytes, at + 4, 4, form.order);
  } else {
    const std::string_view vr(reinterpret_cast<const char*>(bytes.data()) + at + 4, 2);
    if (has_short_length(vr)) {
      length = number_at(bytes, at + 6, 2, form.order);
    } else {
      if (vr != "OB" || bytes.size() - at < kLongHead_bytes) return std::nullopt;
      length = number_at(bytes, at + kHead_bytes, 4, form.order);
      element.end = at + kLongHead_bytes;
    }
  }
  if (length > kLongestFirst_bytes || length % 2 != 0) return std::nullopt;
  element.end += length;
  return element;
}

bool begins_with_elements(Bytes head, Form form) {
  const auto first = element_at(head, 0, form);
  if (!first) return false;
  const bool is_meta = first->group == kMetaGroup && form.order == Order::Little && form.coding == Coding::Explicit;
  if (!is_meta && first->group != kFirstGroup) return false;
  constexpr std::uint32_t kLastNumber = 0x0100;  // largest element number accepted for the first element
  if (first->number > kLastNumber) return false;
  if (first->end + 2 > head.size()) return form.coding == Coding::Explicit && first->end <= head.size();
  const std::uint32_t next = number_at(head, first->end, 2, form.order);
  if (next != first->group || first->end + 4 > head.size()) return next >= first->group;
  return number_at(head, first->end + 2, 2, form.order) > first->number;
}

}  // namespace

bool begins_as_dicom(Bytes head) {
  constexpr std::string_view kMark = "DICM";
  if (head.size() >= kPreamble_bytes + kMark.size() &&
      std::memcmp(head.data() + kPreamble_bytes, kMark.data(), kMark.size()) == 0) {
    return true;
  }
  return begins_with_elements(head, {Order::Little, Coding::Explicit}) ||
         begins_with_elements(head, {Order::Little, Coding::Implicit}) ||
         begins_with_elements(head, {Order::Big, Coding::Explicit});
}

}  // namespace roentgen::data
