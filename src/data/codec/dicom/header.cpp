// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/header.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcelem.h>
#include <dcmtk/dcmdata/dcuid.h>
#include <fmt/core.h>

namespace roentgen::data {
namespace {

constexpr std::string_view kThing = "data.dicom";
constexpr std::string_view kMendRemedy = "fetching the file again";
constexpr std::string_view kKindRemedy = "leaving the file out, or its conversion to a PNG";

struct Coding {
  const char* syntax;
  PixelCoding coding;
};
constexpr std::array kCodings{Coding{UID_LittleEndianImplicitTransferSyntax, PixelCoding::Plain},
                              Coding{UID_LittleEndianExplicitTransferSyntax, PixelCoding::Plain},
                              Coding{UID_BigEndianExplicitTransferSyntax, PixelCoding::Plain},
                              Coding{UID_DeflatedExplicitVRLittleEndianTransferSyntax, PixelCoding::Plain},
                              Coding{UID_JPEGProcess1TransferSyntax, PixelCoding::Jpeg8},
                              Coding{UID_JPEGProcess2_4TransferSyntax, PixelCoding::Dcmtk},
                              Coding{UID_JPEGProcess14TransferSyntax, PixelCoding::Dcmtk},
                              Coding{UID_JPEGProcess14SV1TransferSyntax, PixelCoding::Dcmtk},
                              Coding{UID_JPEGLSLosslessTransferSyntax, PixelCoding::Dcmtk},
                              Coding{UID_JPEGLSLossyTransferSyntax, PixelCoding::Dcmtk},
                              Coding{UID_RLELosslessTransferSyntax, PixelCoding::Dcmtk},
                              Coding{UID_JPEG2000LosslessOnlyTransferSyntax, PixelCoding::Jpeg2000},
                              Coding{UID_JPEG2000TransferSyntax, PixelCoding::Jpeg2000}};

std::int64_t integer_of(DcmItem& item, const DcmTagKey& tag, std::int64_t absent) {
  Uint16 value = 0;
  return item.findAndGetUint16(tag, value).good() ? std::int64_t{value} : absent;
}

std::optional<double> number_of(DcmItem& item, const DcmTagKey& tag) {
  Float64 value = 0.0;
  if (item.findAndGetFloat64(tag, value).bad() || !std::isfinite(value)) return std::nullopt;
  return value;
}

// A value that is stored as US or SS, whichever the file says, of the sign that the pixels have.
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

// PS3.3 C.11.1.1.1 and C.11.2.1.1. 8-bit entries may lie two to a word.
Result<std::optional<DicomLut>> read_lut(DcmItem& dataset, const DcmTagKey& sequence, bool is_signed,
                                         std::string_view what) {
  DcmItem* item = nullptr;
  if (dataset.findAndGetSequenceItem(sequence, item, 0).bad() || item == nullptr) {
    return std::optional<DicomLut>();
  }
  const auto count = sample_value_of(*item, DCM_LUTDescriptor, false, 0);
  const auto first = sample_value_of(*item, DCM_LUTDescriptor, is_signed, 1);
  const auto bits = sample_value_of(*item, DCM_LUTDescriptor, false, 2);
  const Uint16* words = nullptr;
  unsigned long stored = 0;
  const bool has_data = item->findAndGetUint16Array(DCM_LUTData, words, &stored).good() && words != nullptr;
  const std::size_t entries = count.value_or(0) == 0 ? 65536 : static_cast<std::size_t>(*count);
  const bool is_packed = bits == 8 && stored == (entries + 1) / 2 && entries > 1;
  if (!count || !first || !bits || *bits < 8 || *bits > 16 || !has_data || (stored < entries && !is_packed)) {
    return failure(kThing, what, "a table of 8 to 16 bits with as many entries as it says",
                   fmt::format("{} of {} entries, {} bits", has_data ? stored : 0, entries, bits.value_or(0)),
                   "preprocess.intensity=stored for another file, or " + std::string(kMendRemedy));
  }
  DicomLut lut{.first = *first, .bits = static_cast<int>(*bits), .entries = std::vector<std::uint16_t>(entries)};
  for (std::size_t i = 0; i < entries; ++i) {
    lut.entries[i] = is_packed ? static_cast<std::uint16_t>((words[i / 2] >> (i % 2 * 8)) & 0xFFU) : words[i];
  }
  return std::optional(std::move(lut));
}

std::optional<VoiWindow> read_window(DcmItem& dataset) {
  const auto center = number_of(dataset, DCM_WindowCenter);
  const auto width = number_of(dataset, DCM_WindowWidth);
  if (!center || !width) return std::nullopt;
  VoiWindow window{.center = *center, .width = *width};
  const std::string function = text_of(dataset, DCM_VOILUTFunction);
  if (function == "LINEAR_EXACT") window.function = VoiFunction::LinearExact;
  if (function == "SIGMOID") window.function = VoiFunction::Sigmoid;
  if (!is_defined(window)) return std::nullopt;
  return window;
}

// The least and the greatest that the modality step can give, the first of which says whether a VOI table's first
// input has a sign.
bool has_negative_values(const GrayMeaning& meaning) {
  if (meaning.modality) return false;
  const double span = static_cast<double>(std::int64_t{1} << meaning.bits_stored);
  const double least = meaning.is_signed ? -span / 2.0 : 0.0;
  const double most = least + span - 1.0;
  return std::min(meaning.slope * least, meaning.slope * most) + meaning.intercept < 0.0;
}

Status read_meaning(DcmDataset& dataset, std::string_view what, GrayMeaning& meaning) {
  meaning.is_inverted = text_of(dataset, DCM_PhotometricInterpretation) == "MONOCHROME1" ||
                        text_of(dataset, DCM_PresentationLUTShape) == "INVERSE";
  auto modality = read_lut(dataset, DCM_ModalityLUTSequence, meaning.is_signed, what);
  if (!modality) return modality.why();
  meaning.modality = std::move(modality).value();
  const double slope = number_of(dataset, DCM_RescaleSlope).value_or(1.0);
  meaning.slope = slope == 0.0 ? 1.0 : slope;
  meaning.intercept = number_of(dataset, DCM_RescaleIntercept).value_or(0.0);
  auto voi = read_lut(dataset, DCM_VOILUTSequence, has_negative_values(meaning), what);
  if (!voi) return voi.why();
  meaning.voi = std::move(voi).value();
  meaning.window = read_window(dataset);
  if (const auto padding = sample_value_of(dataset, DCM_PixelPaddingValue, meaning.is_signed)) {
    const auto limit = sample_value_of(dataset, DCM_PixelPaddingRangeLimit, meaning.is_signed).value_or(*padding);
    meaning.padding = std::minmax(*padding, limit);
  }
  return Done{};
}

Status check_kind(DcmDataset& dataset, std::string_view what, DicomExtent extent) {
  const auto refuse = [&](std::string_view expected, std::string_view got) {
    return failure(kThing, what, expected, got, kKindRemedy);
  };
  const bool has_size = dataset.tagExists(DCM_Rows) && dataset.tagExists(DCM_Columns);
  if (!has_size || (extent == DicomExtent::Whole && !dataset.tagExists(DCM_PixelData))) {
    const std::string modality = text_of(dataset, DCM_Modality);
    return refuse("an image", (has_size ? "no pixel data" : "no rows and columns") +
                                  (modality.empty() ? std::string() : ", modality " + modality));
  }
  const std::string colour = text_of(dataset, DCM_PhotometricInterpretation);
  const std::int64_t samples = integer_of(dataset, DCM_SamplesPerPixel, 1);
  if ((colour != "MONOCHROME1" && colour != "MONOCHROME2") || samples != 1) {
    return refuse(
        "a gray image, MONOCHROME1 or MONOCHROME2",
        fmt::format("{}, {} samples a pixel", colour.empty() ? "no photometric interpretation" : colour, samples));
  }
  Sint32 frames = 1;
  const std::string frames_text = text_of(dataset, DCM_NumberOfFrames);
  const bool has_count = !frames_text.empty() && dataset.findAndGetSint32(DCM_NumberOfFrames, frames).good();
  if (!frames_text.empty() && (!has_count || frames != 1)) {
    return refuse("one frame", has_count ? fmt::format("{} frames", frames) : "\"" + frames_text + "\" frames");
  }
  return Done{};
}

}  // namespace

Result<PixelCoding> coding_of(const std::string& syntax, std::string_view what) {
  if (syntax.empty()) return PixelCoding::Plain;
  for (const Coding& known : kCodings) {
    if (syntax == known.syntax) return known.coding;
  }
  const char* name = dcmFindNameOfUID(syntax.c_str());
  return failure(kThing, what, "uncompressed pixels, JPEG, JPEG-LS, JPEG 2000 or RLE",
                 fmt::format("transfer syntax {}{}", syntax, name == nullptr ? "" : fmt::format(" ({})", name)),
                 "converting it, as by dcmconv or gdcmconv --raw");
}

Result<DicomHeader> read_header(DcmDataset& dataset, const std::string& syntax, std::string_view what,
                                DicomExtent extent) {
  const Status kind = check_kind(dataset, what, extent);
  if (!kind) return kind.why();
  const auto coding = coding_of(syntax, what);
  if (!coding) return coding.why();
  DicomHeader header{.width_px = integer_of(dataset, DCM_Columns, 0),
                     .height_px = integer_of(dataset, DCM_Rows, 0),
                     .bits_allocated = static_cast<int>(integer_of(dataset, DCM_BitsAllocated, 0)),
                     .syntax = syntax};
  GrayMeaning& meaning = header.meaning;
  meaning.bits_stored = static_cast<int>(integer_of(dataset, DCM_BitsStored, header.bits_allocated));
  header.high_bit = static_cast<int>(integer_of(dataset, DCM_HighBit, meaning.bits_stored - 1));
  meaning.is_signed = integer_of(dataset, DCM_PixelRepresentation, 0) == 1;
  if ((header.bits_allocated != 8 && header.bits_allocated != 16) || meaning.bits_stored < 1 ||
      meaning.bits_stored > header.bits_allocated) {
    return failure(kThing, what, "1 to 16 bits in 8 or 16",
                   fmt::format("{} in {}", meaning.bits_stored, header.bits_allocated), kKindRemedy);
  }
  if (header.high_bit >= header.bits_allocated || header.high_bit + 1 < meaning.bits_stored) {
    return failure(kThing, what,
                   fmt::format("an upper bit of {} to {}", meaning.bits_stored - 1, header.bits_allocated - 1),
                   std::to_string(header.high_bit), kMendRemedy);
  }
  const Status read = read_meaning(dataset, what, meaning);
  if (!read) return read.why();
  return header;
}

}  // namespace roentgen::data
