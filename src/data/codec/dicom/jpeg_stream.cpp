// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/jpeg_stream.h"

#include <dcmtk/config/osconfig.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

#include <dcmtk/dcmdata/dcdatset.h>
#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmjpeg/djcparam.h>
#include <dcmtk/dcmjpeg/djdijg12.h>
#include <dcmtk/dcmjpeg/djdijg8.h>
#include <dcmtk/dcmjpls/djcodecd.h>
#include <dcmtk/dcmjpls/djcparam.h>
#include <fmt/core.h>

#include "data/codec/dicom/frame.h"
#include "data/codec/dicom/jpeg_entropy.h"

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;
using Samples = std::vector<std::uint16_t>;
using Codes = std::span<std::uint16_t>;

constexpr std::string_view kThing = "data.dicom";
constexpr std::string_view kMendRemedy = "fetching the file again";
constexpr std::string_view kPartial = "missing or surplus data";

Failure damaged(std::string_view what, std::string_view got) {
  return failure(kThing, what, "a complete JPEG stream", got, kMendRemedy);
}

Result<JpegFrame> checked_frame(Bytes stream, std::string_view what, const DicomHeader& header) {
  const auto frame = read_jpeg_frame(stream);
  if (!frame) return damaged(what, "damaged markers or no end marker");
  if (frame->components == 1 && frame->precision >= 1 && frame->precision <= 16 && frame->width_px == header.width_px &&
      frame->height_px == header.height_px) {
    return *frame;
  }
  return failure(kThing, what,
                 fmt::format("one gray channel of up to 16 bits, {}x{} pixels", header.width_px, header.height_px),
                 fmt::format("JPEG with {} channels of {} bits, {}x{}", frame->components, frame->precision,
                             frame->width_px, frame->height_px),
                 kMendRemedy);
}

/// DCMTK's decoder, extended to remember whether the JPEG library warned of damaged data.
template <typename Decoder>
class Watched final : public Decoder {
 public:
  using Decoder::Decoder;
  void emitMessage(int level) const override { has_warned_ = has_warned_ || level < 0; }
  [[nodiscard]] bool has_warned() const { return has_warned_; }

 private:
  mutable bool has_warned_ = false;
};

// Decodes with DCMTK's decoder for samples of type `Sample`. Returns true if the library warned.
template <typename Decoder, typename Sample>
Result<bool> run(Bytes stream, std::string_view what, Samples& samples) {
  const DJCodecParameter parameter(ECC_lossyYCbCr, EDC_never, EUC_never, EPC_default);
  Watched<Decoder> decoder(parameter, OFFalse);
  std::vector<Sample> decoded(samples.size());
  // DCMTK only reads the stream, but takes a non-const pointer.
  auto* bytes = reinterpret_cast<Uint8*>(const_cast<std::byte*>(stream.data()));
  OFCondition done = decoder.init();
  if (done.good()) {
    done = decoder.decode(bytes, static_cast<Uint32>(stream.size()), reinterpret_cast<Uint8*>(decoded.data()),
                          static_cast<Uint32>(decoded.size() * sizeof(Sample)), OFFalse);
  }
  if (done.bad()) return damaged(what, done.text());
  std::ranges::copy(decoded, samples.begin());
  return decoder.has_warned();
}

Status status_of(std::string_view fault, std::string_view what) {
  if (fault.empty()) return Done{};
  return damaged(what, fault);
}

// Decodes all kinds except lossless. Returns true if the library warned.
Result<bool> run_lossy(Bytes stream, std::string_view what, const JpegFrame& frame, Samples& samples) {
  if (frame.precision > 12) return damaged(what, fmt::format("lossy JPEG of {} bits", frame.precision));
  return frame.precision > 8 ? run<DJDecompressIJG12Bit, Uint16>(stream, what, samples)
                             : run<DJDecompressIJG8Bit, Uint8>(stream, what, samples);
}

