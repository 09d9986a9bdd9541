// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/codec/dicom/jpeg_entropy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

namespace roentgen::data {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kMissing = "truncated data", kSurplus = "surplus data",
                           kNoCode = "an undefined Huffman code";
constexpr std::string_view kHeaders = "damaged or missing tables or scan headers";
constexpr std::string_view kTooLarge = "a pixel value with more bits than the header states",
                           kRestart = "a restart marker out of order";

std::uint32_t value_of(std::byte byte) { return std::to_integer<std::uint32_t>(byte); }

/// Huffman code: finds symbols by the next bits (T.81 annex C).
class HuffmanCode {
 public:
  static constexpr std::size_t kLongest = 16;
  struct Match {
    std::uint8_t symbol = 0;
    /// Length of the code; 0 if no symbol has these bits.
    std::uint8_t bits = 0;
  };

  /// Assigns codes to symbols. Returns false if there are more codes than the lengths allow.
  /// @param counts number of symbols for each code length, kLongest numbers
  [[nodiscard]] bool assign(Bytes counts, Bytes symbols) {
    symbols_.assign(symbols.begin(), symbols.end());
    std::uint32_t code = 0;
    std::uint32_t index = 0;
    for (std::size_t bits = 1; bits <= kLongest; ++bits) {
      const std::uint32_t count = value_of(counts[bits - 1]);
      offset_[bits] = index - code;
      code += count;
      index += count;
      if (code > std::uint32_t{1} << bits) return false;
      end_[bits] = code << (kLongest - bits);
      code <<= 1U;
    }
    for (std::uint32_t look = 0; look < short_.size(); ++look) {
      short_[look] = search(look << (kLongest - kLookBits), kLookBits);
    }
    return true;
  }
  /// @param next next kLongest bits of the data
  [[nodiscard]] Match match(std::uint32_t next) const {
    const Match found = short_[next >> (kLongest - kLookBits)];
    return found.bits != 0 ? found : search(next, kLongest);
  }

 private:
  static constexpr std::size_t kLookBits = 9;

  [[nodiscard]] Match search(std::uint32_t next, std::size_t most_bits) const {
    for (std::size_t bits = 1; bits <= most_bits; ++bits) {
      if (next >= end_[bits]) continue;
      const std::uint32_t index = (next >> (kLongest - bits)) + offset_[bits];
      if (index >= symbols_.size()) return {};
      return {static_cast<std::uint8_t>(symbols_[index]), static_cast<std::uint8_t>(bits)};
    }
    return {};
  }

  std::vector<std::byte> symbols_;
  /// Indexed by code length. `end_`: first kLongest bits above all codes of that length. `offset_`: index of its first
  /// symbol minus its first code.
  std::array<std::uint32_t, kLongest + 1> end_{};
  std::array<std::uint32_t, kLongest + 1> offset_{};
  std::array<Match, std::size_t{1} << kLookBits> short_{};
};

/// Bits of a scan, without the zero bytes that follow 0xFF.
class BitReader {
 public:
  explicit BitReader(Bytes data) : data_(data) {}

  /// Loads at least 32 bits, the maximum that a symbol and its value need.
  void prepare() {
    if (count_ < 32) fill();
  }
  /// Returns the next 16 loaded bits; zeros beyond the end.
  [[nodiscard]] std::uint32_t peek16() const { return static_cast<std::uint32_t>(bits_ >> 48U); }
  void skip(int bits) {
    bits_ <<= static_cast<unsigned>(bits);
    count_ -= bits;
  }
  /// @param bits number of bits, 0 to 16
  std::uint32_t take(int bits) {
    const std::uint32_t taken = bits == 0 ? 0 : peek16() >> static_cast<unsigned>(16 - bits);
    skip(bits);
    return taken;
  }
  /// True if more bits were taken than exist before the next marker.
  [[nodiscard]] bool is_overrun() const { return count_ < 0; }
  /// True if only padding remains before the next marker or the end. Padding is less than a byte. All its bits are 1
  /// (T.81 F.1.2.3), or 0 as some encoders write them.
  [[nodiscard]] bool is_at_end() {
    fill();
    if (count_ < 0 || count_ >= 8 || (at_ != data_.size() && !is_at_marker())) return false;
    const std::uint64_t ones = ((std::uint64_t{1} << static_cast<unsigned>(count_)) - 1)
                               << static_cast<unsigned>(64 - count_) % 64U;
    return count_ == 0 || bits_ == 0 || bits_ == ones;
  }
  /// Continues after the restart marker with this number. Returns false if this marker does not follow.
  [[nodiscard]] bool take_restart(std::uint32_t number) {
    while (at_ + 1 < data_.size() && value_of(data_[at_ + 1]) == 0xFF) ++at_;
    if (!is_at_marker() || value_of(data_[at_ + 1]) != kFirstRestart + number % 8) return false;
    at_ += 2;
    bits_ = 0;
    count_ = 0;
    return true;
  }

