// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/header.h"

#include <array>
#include <optional>
#include <vector>

#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcuid.h>
#include <fmt/core.h>

#include "data/codec/dicom/meaning.h"
#include "data/codec/dicom/number.h"

namespace roentgen::data {
namespace {

constexpr std::string_view kThing = "data.dicom";
constexpr std::string_view kMendRemedy = "fetching the file again";
constexpr std::string_view kKindRemedy = "leaving the file out, or converting it to PNG";

struct Coding {
  const char* syntax;
  PixelCoding coding;
};
constexpr std::array kCodings{Coding{UID_LittleEndianImplicitTransferSyntax, PixelCoding::Plain},
                              Coding{UID_LittleEndianExplicitTransferSyntax, PixelCoding::Plain},
                              Coding{UID_BigEndianExplicitTransferSyntax, PixelCoding::Plain},
                              Coding{UID_DeflatedExplicitVRLittleEndianTransferSyntax, PixelCoding::Plain},
                              Coding{UID_JPEGProcess1TransferSyntax, PixelCoding::Jpeg8},
                              Coding{UID_JPEGProcess2_4TransferSyntax, PixelCoding::Jpeg},
                              Coding{UID_JPEGProcess14TransferSyntax, PixelCoding::Jpeg},
                              Coding{UID_JPEGProcess14SV1TransferSyntax, PixelCoding::Jpeg},
                              Coding{UID_JPEGLSLosslessTransferSyntax, PixelCoding::JpegLs},
                              Coding{UID_JPEGLSLossyTransferSyntax, PixelCoding::JpegLs},
                              Coding{UID_RLELosslessTransferSyntax, PixelCoding::Rle},
                              Coding{UID_JPEG2000LosslessOnlyTransferSyntax, PixelCoding::Jpeg2000},
                              Coding{UID_JPEG2000TransferSyntax, PixelCoding::Jpeg2000},
                              Coding{kHtj2kLossless, PixelCoding::Jpeg2000},
                              Coding{kHtj2kLosslessRpcl, PixelCoding::Jpeg2000},
                              Coding{kHtj2k, PixelCoding::Jpeg2000}};

std::int64_t integer_of(DcmItem& item, const DcmTagKey& tag, std::int64_t absent) {
  Uint16 value = 0;
  return item.findAndGetUint16(tag, value).good() ? std::int64_t{value} : absent;
}

/// Value of Number of Frames (0028,0008).
struct Frames {
  std::string text;
  /// Number of frames: 1 if the file does not state it, nullopt if the text is no number.
  std::optional<double> count = 1.0;
};

Frames frames_of(DcmItem& dataset) {
  const std::vector<std::string> values = values_of(dataset, DCM_NumberOfFrames);
  if (values.empty()) return {};
  return {.text = values[0], .count = values.size() == 1 ? parse_decimal(values[0]) : std::nullopt};
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
        "a gray image (MONOCHROME1 or MONOCHROME2)",
        fmt::format("{}, {} values per pixel", colour.empty() ? "no photometric interpretation" : colour, samples));
  }
  const Frames frames = frames_of(dataset);
  if (frames.count && frames.count != 1.0) return refuse("a single image (frame)", frames.text + " frames");
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
                 "converting it with dcmconv or gdcmconv --raw");
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
  meaning.bits_stored = static_cast<int>(integer_of(dataset, DCM_BitsStored, -1));
  if (meaning.bits_stored < 0) {
    return failure(kThing, what, "a number in Bits Stored (0028,0101)", "none", "setting it with dcmodify");
  }
  header.high_bit = static_cast<int>(integer_of(dataset, DCM_HighBit, meaning.bits_stored - 1));
  meaning.is_signed = integer_of(dataset, DCM_PixelRepresentation, 0) == 1;
  if ((header.bits_allocated != 8 && header.bits_allocated != 16) || meaning.bits_stored < 1 ||
      meaning.bits_stored > header.bits_allocated) {
    return failure(kThing, what, "1 to 16 bits stored in 8 or 16 bits per pixel",
                   fmt::format("{} bits stored in {}", meaning.bits_stored, header.bits_allocated), kKindRemedy);
  }
  if (header.high_bit >= header.bits_allocated || header.high_bit + 1 < meaning.bits_stored) {
    return failure(
        kThing, what,
        fmt::format("a High Bit (0028,0102) from {} to {}", meaning.bits_stored - 1, header.bits_allocated - 1),
        std::to_string(header.high_bit), kMendRemedy);
  }
  if (const Frames frames = frames_of(dataset); !frames.count) {
    return failure(kThing, what, "a single image (frame)", quoted_value(frames.text) + " frames", kKindRemedy);
  }
  read_meaning(dataset, what, header);
  return header;
}

}  // namespace roentgen::data