Status decode_lossy(Bytes stream, std::string_view what, const JpegFrame& frame, Samples& samples) {
  // Checks the codes separately, because the library reads a few bytes ahead and does not report how many it used.
  Status whole = status_of(check_sequential_scan(frame), what);
  if (!whole) return whole;
  const auto has_warned = run_lossy(stream, what, frame, samples);
  if (!has_warned) return has_warned.why();
  // If a sequential scan is complete, warnings can only concern unusual but harmless parameters.
  if (has_warned.value() && !is_sequential(frame)) return damaged(what, kPartial);
  return whole;
}

// True if `sample` fits in the header's bits. A negative sample may be sign-extended to `precision` bits.
bool fits(std::uint32_t sample, const DicomHeader& header, int precision) {
  const int used = header.high_bit + 1;
  const std::uint32_t above = sample >> used;
  if (above == 0) return true;
  const bool is_negative = header.meaning.is_signed && ((sample >> header.high_bit) & 1U) != 0;
  return is_negative && above == ((std::uint32_t{1} << precision) - 1) >> used;
}

Status require_fitting(const Samples& samples, std::string_view what, const DicomHeader& header, int precision) {
  const auto wide =
      std::ranges::find_if_not(samples, [&](std::uint16_t sample) { return fits(sample, header, precision); });
  if (wide == samples.end()) return Done{};
  return failure(kThing, what,
                 fmt::format("pixel values of at most {} bits, as Bits Stored says", header.meaning.bits_stored),
                 fmt::format("{} in a JPEG stream of {} bits", *wide, precision),
                 "fetching the file again, or correcting Bits Stored (0028,0101) and High Bit (0028,0102)");
}

// Limits samples to the largest value. Lossy coding may exceed it by as much as the coding error.
void limit_overshoot(Samples& samples, const DicomHeader& header, std::uint32_t error) {
  if (header.meaning.is_signed) return;
  const std::uint32_t most = (std::uint32_t{1} << (header.high_bit + 1)) - 1;
  for (std::uint16_t& sample : samples) {
    if (sample > most && sample - most <= error) sample = static_cast<std::uint16_t>(most);
  }
}

void take_bits(const Samples& samples, const DicomHeader& header, Codes codes) {
  const int shift = header.high_bit + 1 - header.meaning.bits_stored;
  const std::uint32_t mask = (std::uint32_t{1} << header.meaning.bits_stored) - 1;
  std::ranges::transform(samples, codes.begin(), [shift, mask](std::uint16_t sample) {
    return static_cast<std::uint16_t>((std::uint32_t{sample} >> shift) & mask);
  });
}

// Puts one frame into a separate pixel sequence, as DCMTK's codec expects. Zeros after the end marker keep the
// decoder's look-ahead inside the buffer.
std::unique_ptr<DcmPixelSequence> sequence_of(Bytes stream) {
  constexpr std::size_t kPadding_bytes = 32;
  std::vector<Uint8> padded(stream.size() + kPadding_bytes + stream.size() % 2, 0);
  std::ranges::transform(stream, padded.begin(), [](std::byte byte) { return std::to_integer<Uint8>(byte); });
  auto sequence = std::make_unique<DcmPixelSequence>(DcmTag(DCM_PixelData, EVR_OB));
  for (const bool is_frame : {false, true}) {  // the first item is the offset table
    auto item = std::make_unique<DcmPixelItem>(DcmTag(DCM_Item, EVR_OB));
    if (is_frame && item->putUint8Array(padded.data(), static_cast<unsigned long>(padded.size())).bad()) return nullptr;
    if (sequence->insert(item.get()).bad()) return nullptr;
    static_cast<void>(item.release());
  }
  return sequence;
}

