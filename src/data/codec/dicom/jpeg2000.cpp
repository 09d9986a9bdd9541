// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/jpeg2000.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/core.h>
#include <openjpeg.h>

#include "core/unique_handle.h"
#include "data/codec/big_endian.h"
#include "data/codec/dicom/guarded_decode.h"

namespace roentgen::data {
namespace {

using Codec = UniqueHandle<opj_codec_t, opj_destroy_codec>;
using Stream = UniqueHandle<opj_stream_t, opj_stream_destroy>;
using Picture = UniqueHandle<opj_image_t, opj_image_destroy>;

constexpr std::string_view kThing = "data.dicom";
constexpr std::string_view kRemedy = "fetching the file again";

/// Bytes that OpenJPEG reads, and the current position.
struct Source {
  std::span<const std::byte> bytes;
  std::size_t at = 0;
};

OPJ_SIZE_T read_bytes(void* buffer, OPJ_SIZE_T count, void* user) {
  auto& source = *static_cast<Source*>(user);
  const std::size_t done = std::min<std::size_t>(count, source.bytes.size() - source.at);
  if (done == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(buffer, source.bytes.data() + source.at, done);
  source.at += done;
  return done;
}

OPJ_OFF_T skip_bytes(OPJ_OFF_T count, void* user) {
  auto& source = *static_cast<Source*>(user);
  const auto left = static_cast<OPJ_OFF_T>(source.bytes.size() - source.at);
  if (count < 0 || left == 0) return -1;
  const OPJ_OFF_T done = std::min(count, left);
  source.at += static_cast<std::size_t>(done);
  return done;
}

OPJ_BOOL seek_bytes(OPJ_OFF_T to, void* user) {
  auto& source = *static_cast<Source*>(user);
  if (to < 0 || static_cast<std::size_t>(to) > source.bytes.size()) return OPJ_FALSE;
  source.at = static_cast<std::size_t>(to);
  return OPJ_TRUE;
}

void keep_first_line(const char* text, void* user) {
  auto& message = *static_cast<std::string*>(user);
  if (!message.empty()) return;
  message = text;
  message.resize(std::min(message.size(), message.find('\n')));
}

Stream stream_of(Source& source) {
  constexpr OPJ_SIZE_T kBuffer_bytes = 1 << 16;
  Stream stream(opj_stream_create(kBuffer_bytes, OPJ_TRUE));
  if (!stream) return stream;
  opj_stream_set_read_function(stream.get(), read_bytes);
  opj_stream_set_skip_function(stream.get(), skip_bytes);
  opj_stream_set_seek_function(stream.get(), seek_bytes);
  opj_stream_set_user_data(stream.get(), &source, nullptr);
  opj_stream_set_user_data_length(stream.get(), source.bytes.size());
  return stream;
}

OPJ_CODEC_FORMAT format_of(std::span<const std::byte> bytes) {
  const bool is_boxed = bytes.size() >= 8 && std::memcmp(bytes.data() + 4, "jP  ", 4) == 0;
  return is_boxed ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K;
}

// Returns false if the lengths in a codestream contradict its markers (ITU-T T.800 annex A). Each tile-part must end
// where the next one or the end marker begins. OpenJPEG itself ignores wrong lengths. A codestream inside a JP2 file is
// not checked.
bool has_whole_tile_parts(std::span<const std::byte> stream) {
  constexpr std::uint32_t kStart = 0xFF4F, kTilePart = 0xFF90, kEnd = 0xFFD9;
  constexpr std::size_t kMarker_bytes = 2, kTilePartHead_bytes = 12;
  if (stream.size() < kMarker_bytes || big_endian_at(stream, 0, 2) != kStart) return true;
  std::size_t at = kMarker_bytes;
  while (stream.size() - at >= 2 * kMarker_bytes && big_endian_at(stream, at, 2) != kTilePart) {
    const std::size_t length = kMarker_bytes + big_endian_at(stream, at + 2, 2);
    if (std::to_integer<int>(stream[at]) != 0xFF || length > stream.size() - at) return false;
    at += length;
  }
  while (stream.size() - at >= kTilePartHead_bytes && big_endian_at(stream, at, 2) == kTilePart) {
    const std::size_t length = big_endian_at(stream, at + 6, 4);
    if (length == 0) return true;  // a length of 0 means "up to the end marker"
    if (length < kTilePartHead_bytes || length > stream.size() - at) return false;
    at += length;
  }
  const auto rest = stream.subspan(at);
  const bool has_end = rest.size() >= kMarker_bytes && big_endian_at(rest, 0, 2) == kEnd;
  return has_end || std::ranges::all_of(rest, [](std::byte byte) { return byte == std::byte{0}; });
}

// True for HTJ2K: the main header has a CAP marker (ITU-T T.814 annex A). In a JP2 file, the codestream is searched
// for.
bool is_high_throughput(std::span<const std::byte> stream) {
  constexpr std::uint32_t kCapabilities = 0xFF50, kTilePart = 0xFF90;
  for (std::size_t at = 0; at + 2 <= stream.size(); ++at) {
    const std::uint32_t marker = big_endian_at(stream, at, 2);
    if (marker == kCapabilities) return true;
    if (marker == kTilePart) return false;
  }
  return false;
}

// Checks the header before memory for pixels is allocated.
Status check(const opj_image_t& picture, std::string_view what, const DicomHeader& header) {
  const std::int64_t width = std::int64_t{picture.x1} - picture.x0, height = std::int64_t{picture.y1} - picture.y0;
  const bool is_gray = picture.numcomps == 1 && picture.comps[0].dx == 1 && picture.comps[0].dy == 1;
  const int bits = picture.numcomps > 0 ? static_cast<int>(picture.comps[0].prec) : 0;
  if (is_gray && bits >= 1 && bits <= 16 && width == header.width_px && height == header.height_px) return Done{};
  return failure(
      kThing, what, fmt::format("one gray channel of up to 16 bits, {}x{} pixels", header.width_px, header.height_px),
      fmt::format("JPEG 2000 with {} channels of {} bits, {}x{}", picture.numcomps, bits, width, height), kRemedy);
}

// Converts samples to codes of bits_stored bits. Raises bits_stored to the codestream's precision if a sample needs it.
// If header and codestream disagree about the sign, the header's sign is used for the codestream's bits.
void take_codes(const opj_image_comp_t& gray, std::span<const std::int32_t> samples, DicomHeader& header,
                std::span<std::uint16_t> codes) {
  GrayMeaning& meaning = header.meaning;
  const int bits = static_cast<int>(gray.prec);
  const std::int32_t sign = meaning.is_signed && gray.sgnd == 0 ? std::int32_t{1} << (bits - 1) : 0;
  const auto value_of = [sign](std::int32_t sample) { return (sample ^ sign) - sign; };
  const auto fits = [&](std::int32_t sample) {
    const std::int32_t value = value_of(sample);
    const std::int32_t span = std::int32_t{1} << meaning.bits_stored;
    return meaning.is_signed ? value >= -span / 2 && value < span / 2 : value < span;
  };
  if (bits > meaning.bits_stored && !std::ranges::all_of(samples, fits)) {
    header.notes.push_back(fmt::format(
        "JPEG 2000 images with values above the {} bits of Bits Stored are read with {} bits, as their own headers say",
        meaning.bits_stored, bits));
    meaning.bits_stored = bits;
  }
  const std::uint32_t mask = (std::uint32_t{1} << meaning.bits_stored) - 1;
  std::ranges::transform(samples, codes.begin(), [&](std::int32_t sample) {
    return static_cast<std::uint16_t>(static_cast<std::uint32_t>(value_of(sample)) & mask);
  });
}

}  // namespace

Status decode_jpeg2000(std::span<const std::byte> bytes, std::string_view what, DicomHeader& header,
                       std::span<std::uint16_t> codes) {
  std::string reason;
  const auto refuse = [&](std::string_view otherwise) {
    return failure(kThing, what, "a complete JPEG 2000 image", reason.empty() ? otherwise : reason, kRemedy);
  };
  if (!has_whole_tile_parts(bytes)) return refuse("a tile-part whose length is not the stated length");
  Source source{.bytes = bytes};
  const Stream stream = stream_of(source);
  const Codec codec(opj_create_decompress(format_of(bytes)));
  if (!stream || !codec) return refuse("no memory");
  opj_set_error_handler(codec.get(), keep_first_line, &reason);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  if (opj_setup_decoder(codec.get(), &parameters) == OPJ_FALSE) return refuse("no decoder");
  opj_image_t* raw = nullptr;
  const bool has_header = opj_read_header(stream.get(), codec.get(), &raw) == OPJ_TRUE;
  const Picture picture(raw);
  if (!has_header || !picture) return refuse("a damaged header");
  const Status fits = check(*picture, what, header);
  if (!fits) return fits;
  const auto decode = [&] {
    const opj_image_comp_t& gray = picture->comps[0];
    return opj_decode(codec.get(), stream.get(), picture.get()) == OPJ_TRUE &&
           opj_end_decompress(codec.get(), stream.get()) == OPJ_TRUE && gray.data != nullptr &&
           std::size_t{gray.w} * gray.h == codes.size();
  };
  if (!is_high_throughput(bytes)) {
    if (!decode()) return refuse("damaged data");
    take_codes(picture->comps[0], std::span(picture->comps[0].data, codes.size()), header, codes);
    return Done{};
  }
  std::vector<std::int32_t> samples(codes.size());
  const bool is_decoded = decode_in_child(samples, [&](std::span<std::int32_t> out) {
    if (!decode()) return false;
    std::ranges::copy(std::span(picture->comps[0].data, codes.size()), out.begin());
    return true;
  });
  if (!is_decoded) return refuse("damaged data");
  take_codes(picture->comps[0], samples, header, codes);
  return Done{};
}

std::string jpeg2000_library() { return fmt::format("OpenJPEG {}", opj_version()); }

}  // namespace roentgen::data