 private:
  [[nodiscard]] bool is_at_marker() const {
    return at_ + 1 < data_.size() && value_of(data_[at_]) == 0xFF && value_of(data_[at_ + 1]) != 0;
  }
  void fill() {
    if (count_ < 0 || count_ > 56) return;
    if (data_.size() - at_ >= sizeof(std::uint64_t) && fill_at_once()) return;
    while (count_ <= 56 && at_ < data_.size() && !is_at_marker()) {
      const std::uint32_t byte = value_of(data_[at_]);
      bits_ |= std::uint64_t{byte} << static_cast<unsigned>(56 - count_);
      count_ += 8;
      at_ = std::min(at_ + (byte == 0xFF ? 2 : 1), data_.size());
    }
  }
  // Loads eight bytes at once. Returns false if one of them is 0xFF. The next call loads the bits of an incomplete byte
  // again.
  bool fill_at_once() {
    std::uint64_t next = 0;
    std::memcpy(&next, data_.data() + at_, sizeof(next));
    constexpr std::uint64_t kLows = 0x0101010101010101, kHighs = 0x8080808080808080;
    if (((~next - kLows) & next & kHighs) != 0) return false;
    if constexpr (std::endian::native == std::endian::little) next = __builtin_bswap64(next);
    bits_ |= next >> static_cast<unsigned>(count_);
    const int bytes = (64 - count_) / 8;
    count_ += 8 * bytes;
    at_ += static_cast<std::size_t>(bytes);
    return true;
  }

