// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/gzip.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <limits>
#include <memory>

namespace roentgen::io {
namespace {

constexpr std::size_t kFirstBytes = std::size_t{1} << 16;

enum class Ending : std::uint8_t { Whole, CutShort, Damaged, Full };

/// Unpacks until the end, damage, or `most_bytes`.
Ending unpack(std::string_view packed, std::size_t most_bytes, std::string& text) {
  const auto state = std::make_unique<inflate_state>();
  text.clear();
  std::size_t length = 0;
  const char* const end = packed.data() + packed.size();
  while (!packed.empty()) {
    isal_inflate_init(state.get());
    state->crc_flag = ISAL_GZIP;
    do {
      if (length == text.size()) {
        // One byte more than allowed tells "longer" from "exactly as long".
        if (length > most_bytes) return Ending::Full;
        text.resize(std::min(std::max(kFirstBytes, 2 * length), most_bytes + 1));
      }
      constexpr std::size_t kMost = std::numeric_limits<std::uint32_t>::max() / 2;
      const std::size_t in = std::min(packed.size(), kMost);
      const std::size_t room = std::min(text.size() - length, kMost);
      // The library takes a pointer to non-const and reads only.
      state->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(packed.data()));
      state->avail_in = static_cast<std::uint32_t>(in);
      state->next_out = reinterpret_cast<std::uint8_t*>(text.data()) + length;
      state->avail_out = static_cast<std::uint32_t>(room);
      const int error = isal_inflate(state.get());
      // At a member's end the library gives back what it had read ahead, which may be from before this call.
      const char* const next = reinterpret_cast<const char*>(state->next_in);
      const std::size_t made = room - state->avail_out;
      const bool is_idle = next == packed.data() && made == 0;
      packed = {next, static_cast<std::size_t>(end - next)};
      length += made;
      if (error < 0) {
        text.resize(length);
        return Ending::Damaged;
      }
      const bool is_done = state->block_state == ISAL_BLOCK_FINISH;
      if (!is_done && is_idle && (packed.empty() || length < text.size())) {
        text.resize(length);
        return Ending::CutShort;
      }
    } while (state->block_state != ISAL_BLOCK_FINISH);
    // Padding between members and behind the last, as on tapes.
    packed.remove_prefix(std::min(packed.find_first_not_of('\0'), packed.size()));
  }
  text.resize(length);
  return length > most_bytes ? Ending::Full : Ending::Whole;
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b\x08"); }

Result<std::string> gunzip(std::string_view packed, std::size_t limit_bytes, std::string_view what) {
  const auto bad = [&](std::string_view got) {
    return failure("io.gzip", what, "a whole gzip file", got, "fetching the file again");
  };
  if (!is_gzip(packed)) return bad("other bytes");
  std::string text;
  switch (unpack(packed, limit_bytes, text)) {
    case Ending::Whole:
      return text;
    case Ending::CutShort:
      return bad("one that is cut short");
    case Ending::Damaged:
      return bad("a damaged one");
    case Ending::Full:
      break;
  }
  return failure("io.gzip", what, "at most " + std::to_string(limit_bytes) + " bytes when unpacked", "more",
                 "a file of a sensible size");
}

Result<std::uint64_t> gunzip_to(std::string_view packed, std::uint64_t limit_bytes, std::string_view what,
                                const std::function<void(std::string_view piece)>& sink) {
  const auto bad = [&](std::string_view got) {
    return failure("io.gzip", what, "a whole gzip file", got, "fetching the file again");
  };
  if (!is_gzip(packed)) return bad("other bytes");
  constexpr std::size_t kMostInput = std::size_t{1} << 30;
  const auto state = std::make_unique<inflate_state>();
  std::string piece(std::size_t{1} << 20, '\0');
  std::uint64_t length = 0;
  const char* const end = packed.data() + packed.size();
  while (!packed.empty()) {
    isal_inflate_init(state.get());
    state->crc_flag = ISAL_GZIP;
    while (state->block_state != ISAL_BLOCK_FINISH) {
      const std::size_t in = std::min(packed.size(), kMostInput);
      // The library takes a pointer to non-const and reads only.
      state->next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(packed.data()));
      state->avail_in = static_cast<std::uint32_t>(in);
      state->next_out = reinterpret_cast<std::uint8_t*>(piece.data());
      state->avail_out = static_cast<std::uint32_t>(piece.size());
      if (isal_inflate(state.get()) < 0) return bad("a damaged one");
      // As in unpack().
      const char* const next = reinterpret_cast<const char*>(state->next_in);
      const std::size_t made = piece.size() - state->avail_out;
      const bool is_idle = next == packed.data() && made == 0;
      packed = {next, static_cast<std::size_t>(end - next)};
      length += made;
      if (length > limit_bytes) {
        return failure("io.gzip", what, "at most " + std::to_string(limit_bytes) + " bytes when unpacked", "more",
                       "a file of a sensible size");
      }
      if (made > 0) sink(std::string_view(piece).substr(0, made));
      if (is_idle && state->block_state != ISAL_BLOCK_FINISH) return bad("one that is cut short");
    }
    // Padding between members and behind the last, as on tapes.
    packed.remove_prefix(std::min(packed.find_first_not_of('\0'), packed.size()));
  }
  return length;
}

std::string gunzip_head(std::string_view packed, std::size_t most_bytes) {
  std::string text;
  unpack(packed, most_bytes, text);
  text.resize(std::min(text.size(), most_bytes));
  return text;
}

}  // namespace roentgen::io
