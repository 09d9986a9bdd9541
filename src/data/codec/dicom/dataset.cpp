// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/dataset.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include <dcmtk/dcmdata/dcdeftag.h>
#include <dcmtk/dcmdata/dcmetinf.h>
#include <dcmtk/dcmdata/dcuid.h>
#include <dcmtk/oflog/oflog.h>
#include <fmt/core.h>
#include <isa-l/igzip_lib.h>

#include "data/codec/dicom/dictionary.h"
#include "data/codec/dicom/memory_stream.h"

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kThing = "data.dicom";
constexpr std::string_view kMendRemedy = "fetching the file again";
/// Limit on nested items. DCMTK reads nested sequences recursively, and every level needs an item. A radiograph has
/// tens.
constexpr std::size_t kMostItems = 500;
/// Number of bytes searched first for the elements before the pixels. In most radiographs the pixels begin within them.
constexpr std::size_t kHead_bytes = std::size_t{1} << 18;
/// Limit on the unpacked size of a deflated file. DEFLATE compresses by a factor of at most 1,032.
constexpr std::size_t kMostInflated_bytes = std::size_t{1} << 28;

void prepare_dcmtk() {
  static std::once_flag done;
  std::call_once(done, [] {
    OFLog::configure(OFLogger::OFF_LOG_LEVEL);
    complete_dictionary();
  });
}

// Counts tags of items in both byte orders. Equal bytes inside values count too, so the result is an upper bound.
std::size_t count_items(Bytes bytes) {
  const auto count = [&](std::string_view tag) {
    const std::byte* at = bytes.data();
    const std::byte* const end = at + bytes.size();
    std::size_t found = 0;
    for (; found <= kMostItems; ++found) {
      const void* next = ::memmem(at, static_cast<std::size_t>(end - at), tag.data(), tag.size());
      if (next == nullptr) break;
      at = static_cast<const std::byte*>(next) + tag.size();
    }
    return found;
  };
  using namespace std::string_view_literals;
  return count("\xFE\xFF\x00\xE0"sv) + count("\xFF\xFE\xE0\x00"sv);
}

Result<std::vector<std::byte>> inflate(Bytes packed, std::string_view what) {
  std::vector<std::byte> out;
  inflate_state state;
  isal_inflate_init(&state);
  state.next_in = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(packed.data()));
  state.avail_in = static_cast<std::uint32_t>(std::min<std::size_t>(packed.size(), UINT32_MAX));
  constexpr std::size_t kPiece_bytes = std::size_t{1} << 20;
  while (state.block_state != ISAL_BLOCK_FINISH) {
    const std::size_t before = out.size();
    if (before >= kMostInflated_bytes) {
      return failure(kThing, what, fmt::format("at most {} bytes after decompression", kMostInflated_bytes), "more",
                     kMendRemedy);
    }
    out.resize(before + kPiece_bytes);
    state.next_out = reinterpret_cast<std::uint8_t*>(out.data() + before);
    state.avail_out = kPiece_bytes;
    const int error = isal_inflate(&state);
    const std::size_t gained = kPiece_bytes - state.avail_out;
    out.resize(before + gained);
    if (error != ISAL_DECOMP_OK || (gained == 0 && state.block_state != ISAL_BLOCK_FINISH)) {
      return failure(kThing, what, "complete compressed (deflated) data", "damaged or missing data", kMendRemedy);
    }
  }
  return out;
}

Failure unreadable(std::string_view what, const OFCondition& condition) {
  const bool is_cut =
      condition == EC_StreamNotifyClient || condition == EC_EndOfStream || condition == EC_InvalidStream;
  return failure(kThing, what, "a complete DICOM file", is_cut ? "truncated data" : condition.text(), kMendRemedy);
}

Status read_dataset(Bytes body, std::string_view what, E_TransferSyntax syntax, DicomExtent extent,
                    DcmDataset& dataset) {
  if (count_items(body) > kMostItems) {
    return failure(kThing, what, fmt::format("at most {} sequence items and pixel fragments", kMostItems), "more",
                   "a file with a single image");
  }
  MemoryStream stream(body);
  dataset.transferInit();
  const OFCondition condition =
      extent == DicomExtent::Whole
          ? dataset.read(stream, syntax, EGL_noChange, kLongValue_bytes)
          : dataset.readUntilTag(stream, syntax, EGL_noChange, kLongValue_bytes, DCM_PixelData);
  dataset.transferEnd();
  if (condition.bad()) return unreadable(what, condition);
  return Done{};
}

// Transfer syntax with which DCMTK reads the data set. HTJ2K frames are stored like JPEG 2000 frames.
E_TransferSyntax syntax_of(const std::string& uid) {
  if (uid.empty()) return EXS_Unknown;
  if (uid == kHtj2kLossless || uid == kHtj2kLosslessRpcl || uid == kHtj2k) return EXS_JPEG2000;
  return DcmXfer(uid.c_str()).getXfer();
}

}  // namespace

Result<ParsedDicom> parse_dicom(Bytes bytes, std::string_view what, DicomExtent extent) {
  prepare_dcmtk();
  MemoryStream stream(bytes);
  DcmMetaInfo meta;
  meta.transferInit();
  const OFCondition read_meta = meta.read(stream, EXS_Unknown, EGL_noChange, kLongValue_bytes);
  meta.transferEnd();
  if (read_meta.bad()) return unreadable(what, read_meta);
  ParsedDicom parsed{.syntax = text_of(meta, DCM_TransferSyntaxUID), .inflated = {}, .dataset = nullptr};
  DcmXfer syntax(syntax_of(parsed.syntax));
  Bytes body = bytes.subspan(stream.at());
  if (parsed.syntax == UID_DeflatedExplicitVRLittleEndianTransferSyntax) {
    auto inflated = inflate(body, what);
    if (!inflated) return inflated.why();
    parsed.inflated = std::move(inflated).value();
    body = parsed.inflated;
    syntax = DcmXfer(EXS_LittleEndianExplicit);
  }
  if (extent == DicomExtent::UntilPixels && body.size() > kHead_bytes) {
    parsed.dataset = std::make_unique<DcmDataset>();
    if (read_dataset(body.first(kHead_bytes), what, syntax.getXfer(), extent, *parsed.dataset)) return parsed;
  }
  parsed.dataset = std::make_unique<DcmDataset>();
  const Status status = read_dataset(body, what, syntax.getXfer(), extent, *parsed.dataset);
  if (!status) return status.why();
  return parsed;
}

std::string text_of(DcmItem& item, const DcmTagKey& tag) {
  OFString value;
  if (item.findAndGetOFString(tag, value).bad()) return {};
  std::string text(value.c_str(), value.size());
  text.resize(text.find_last_not_of(std::string_view(" \0", 2)) + 1);
  text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
  return text;
}

}  // namespace roentgen::data
