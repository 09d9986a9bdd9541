// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/file.h"

#include <algorithm>
#include <initializer_list>
#include <utility>
#include <vector>

#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcpixel.h>
#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmdata/dcuid.h>
#include <fmt/core.h>

#include "data/codec/codec.h"
#include "data/codec/dicom/dataset.h"
#include "data/codec/dicom/header.h"
#include "data/codec/dicom/jpeg2000.h"
#include "data/codec/dicom/jpeg_stream.h"
#include "data/codec/dicom/rle.h"

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;
using Codes = std::span<std::uint16_t>;

constexpr std::string_view kThing = "data.dicom";
constexpr std::string_view kMendRemedy = "fetching the file again";

Failure damaged(std::string_view what, std::string_view got) {
  return failure(kThing, what, "complete pixel data", got, kMendRemedy);
}

Failure several_frames(std::string_view what, std::size_t frames) {
  return failure(kThing, what, "a single image (frame)", fmt::format("pixel data of {} frames", frames),
                 "splitting the file into one file per image");
}

// Extracts each sample's stored bits as a number. Drops bits above High Bit, which may contain overlays, and bits below
// the stored bits. Adds a note if dropped bits were set, unless the upper bits only repeat the sign.
template <typename Sample>
void take_bits(const Sample* samples, DicomHeader& header, Codes codes) {
  const int shift = header.high_bit + 1 - header.meaning.bits_stored;
  const std::uint32_t mask = (std::uint32_t{1} << header.meaning.bits_stored) - 1;
  const std::uint32_t ones = ((std::uint32_t{1} << header.bits_allocated) - 1) >> (header.high_bit + 1);
  const std::uint32_t sign = header.meaning.is_signed ? std::uint32_t{1} << header.high_bit : 0;
  bool has_more = false;
  std::uint32_t below = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    const std::uint32_t sample = samples[i], above = sample >> (header.high_bit + 1);
    has_more |= above != 0 && ((sample & sign) == 0 || above != ones);
    below |= sample;
    codes[i] = static_cast<std::uint16_t>((sample >> shift) & mask);
  }
  if ((below & ((std::uint32_t{1} << shift) - 1)) != 0) {
    header.notes.push_back(
        fmt::format("DICOM files with bits set below the {} stored bits (High Bit {}): these bits are ignored",
                    header.meaning.bits_stored, header.high_bit));
  }
  if (has_more) {
    header.notes.push_back(fmt::format(
        "DICOM files with bits set above High Bit {}, such as overlays: these bits are ignored", header.high_bit));
  }
}

Status read_plain(DcmDataset& dataset, std::string_view what, DicomHeader& header, Codes codes) {
  DcmElement* element = nullptr;
  if (dataset.findAndGetElement(DCM_PixelData, element).bad() || element == nullptr) return damaged(what, "none");
  const std::size_t wanted_bytes = codes.size() * static_cast<std::size_t>(header.bits_allocated / 8);
  if (element->getLength() < wanted_bytes) {
    return damaged(what, fmt::format("only {} of {} bytes", element->getLength(), wanted_bytes));
  }
  if (element->getLength() >= 2 * wanted_bytes) return several_frames(what, element->getLength() / wanted_bytes);
  // One extra byte may be padding to an even length.
  if (element->getLength() > wanted_bytes + 1) {
    header.notes.emplace_back("DICOM files with more pixel data than the image needs: the surplus is ignored");
  }
  Uint8* bytes = nullptr;
  Uint16* words = nullptr;
  const OFCondition read = header.bits_allocated == 8 ? element->getUint8Array(bytes) : element->getUint16Array(words);
  if (read.bad() || (bytes == nullptr && words == nullptr)) return damaged(what, read.text());
  if (bytes != nullptr) {
    take_bits(bytes, header, codes);
  } else {
    take_bits(words, header, codes);
  }
  return Done{};
}

// True if a frame begins with `fragment`: a JPEG or JPEG 2000 stream, or the header of an RLE frame.
bool begins_frame(Bytes fragment, PixelCoding coding) {
  if (coding == PixelCoding::Rle) return begins_rle_frame(fragment);
  const auto begins_with = [fragment](std::initializer_list<std::uint8_t> start) {
    return fragment.size() >= start.size() && std::equal(start.begin(), start.end(), fragment.begin(),
                                                         [](std::uint8_t a, std::byte b) { return std::byte{a} == b; });
  };
  return begins_with({0xFF, 0xD8, 0xFF}) || begins_with({0xFF, 0x4F, 0xFF, 0x51});
}

/// Compressed pixel data as one stream.
struct Fragments {
  std::vector<std::byte> joined;
  /// Number of frames according to the offset table, or else to the fragments that begin a frame.
  std::size_t frames = 0;
};

