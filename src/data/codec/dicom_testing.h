// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes DICOM files for tests byte by byte: one gray image, explicit VR, little-endian. Only tests include this file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roentgen::data {

/// Encodes a number in `bytes` bytes, little-endian.
inline std::string little_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFU);
  return out;
}

/// An element: its value representation and the bytes of its value.
struct TestElement {
  std::string vr;
  std::string value;
};

inline TestElement text_element(std::string vr, std::string text) { return {std::move(vr), std::move(text)}; }
inline TestElement number_element(std::uint16_t number) { return {"US", little_endian(number, 2)}; }

/// Encodes an element. `tag` is group << 16 | element.
inline std::string encode_element(std::uint32_t tag, const TestElement& element) {
  std::string value = element.value;
  if (value.size() % 2 != 0) value += element.vr == "UI" || element.vr == "OB" ? '\0' : ' ';
  std::string out = little_endian(tag >> 16U, 2) + little_endian(tag & 0xFFFFU, 2) + element.vr;
  const bool is_long = element.vr == "OB" || element.vr == "OW" || element.vr == "SQ" || element.vr == "UN";
  out += is_long ? std::string(2, '\0') + little_endian(value.size(), 4) : little_endian(value.size(), 2);
  return out + value;
}

/// A sequence with one item that contains these elements.
inline TestElement sequence_element(const std::map<std::uint32_t, TestElement>& elements) {
  std::string item;
  for (const auto& [tag, element] : elements) item += encode_element(tag, element);
  return {"SQ", little_endian(0xFFFE, 2) + little_endian(0xE000, 2) + little_endian(item.size(), 4) + item};
}

/// Content of a test file.
struct TestDicom {
  std::uint16_t width_px = 2;
  std::uint16_t height_px = 2;
  std::uint16_t bits_allocated = 16;
  std::uint16_t bits_stored = 12;
  bool is_signed = false;
  std::string photometric = "MONOCHROME2";
  std::string syntax = "1.2.840.10008.1.2.1";
  /// (height, width) samples as stored bits.
  std::vector<std::uint16_t> samples{0, 1000, 2000, 4095};
  /// Compressed pixel data instead of `samples`, one entry per fragment, of even length. Empty: not compressed.
  std::vector<std::string> fragments{};
  /// Elements that replace or extend the elements defined by the other members. An empty value representation removes
  /// the element.
  std::map<std::uint32_t, TestElement> elements{};
};

inline std::string pixel_bytes(const TestDicom& dicom) {
  std::string bytes;
  for (const std::uint16_t sample : dicom.samples) bytes += little_endian(sample, dicom.bits_allocated / 8);
  return bytes;
}

/// Pixel data that consist of these fragments, without an offset table.
inline std::string encapsulate(const std::vector<std::string>& fragments) {
  const auto item = [](std::uint64_t tag, std::size_t size) {
    return little_endian(0xFFFE, 2) + little_endian(tag, 2) + little_endian(size, 4);
  };
  std::string out = little_endian(0x7FE0, 2) + little_endian(0x0010, 2) + "OB" + std::string(2, '\0') +
                    little_endian(0xFFFFFFFF, 4) + item(0xE000, 0);
  for (const std::string& fragment : fragments) out += item(0xE000, fragment.size()) + fragment;
  return out + item(0xE0DD, 0);
}

/// Encodes everything after the file's meta information.
inline std::string encode_dataset(const TestDicom& dicom) {
  std::map<std::uint32_t, TestElement> elements{
      {0x00080060, text_element("CS", "DX")},
      {0x00180015, text_element("CS", "CHEST")},
      {0x00185101, text_element("CS", "PA")},
      {0x00280002, number_element(1)},
      {0x00280004, text_element("CS", dicom.photometric)},
      {0x00280010, number_element(dicom.height_px)},
      {0x00280011, number_element(dicom.width_px)},
      {0x00280100, number_element(dicom.bits_allocated)},
      {0x00280101, number_element(dicom.bits_stored)},
      {0x00280102, number_element(static_cast<std::uint16_t>(dicom.bits_stored - 1))},
      {0x00280103, number_element(dicom.is_signed ? 1 : 0)},
      {0x7FE00010, {dicom.bits_allocated == 8 ? "OB" : "OW", pixel_bytes(dicom)}}};
  if (!dicom.fragments.empty()) elements.erase(0x7FE00010);
  for (const auto& [tag, element] : dicom.elements) elements[tag] = element;
  std::string out;
  for (const auto& [tag, element] : elements) {
    if (!element.vr.empty()) out += encode_element(tag, element);
  }
  return dicom.fragments.empty() ? out : out + encapsulate(dicom.fragments);
}

/// Puts a preamble and meta information before `body`.
inline std::string with_meta(std::string_view syntax, std::string_view body) {
  const std::string uid = encode_element(0x00020010, text_element("UI", std::string(syntax)));
  const std::string length = encode_element(0x00020000, {"UL", little_endian(uid.size(), 4)});
  return std::string(128, '\0') + "DICM" + length + uid + std::string(body);
}

/// Encodes the whole file.
inline std::string encode_test_dicom(const TestDicom& dicom) { return with_meta(dicom.syntax, encode_dataset(dicom)); }

}  // namespace roentgen::data