  Bytes data_;
  std::size_t at_ = 0;
  /// Loaded bits, from the most significant end.
  std::uint64_t bits_ = 0;
  /// Number of bits in `bits_`; negative after an overrun.
  int count_ = 0;
};

/// Tables and parameters of a frame that has one scan of one component.
struct Scan {
  std::array<std::optional<HuffmanCode>, 4> dc;
  std::array<std::optional<HuffmanCode>, 4> ac;
  std::size_t dc_number = 0;
  std::size_t ac_number = 0;
  /// Ss and Al of the scan header. In a lossless frame they are the predictor and the point transform.
  std::uint32_t first = 0;
  std::uint32_t low_bit = 0;
  /// Number of samples or blocks between restart markers; 0 if there are none.
  std::uint32_t restart_interval = 0;
  Bytes data;
};

bool read_tables(Bytes payload, Scan& scan) {
  constexpr std::size_t kHead_bytes = 1 + HuffmanCode::kLongest;
  while (!payload.empty()) {
    if (payload.size() < kHead_bytes) return false;
    const std::uint32_t kind = value_of(payload[0]) >> 4U, number = value_of(payload[0]) & 15U;
    const Bytes counts = payload.subspan(1, HuffmanCode::kLongest);
    const std::size_t symbols = std::accumulate(counts.begin(), counts.end(), std::size_t{0},
                                                [](std::size_t sum, std::byte count) { return sum + value_of(count); });
    if (kind > 1 || number >= scan.dc.size() || payload.size() - kHead_bytes < symbols) return false;
    auto& code = (kind == 0 ? scan.dc : scan.ac).at(number).emplace();
    if (!code.assign(counts, payload.subspan(kHead_bytes, symbols))) return false;
    payload = payload.subspan(kHead_bytes + symbols);
  }
  return true;
}

bool read_scan_header(const JpegSegment& segment, Scan& scan) {
  constexpr std::size_t kOneComponent_bytes = 6;
  if (segment.payload.size() != kOneComponent_bytes || value_of(segment.payload[0]) != 1) return false;
  scan.dc_number = value_of(segment.payload[2]) >> 4U;
  scan.ac_number = value_of(segment.payload[2]) & 15U;
  scan.first = value_of(segment.payload[3]);
  scan.low_bit = value_of(segment.payload[5]) & 15U;
  scan.data = segment.data;
  return true;
}

// Reads the scan of a frame. Returns nullopt if the segments do not form exactly one scan.
std::optional<Scan> read_scan(const JpegFrame& frame) {
  Scan scan;
  std::size_t scans = 0;
  for (const JpegSegment& segment : frame.segments) {
    if (segment.marker == kHuffmanTables && !read_tables(segment.payload, scan)) return std::nullopt;
    if (segment.marker == kRestartInterval) {
      if (segment.payload.size() != 2) return std::nullopt;
      scan.restart_interval = value_of(segment.payload[0]) << 8U | value_of(segment.payload[1]);
    }
    if (segment.marker == kStartOfScan && (++scans > 1 || !read_scan_header(segment, scan))) return std::nullopt;
  }
  if (scans != 1 || scan.dc_number >= scan.dc.size() || !scan.dc.at(scan.dc_number)) return std::nullopt;
  return scan;
}

// Decodes the next symbol; nullopt if the bits are no valid code.
std::optional<std::uint32_t> take_symbol(BitReader& bits, const HuffmanCode& code) {
  bits.prepare();
  const HuffmanCode::Match match = code.match(bits.peek16());
  if (match.bits == 0) return std::nullopt;
  bits.skip(match.bits);
  return match.symbol;
}

// Reads a difference of `size` bits (T.81 F.2.2.1 and H.1.2.2). Size 16 means -32768 and has no further bits.
std::int32_t take_difference(BitReader& bits, std::uint32_t size) {
  if (size == 0) return 0;
  if (size == 16) return 32768;
  const auto taken = static_cast<std::int32_t>(bits.take(static_cast<int>(size)));
  const bool is_negative = taken < std::int32_t{1} << (size - 1);
  return is_negative ? taken - (std::int32_t{1} << size) + 1 : taken;
}

// Predicted sample (T.81 table H.1) from the neighbours `a` (left), `b` (above) and `c` (above left).
std::int32_t predicted(std::uint32_t predictor, std::int32_t a, std::int32_t b, std::int32_t c) {
  switch (predictor) {
    case 1:
      return a;
    case 2:
      return b;
    case 3:
      return c;
    case 4:
      return a + b - c;
    case 5:
      return a + ((b - c) >> 1);
    case 6:
      return b + ((a - c) >> 1);
    default:
      return (a + b) >> 1;
  }
}

/// Checks the restart markers of a scan, unit by unit.
class Restarts {
 public:
  explicit Restarts(std::uint32_t interval) : interval_(interval) {}
  /// True if a restart marker is due before this unit.
  [[nodiscard]] bool is_due(std::size_t unit) const { return interval_ != 0 && unit != 0 && unit % interval_ == 0; }
  /// Takes a restart marker. Returns an error text, or empty if it is right.
  [[nodiscard]] std::string_view take(BitReader& bits) {
    if (!bits.is_at_end()) return bits.is_overrun() ? kMissing : kSurplus;
    return bits.take_restart(number_++) ? std::string_view() : kRestart;
  }

 private:
  std::uint32_t interval_;
  std::uint32_t number_ = 0;
};

std::string_view fault_at_end(BitReader& bits) {
  if (bits.is_overrun()) return kMissing;
  return bits.is_at_end() ? std::string_view() : kSurplus;
}

/// Decodes rows of a lossless scan, without the point transform.
class LosslessRows {
 public:
  /// @param bits bits of a sample. `scan` must outlive the object.
  LosslessRows(const Scan& scan, int bits)
      : code_(*scan.dc.at(scan.dc_number)), predictor_(scan.first), middle_(std::int32_t{1} << (bits - 1)) {}

