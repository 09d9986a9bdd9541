// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The windows that have Winograd transforms, and the tiles these work on.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace roentgen::engine::cpu::simd {

/// How far values move from one result to the next: by one; by two, with a stride of 2; or by a half, in the data
/// gradient of such a stride, whose first result has two taps where the stride's pad is even, or one where it is odd.
enum class WinogradStep : std::uint8_t { One, Two, HalfEven, HalfOdd };

/// One axis of a window and of a tile: of 3, 5 or 7 taps four results at a time by Winograd's F(4, taps), of one tap
/// one result by itself.
///
/// Three taps that move by two are two windows of unstrided ones, which read every other value: of the first and the
/// third tap, by F(4, 2), and of the second. A half step is the same turned round: of eight results every other one
/// has two taps, and the others have one. What has one tap is a position for each of its four, untransformed.
struct WinogradAxis {
  /// Of an axis with a step: the position of the point at infinity, behind those of four points and of three results
  /// with one tap.
  static constexpr int kAtInfinity = 7;

  int taps = 3;
  WinogradStep step = WinogradStep::One;

  [[nodiscard]] constexpr bool is_half() const {
    return step == WinogradStep::HalfEven || step == WinogradStep::HalfOdd;
  }
  /// Results of a tile.
  [[nodiscard]] constexpr int out() const { return taps == 1 ? 1 : is_half() ? 8 : 4; }
  /// Values a tile of them reads.
  [[nodiscard]] constexpr int values() const {
    return step == WinogradStep::One ? out() + taps - 1 : step == WinogradStep::Two ? 9 : 5;
  }
  /// Values of it when transformed. The last ones reach the last results alone: those of the point at infinity and,
  /// with a step, of the last result that has one tap.
  [[nodiscard]] constexpr int positions() const { return step == WinogradStep::One ? values() : 9; }
  /// Transformed taps, and which of them a position is multiplied by: what has one tap shares it.
  [[nodiscard]] constexpr int weights() const { return step == WinogradStep::One ? positions() : 6; }
  [[nodiscard]] constexpr int weight_of(int position) const {
    if (step == WinogradStep::One || position < 4) return position;
    return position == kAtInfinity ? 4 : 5;
  }
  /// A narrow tile has so many results less, and does without so many of its last positions.
  [[nodiscard]] constexpr int narrower() const { return is_half() ? 2 : 1; }
  [[nodiscard]] constexpr int dropped() const { return step == WinogradStep::One ? 1 : 2; }
  /// The first value that a tile reads whose first result is number `result`, of a half step an even one. `pad`: zeros
  /// before the first value, of a half step those of the stride.
  [[nodiscard]] constexpr std::int64_t first_value(std::int64_t result, std::int64_t pad) const {
    if (step == WinogradStep::HalfEven) return (result + pad) / 2 - 1;
    if (step == WinogradStep::HalfOdd) return (result + pad - 1) / 2;
    return (step == WinogradStep::Two ? 2 : 1) * result - pad;
  }
  [[nodiscard]] constexpr bool operator==(const WinogradAxis&) const = default;
};

/// A window of `down` x `across` taps.
struct WinogradWindow {
  WinogradAxis down{3};
  WinogradAxis across{3};

  [[nodiscard]] constexpr int taps() const { return down.taps * across.taps; }
  /// Values of a transformed tile: of a 3x3 window 36, of a strided one 81, for 144 products of a tile's 16 results by
  /// its taps.
  [[nodiscard]] constexpr int positions() const { return down.positions() * across.positions(); }
  /// Transformed taps, and which of them a position is multiplied by.
  [[nodiscard]] constexpr int weights() const { return down.weights() * across.weights(); }
  [[nodiscard]] constexpr int weight_of(int position) const {
    return down.weight_of(position / across.positions()) * across.weights() +
           across.weight_of(position % across.positions());
  }
  [[nodiscard]] constexpr bool operator==(const WinogradWindow&) const = default;
  /// Whether there are transforms for it.
  [[nodiscard]] constexpr bool is_known() const;
};

/// A 3x3 window with a stride of 2.
constexpr WinogradWindow kStridedWindow{{3, WinogradStep::Two}, {3, WinogradStep::Two}};
/// Its data gradient's, of an axis with such a pad.
[[nodiscard]] constexpr WinogradAxis half_step(std::int64_t pad) {
  return {3, pad % 2 == 0 ? WinogradStep::HalfEven : WinogradStep::HalfOdd};
}

/// Those there are transforms for: of 3x3 and 5x5, of a row or column of 3 or 7, and of 3x3 with a stride, whose pads
/// are both even or both odd: every further one takes its time to compile.
constexpr std::array<WinogradWindow, 9> kWinogradWindows{{{{3}, {3}},
                                                          {{5}, {5}},
                                                          {{1}, {7}},
                                                          {{7}, {1}},
                                                          {{1}, {3}},
                                                          {{3}, {1}},
                                                          kStridedWindow,
                                                          {half_step(0), half_step(0)},
                                                          {half_step(1), half_step(1)}}};
/// Most taps of one of them.
constexpr int kMostWinogradTaps = std::ranges::max(kWinogradWindows, {}, &WinogradWindow::taps).taps();

constexpr bool WinogradWindow::is_known() const {
  return std::ranges::find(kWinogradWindows, *this) != kWinogradWindows.end();
}

}  // namespace roentgen::engine::cpu::simd