bool describe(const JpegFrame& frame, DcmDataset& dataset) {
  const auto put = [&dataset](const DcmTagKey& tag, std::int64_t value) {
    return dataset.putAndInsertUint16(tag, static_cast<Uint16>(value)).good();
  };
  return put(DCM_SamplesPerPixel, 1) && put(DCM_Rows, frame.height_px) && put(DCM_Columns, frame.width_px) &&
         put(DCM_BitsAllocated, frame.precision > 8 ? 16 : 8) && put(DCM_BitsStored, frame.precision) &&
         dataset.putAndInsertString(DCM_PhotometricInterpretation, "MONOCHROME2").good();
}

Status run_jpeg_ls(Bytes stream, std::string_view what, const JpegFrame& frame, Samples& samples) {
  DcmDataset dataset;
  const auto sequence = sequence_of(stream);
  if (!sequence || !describe(frame, dataset)) return damaged(what, "no memory for a copy");
  const std::size_t sample_bytes = frame.precision > 8 ? 2 : 1;
  std::vector<Uint8> decoded(samples.size() * sample_bytes);
  const DJLSCodecParameter parameter;
  const DJLSNearLosslessDecoder decoder;
  Uint32 first_item = 1;
  OFString colours;
  const OFCondition done = decoder.decodeFrame(nullptr, sequence.get(), &parameter, &dataset, 0, first_item,
                                               decoded.data(), static_cast<Uint32>(decoded.size()), colours);
  if (done.bad()) return damaged(what, done.text());
  if (sample_bytes == 1) {
    std::ranges::copy(decoded, samples.begin());
  } else {
    std::ranges::copy_n(reinterpret_cast<const std::uint16_t*>(decoded.data()),
                        static_cast<std::ptrdiff_t>(samples.size()), samples.begin());
  }
  return Done{};
}

}  // namespace

Status check_baseline_jpeg(Bytes stream, std::string_view what, const DicomHeader& header) {
  const auto checked = checked_frame(stream, what, header);
  if (!checked) return checked.why();
  const JpegFrame& frame = checked.value();
  if (is_sequential(frame)) return status_of(check_sequential_scan(frame), what);
  Samples ignored(static_cast<std::size_t>(header.width_px * header.height_px));
  const auto has_warned = run_lossy(stream.first(frame.length_bytes), what, frame, ignored);
  if (!has_warned) return has_warned.why();
  if (has_warned.value()) return damaged(what, kPartial);
  return Done{};
}

Status decode_jpeg(Bytes stream, std::string_view what, DicomHeader& header, Codes codes) {
  const auto checked = checked_frame(stream, what, header);
  if (!checked) return checked.why();
  const JpegFrame& frame = checked.value();
  const bool is_lossless = frame.marker == kLosslessFrame;
  Samples samples(codes.size());
  Status done = is_lossless ? status_of(decode_lossless_jpeg(frame, samples), what)
                            : decode_lossy(stream.first(frame.length_bytes), what, frame, samples);
  if (!done) return done;
  header.meaning.bits_stored = std::min(header.meaning.bits_stored, frame.precision);
  header.high_bit = std::min(header.high_bit, frame.precision - 1);
  if (is_lossless) {
    done = require_fitting(samples, what, header, frame.precision);
    if (!done) return done;
  } else {
    limit_overshoot(samples, header, UINT16_MAX);
  }
  take_bits(samples, header, codes);
  return done;
}

Status decode_jpeg_ls(Bytes stream, std::string_view what, const DicomHeader& header, Codes codes) {
  const auto checked = checked_frame(stream, what, header);
  if (!checked) return checked.why();
  const JpegFrame& frame = checked.value();
  if (frame.marker != kJpegLsFrame) return damaged(what, "a JPEG stream that is not JPEG-LS");
  Samples samples(codes.size());
  Status done = run_jpeg_ls(stream.first(frame.length_bytes), what, frame, samples);
  limit_overshoot(samples, header, static_cast<std::uint32_t>(frame.near));
  if (done) done = require_fitting(samples, what, header, frame.precision);
  if (done) take_bits(samples, header, codes);
  return done;
}

}  // namespace roentgen::data