Result<Fragments> read_fragments(DcmDataset& dataset, std::string_view what, PixelCoding coding) {
  DcmElement* element = nullptr;
  static_cast<void>(dataset.findAndGetElement(DCM_PixelData, element));
  auto* pixels = dynamic_cast<DcmPixelData*>(element);
  DcmPixelSequence* sequence = nullptr;
  const E_TransferSyntax syntax = dataset.getOriginalXfer();
  if (pixels == nullptr || pixels->getEncapsulatedRepresentation(syntax, nullptr, sequence).bad() ||
      sequence == nullptr) {
    return damaged(what, "no fragments");
  }
  Fragments read;
  std::size_t begun = 0;
  for (unsigned long i = 0; i < sequence->card(); ++i) {
    DcmPixelItem* item = nullptr;
    Uint8* bytes = nullptr;
    if (sequence->getItem(item, i).bad() || item == nullptr) return damaged(what, "a fragment that cannot be read");
    if (i == 0) read.frames = item->getLength() / sizeof(Uint32);  // the offset table, which may be empty
    if (i == 0 || item->getLength() == 0) continue;
    if (item->getUint8Array(bytes).bad() || bytes == nullptr) return damaged(what, "a fragment that ends early");
    const Bytes fragment(reinterpret_cast<const std::byte*>(bytes), item->getLength());
    begun += begins_frame(fragment, coding) ? 1 : 0;
    read.joined.insert(read.joined.end(), fragment.begin(), fragment.end());
  }
  if (read.joined.empty()) return damaged(what, "no fragments");
  read.frames = std::max(read.frames, begun);
  return read;
}

// Decodes baseline JPEG with TurboJPEG, after the checks of our own codec and of jpeg_stream.h.
Status read_baseline(Bytes file, std::string_view what, const DicomHeader& header, Codes codes) {
  const bool is_jpeg = file.size() > 2 && file[0] == std::byte{0xFF} && file[1] == std::byte{0xD8};
  if (!is_jpeg) return damaged(what, "no JPEG stream");
  const auto info = read_info(file, what);
  if (!info) return info.why();
  if (info.value().format != "jpeg" || info.value().channels != 1 || info.value().width_px != header.width_px ||
      info.value().height_px != header.height_px || header.meaning.bits_stored > 8) {
    return failure(kThing, what, fmt::format("an 8-bit gray JPEG of {}x{} pixels", header.width_px, header.height_px),
                   fmt::format("{}, {}x{}, {} bits stored", info.value().colour, info.value().width_px,
                               info.value().height_px, header.meaning.bits_stored),
                   kMendRemedy);
  }
  if (Status whole = check_baseline_jpeg(file, what, header); !whole) return whole;
  Image image;
  Decoder decoder;
  Status decoded = decoder.decode(file, what, {.channels = Channels::Gray, .limits = {}}, image);
  if (!decoded) return decoded;
  const std::uint32_t most = (std::uint32_t{1} << header.meaning.bits_stored) - 1;
  std::ranges::transform(image.samples<std::uint8_t>(), codes.begin(), [most](std::uint8_t sample) {
    return static_cast<std::uint16_t>(std::min<std::uint32_t>(sample, most));
  });
  return decoded;
}

Status read_rle(Bytes frame, std::string_view what, DicomHeader& header, Codes codes) {
  std::vector<std::uint16_t> samples(codes.size());
  Status decoded = decode_rle(frame, what, header.bits_allocated / 8, samples);
  if (decoded) take_bits(samples.data(), header, codes);
  return decoded;
}

}  // namespace

Result<DicomHeader> read_dicom_image_header(Bytes bytes, std::string_view what) {
  const auto parsed = parse_dicom(bytes, what, DicomExtent::UntilPixels);
  if (!parsed) return parsed.why();
  return read_header(*parsed.value().dataset, parsed.value().syntax, what, DicomExtent::UntilPixels);
}

DicomFile::DicomFile(DicomHeader header, std::unique_ptr<ParsedDicom> parsed)
    : header_(std::move(header)), parsed_(std::move(parsed)) {}
DicomFile::~DicomFile() = default;
DicomFile::DicomFile(DicomFile&&) noexcept = default;
DicomFile& DicomFile::operator=(DicomFile&&) noexcept = default;

Result<DicomFile> DicomFile::open(Bytes bytes, std::string_view what) {
  auto parsed = parse_dicom(bytes, what, DicomExtent::Whole);
  if (!parsed) return parsed.why();
  auto owned = std::make_unique<ParsedDicom>(std::move(parsed).value());
  auto header = read_header(*owned->dataset, owned->syntax, what);
  if (!header) return header.why();
  return DicomFile(std::move(header).value(), std::move(owned));
}

Status DicomFile::read_codes(std::string_view what, Codes codes) {
  RG_ASSERT(codes.size() == static_cast<std::size_t>(header_.width_px * header_.height_px));
  DcmDataset& dataset = *parsed_->dataset;
  const auto coding = coding_of(header_.syntax, what);
  if (!coding) return coding.why();
  if (coding.value() == PixelCoding::Plain) return read_plain(dataset, what, header_, codes);
  const auto fragments = read_fragments(dataset, what, coding.value());
  if (!fragments) return fragments.why();
  if (fragments.value().frames > 1) return several_frames(what, fragments.value().frames);
  const Bytes stream = fragments.value().joined;
  switch (coding.value()) {
    case PixelCoding::Rle:
      return read_rle(stream, what, header_, codes);
    case PixelCoding::Jpeg:
      return decode_jpeg(stream, what, header_, codes);
    case PixelCoding::JpegLs:
      return decode_jpeg_ls(stream, what, header_, codes);
    case PixelCoding::Jpeg2000:
      return decode_jpeg2000(stream, what, header_, codes);
    default:
      return read_baseline(stream, what, header_, codes);
  }
}

}  // namespace roentgen::data