  /// @param above previous row; empty in the first row and after a restart marker. Returns an error text, or empty.
  [[nodiscard]] std::string_view decode(BitReader& bits, std::span<const std::uint16_t> above,
                                        std::span<std::uint16_t> row) const {
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::int32_t prediction = i == 0 ? middle_ : std::int32_t{row[i - 1]};
      if (!above.empty()) prediction = i == 0 ? above[0] : predicted(predictor_, row[i - 1], above[i], above[i - 1]);
      const auto size = take_symbol(bits, code_);
      if (!size || *size > 16) return bits.is_overrun() ? kMissing : kNoCode;
      const std::int32_t value = (prediction + take_difference(bits, *size)) & 0xFFFF;
      if (bits.is_overrun()) return kMissing;
      if (value >= 2 * middle_) return kTooLarge;
      row[i] = static_cast<std::uint16_t>(value);
    }
    return {};
  }

 private:
  const HuffmanCode& code_;
  std::uint32_t predictor_;
  /// Half of the range of samples.
  std::int32_t middle_;
};

// Skips the codes of one block (T.81 F.1.2). Returns false for an invalid code, or for more than 64 coefficients.
bool skip_block(BitReader& bits, const HuffmanCode& dc, const HuffmanCode& ac) {
  constexpr std::uint32_t kCoefficients = 64, kMostBits = 16, kSixteenZeros = 15;
  const auto size = take_symbol(bits, dc);
  if (!size || *size > kMostBits) return false;
  bits.take(static_cast<int>(*size));
  for (std::uint32_t next = 1; next < kCoefficients;) {
    const auto symbol = take_symbol(bits, ac);
    if (!symbol) return false;
    const std::uint32_t run = *symbol >> 4U, value_bits = *symbol & 15U;
    if (value_bits == 0 && run == 0) return true;
    if (value_bits == 0 && run != kSixteenZeros) return false;
    next += run + 1;
    if (next > kCoefficients) return false;
    bits.take(static_cast<int>(value_bits));
  }
  return true;
}

}  // namespace

std::string_view decode_lossless_jpeg(const JpegFrame& frame, std::span<std::uint16_t> samples) {
  const auto scan = read_scan(frame);
  const auto width = static_cast<std::size_t>(frame.width_px);
  if (!scan || width == 0 || scan->first < 1 || scan->first > 7 || static_cast<int>(scan->low_bit) >= frame.precision) {
    return kHeaders;
  }
  if (scan->restart_interval % width != 0) return kHeaders;  // T.81 H.1.1: restart intervals are whole rows
  BitReader bits(scan->data);
  Restarts restarts(scan->restart_interval / static_cast<std::uint32_t>(width));
  LosslessRows rows(*scan, frame.precision - static_cast<int>(scan->low_bit));
  for (std::size_t row = 0; row < samples.size() / width; ++row) {
    const bool is_restarted = restarts.is_due(row);
    if (is_restarted) {
      if (const std::string_view fault = restarts.take(bits); !fault.empty()) return fault;
    }
    const bool is_first = row == 0 || is_restarted;
    const auto above = is_first ? std::span<std::uint16_t>() : samples.subspan((row - 1) * width, width);
    if (const std::string_view fault = rows.decode(bits, above, samples.subspan(row * width, width)); !fault.empty()) {
      return fault;
    }
  }
  for (std::uint16_t& sample : samples) sample = static_cast<std::uint16_t>(sample << scan->low_bit);
  return fault_at_end(bits);
}

std::string_view check_sequential_scan(const JpegFrame& frame) {
  if (!is_sequential(frame)) return {};
  const auto scan = read_scan(frame);
  if (!scan || scan->ac_number >= scan->ac.size() || !scan->ac.at(scan->ac_number)) return kHeaders;
  constexpr std::int64_t kSide_px = 8;
  const std::int64_t columns = (frame.width_px + kSide_px - 1) / kSide_px;
  const std::int64_t rows = (frame.height_px + kSide_px - 1) / kSide_px;
  const HuffmanCode& dc = *scan->dc[scan->dc_number];
  const HuffmanCode& ac = *scan->ac[scan->ac_number];
  BitReader bits(scan->data);
  Restarts restarts(scan->restart_interval);
  for (std::size_t block = 0; block < static_cast<std::size_t>(columns * rows); ++block) {
    if (restarts.is_due(block)) {
      if (const std::string_view fault = restarts.take(bits); !fault.empty()) return fault;
    }
    if (!skip_block(bits, dc, ac)) return bits.is_overrun() ? kMissing : kNoCode;
    if (bits.is_overrun()) return kMissing;
  }
  return fault_at_end(bits);
}

}  // namespace roentgen::data
