// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/gzip.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <memory>

namespace roentgen::io {
namespace {

using Sink = std::function<void(std::string_view piece)>;

enum class Ending : std::uint8_t { Whole, CutShort, Damaged, Full };

/// Unpacks until the end, damage, or `most_bytes`. Passes pieces of at most 1 MiB to `sink`, and at most `most_bytes`
/// in total; fewer only if the input ends first.
Ending unpack(std::string_view packed, std::uint64_t most_bytes, const Sink& sink) {
  constexpr std::size_t kMostInput = std::size_t{1} << 30;
  constexpr std::uint64_t kMostPiece = std::uint64_t{1} << 20;
  const auto state = std::make_unique<inflate_state>();
  // One byte more than allowed distinguishes "too long" from "exactly at the limit".
  std::string piece(static_cast<std::size_t>(std::min(kMostPiece, most_bytes + 1)), '\0');
  std::uint64_t left = most_bytes;
  const char* const end = packed.data() + packed.size();
  while (!packed.empty()) {
    isal_inflate_init(state.get());
    state->crc_flag = ISAL_GZIP;
    while (state->block_state != ISAL_BLOCK_FINISH) {
      const std::size_t in = std::min(packed.size(), kMostInput);
      // ISA-L only reads the input, but takes a non-const pointer.
      state->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(packed.data()));
      state->avail_in = static_cast<std::uint32_t>(in);
      state->next_out = reinterpret_cast<std::uint8_t*>(piece.data());
      state->avail_out = static_cast<std::uint32_t>(piece.size());
      const int error = isal_inflate(state.get());
      // At a member's end the library returns bytes that it had read ahead, possibly before this call.
      const char* const next = reinterpret_cast<const char*>(state->next_in);
      const std::size_t made = piece.size() - state->avail_out;
      const bool is_idle = next == packed.data() && made == 0;
      packed = {next, static_cast<std::size_t>(end - next)};
      const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(made, left));
      if (taken > 0) sink(std::string_view(piece).substr(0, taken));
      left -= taken;
      if (error < 0) return Ending::Damaged;
      if (made > taken) return Ending::Full;
      if (is_idle && state->block_state != ISAL_BLOCK_FINISH) return Ending::CutShort;
    }
    // Skips zero padding between members and after the last one, which archives on tapes have.
    packed.remove_prefix(std::min(packed.find_first_not_of('\0'), packed.size()));
  }
  return Ending::Whole;
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b\x08"); }

Result<std::string> gunzip(std::string_view packed, std::size_t limit_bytes, std::string_view what) {
  std::string text;
  const auto length = gunzip_to(packed, limit_bytes, what, [&text](std::string_view piece) { text += piece; });
  if (!length) return length.why();
  return text;
}

Result<std::uint64_t> gunzip_to(std::string_view packed, std::uint64_t limit_bytes, std::string_view what,
                                const Sink& sink) {
  const auto bad = [&](std::string_view got) {
    return failure("io.gzip", what, "a complete gzip file", got, "fetching the file again");
  };
  if (!is_gzip(packed)) return bad("data that are not gzip");
  std::uint64_t length = 0;
  const auto count = [&](std::string_view piece) {
    length += piece.size();
    sink(piece);
  };
  switch (unpack(packed, limit_bytes, count)) {
    case Ending::Whole:
      return length;
    case Ending::CutShort:
      return bad("a truncated file");
    case Ending::Damaged:
      return bad("a damaged file");
    case Ending::Full:
      break;
  }
  return failure("io.gzip", what, "at most " + std::to_string(limit_bytes) + " bytes when unpacked", "more",
                 "a smaller file");
}

std::string gunzip_head(std::string_view packed, std::size_t most_bytes) {
  std::string text;
  unpack(packed, most_bytes, [&text](std::string_view piece) { text += piece; });
  return text;
}

}  // namespace roentgen::io
