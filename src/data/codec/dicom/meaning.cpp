// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/meaning.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcelem.h>
#include <fmt/core.h>

#include "data/codec/dicom/number.h"

namespace roentgen::data {
namespace {

constexpr std::string_view kThing = "data.dicom";
constexpr int kLeastLutBits = 8, kMostLutBits = 16;

// Remedy for errors in tables, rescale or windows. Intensity "stored" uses none of these.
std::string remedy(std::string_view first) { return std::string(first) + ", or setting preprocess.intensity=stored"; }

// Reads a value that may be stored as US or SS, with the sign of the pixels.
std::optional<std::int64_t> sample_value_of(DcmItem& item, const DcmTagKey& tag, bool is_signed,
                                            unsigned long position = 0) {
  DcmElement* element = nullptr;
  if (item.findAndGetElement(tag, element).bad() || element == nullptr) return std::nullopt;
  Uint16 as_unsigned = 0;
  Sint16 as_signed = 0;
  if (element->getUint16(as_unsigned, position).good()) {
    return is_signed ? std::int64_t{static_cast<std::int16_t>(as_unsigned)} : std::int64_t{as_unsigned};
  }
  if (element->getSint16(as_signed, position).good()) {
    return is_signed ? std::int64_t{as_signed} : std::int64_t{static_cast<std::uint16_t>(as_signed)};
  }
  return std::nullopt;
}

// Reads the words of LUT Data. Bytes of an OB element are joined in pairs, in the order in which a word stores them.
std::vector<std::uint16_t> words_of(DcmItem& item) {
  DcmElement* element = nullptr;
  if (item.findAndGetElement(DCM_LUTData, element).bad() || element == nullptr) return {};
  Uint16* words = nullptr;
  Uint8* bytes = nullptr;
  const std::size_t count = element->getLength() / sizeof(Uint16);
  if (element->getUint16Array(words).good() && words != nullptr) return {words, words + count};
  if (element->getUint8Array(bytes).bad() || bytes == nullptr) return {};
  std::vector<std::uint16_t> joined(count);
  for (std::size_t i = 0; i < count; ++i) {
    joined[i] = static_cast<std::uint16_t>(bytes[2 * i] | std::uint32_t{bytes[2 * i + 1]} << 8U);
  }
  return joined;
}

/// A lookup table, and what its description states.
struct ReadLut {
  DicomLut lut;
  int said_bits = 0;
  bool is_packed = false;
};

// Number of bits that all entries need. DCMTK's viewer counts in the same way (ELM_IgnoreValue).
int bits_of_entries(const DicomLut& lut) {
  return std::max(kLeastLutBits, static_cast<int>(std::bit_width(*std::ranges::max_element(lut.entries))));
}

// Reads a lookup table (PS3.3 C.11.1.1.1 and C.11.2.1.1). 8-bit entries may be stored two to a word. nullopt if there
// is no such sequence.
Result<std::optional<ReadLut>> read_lut(DcmItem& dataset, const DcmTagKey& sequence, bool is_signed,
                                        std::string_view what) {
  DcmItem* item = nullptr;
  if (dataset.findAndGetSequenceItem(sequence, item, 0).bad() || item == nullptr) return std::optional<ReadLut>();
  const auto count = sample_value_of(*item, DCM_LUTDescriptor, false, 0);
  const auto first = sample_value_of(*item, DCM_LUTDescriptor, is_signed, 1);
  const auto bits = sample_value_of(*item, DCM_LUTDescriptor, false, 2);
  const std::vector<std::uint16_t> words = words_of(*item);
  const std::size_t entries = count.value_or(0) == 0 ? 65536 : static_cast<std::size_t>(*count);
  const bool is_packed = words.size() == (entries + 1) / 2 && entries > 1;
  if (!count || !first || !bits || *bits < kLeastLutBits || *bits > kMostLutBits ||
      (words.size() < entries && !is_packed)) {
    return failure(kThing, what, "a lookup table of 8 to 16 bits with the stated number of entries",
                   fmt::format("{} of {} entries, {} bits", words.size(), entries, bits.value_or(0)),
                   remedy("fetching the file again"));
  }
  ReadLut read{.said_bits = static_cast<int>(*bits), .is_packed = is_packed};
  read.lut = {.first = *first, .bits = read.said_bits, .entries = std::vector<std::uint16_t>(entries)};
  for (std::size_t i = 0; i < entries; ++i) {
    read.lut.entries[i] = is_packed ? static_cast<std::uint16_t>((words[i / 2] >> (i % 2 * 8)) & 0xFFU) : words[i];
  }
  return std::optional(std::move(read));
}

// Sets the table's bits from its entries. A largest entry of exactly 2^bits is considered one too large, and does not
// add a bit.
DicomLut with_own_bits(ReadLut read, std::vector<std::string>& notes) {
  const int bits = bits_of_entries(read.lut);
  const std::uint32_t most = *std::ranges::max_element(read.lut.entries);
  if (bits == read.said_bits || most == std::uint32_t{1} << read.said_bits) return std::move(read.lut);
  read.lut.bits = bits;
  notes.push_back(fmt::format("DICOM lookup tables that state {} bits but have entries of {}{} are read with {} bits",
                              read.said_bits, bits, read.is_packed ? ", two to a word," : "", bits));
  return std::move(read.lut);
}

Failure unreadable_number(std::string_view what, std::string_view name, std::string_view expected,
                          std::string_view got) {
  return failure(kThing, what, fmt::format("{} as {}", name, expected), got, remedy("correcting it in the file"));
}

// Reads the number in element `tag`; `absent` if the file does not state it.
Result<double> decimal_of(DcmItem& dataset, const DcmTagKey& tag, std::string_view name, double absent,
                          std::string_view what) {
  const std::vector<std::string> values = values_of(dataset, tag);
  if (values.empty()) return absent;
  const auto value = values.size() == 1 ? parse_decimal(values[0]) : std::nullopt;
  if (value) return *value;
  return unreadable_number(what, name, "one decimal number",
                           values.size() == 1 ? quoted_value(values[0]) : fmt::format("{} values", values.size()));
}

Status read_rescale(DcmItem& dataset, std::string_view what, GrayMeaning& meaning) {
  constexpr std::string_view kSlope = "Rescale Slope (0028,1053)";
  const auto slope = decimal_of(dataset, DCM_RescaleSlope, kSlope, 1.0, what);
  if (!slope) return slope.why();
  if (!std::isnormal(slope.value())) {
    return unreadable_number(what, kSlope, "a number other than 0", fmt::format("{}", slope.value()));
  }
  const auto intercept = decimal_of(dataset, DCM_RescaleIntercept, "Rescale Intercept (0028,1052)", 0.0, what);
  if (!intercept) return intercept.why();
  const double span = static_cast<double>(std::int64_t{1} << meaning.bits_stored);
  if (slope.value() * span + intercept.value() == intercept.value()) {
    return unreadable_number(what, kSlope, "a slope that maps stored values to different numbers",
                             fmt::format("{} with an intercept of {}", slope.value(), intercept.value()));
  }
  meaning.slope = slope.value();
  meaning.intercept = intercept.value();
  return Done{};
}

VoiFunction read_function(DcmItem& dataset, DicomView& view) {
  std::string name = text_of(dataset, DCM_VOILUTFunction);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (name == "LINEAR_EXACT") return VoiFunction::LinearExact;
  if (name == "SIGMOID") return VoiFunction::Sigmoid;
  if (!name.empty() && name != "LINEAR") {
    view.notes.emplace_back("DICOM windows with a VOI LUT Function that DICOM does not define are read as LINEAR");
  }
  return VoiFunction::Linear;
}

// Reads the first complete window that DICOM defines. Skips empty and undefined windows.
Status read_window(DcmItem& dataset, std::string_view what, DicomHeader& header) {
  const std::vector<std::string> centers = values_of(dataset, DCM_WindowCenter);
  const std::vector<std::string> widths = values_of(dataset, DCM_WindowWidth);
  VoiWindow window{.function = read_function(dataset, header.view)};
  for (std::size_t i = 0; i < std::min(centers.size(), widths.size()); ++i) {
    if (centers[i].empty() || widths[i].empty()) continue;
    const auto center = parse_decimal(centers[i]), width = parse_decimal(widths[i]);
    if (!center) {
      return unreadable_number(what, "Window Center (0028,1050)", "decimal numbers", quoted_value(centers[i]));
    }
    if (!width || std::fpclassify(*width) == FP_SUBNORMAL) {
      return unreadable_number(what, "Window Width (0028,1051)", "decimal numbers", quoted_value(widths[i]));
    }
    window.center = *center;
    window.width = *width;
    if (!is_defined(window)) continue;
    header.meaning.window = window;
    return Done{};
  }
  if (!centers.empty() || !widths.empty()) {
    header.view.notes.emplace_back("DICOM windows without a center or with a width below 1 are not applied");
  }
  return Done{};
}

// True if the modality step can produce negative values. The first input of a VOI table is then signed.
bool has_negative_values(const GrayMeaning& meaning) {
  if (meaning.modality) return false;
  const double span = static_cast<double>(std::int64_t{1} << meaning.bits_stored);
  const double least = meaning.is_signed ? -span / 2.0 : 0.0;
  const double most = least + span - 1.0;
  return std::min(meaning.slope * least, meaning.slope * most) + meaning.intercept < 0.0;
}

Status read_view(DcmItem& dataset, std::string_view what, DicomHeader& header) {
  GrayMeaning& meaning = header.meaning;
  std::vector<std::string> modality_notes;
  auto modality = read_lut(dataset, DCM_ModalityLUTSequence, meaning.is_signed, what);
  if (!modality) return modality.why();
  if (auto& table = modality.value()) {
    meaning.modality = with_own_bits(std::move(*table), modality_notes);
  } else if (const Status rescale = read_rescale(dataset, what, meaning); !rescale) {
    return rescale;
  }
  auto voi = read_lut(dataset, DCM_VOILUTSequence, has_negative_values(meaning), what);
  if (!voi) return voi.why();
  if (auto& table = voi.value()) {
    meaning.voi = with_own_bits(std::move(*table), header.view.notes);
    return Done{};
  }
  Status window = read_window(dataset, what, header);
  // With a window, the bits of the modality table do not matter.
  if (!meaning.window) std::ranges::copy(modality_notes, std::back_inserter(header.view.notes));
  return window;
}

}  // namespace

void read_meaning(DcmItem& dataset, std::string_view what, DicomHeader& header) {
  GrayMeaning& meaning = header.meaning;
  meaning.is_inverted = text_of(dataset, DCM_PhotometricInterpretation) == "MONOCHROME1";
  meaning.is_shape_inverse = text_of(dataset, DCM_PresentationLUTShape) == "INVERSE";
  if (const auto padding = sample_value_of(dataset, DCM_PixelPaddingValue, meaning.is_signed)) {
    const auto limit = sample_value_of(dataset, DCM_PixelPaddingRangeLimit, meaning.is_signed).value_or(*padding);
    meaning.padding = std::minmax(*padding, limit);
  }
  if (const Status view = read_view(dataset, what, header); !view) header.view.fault = view.error();
}

}  // namespace roentgen::data
