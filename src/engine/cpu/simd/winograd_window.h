// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Windows that have Winograd transforms, and sizes of the tiles that the transforms process.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace roentgen::engine::cpu::simd {

/// One axis of a window and of a tile. With 3, 5 or 7 taps, a tile has four results, by Winograd's F(4, taps). With one
/// tap, it has one result.
struct WinogradAxis {
  int taps = 3;

  /// Number of results of a tile along the axis.
  [[nodiscard]] constexpr int out() const { return taps == 1 ? 1 : 4; }
  /// Number of values that a tile reads along the axis; the transformed tile has the same number. The last one, for the
  /// point at infinity, affects only the last result.
  [[nodiscard]] constexpr int positions() const { return out() + taps - 1; }
  [[nodiscard]] constexpr bool operator==(const WinogradAxis&) const = default;
};

/// A window of `down` x `across` taps.
struct WinogradWindow {
  WinogradAxis down{3};
  WinogradAxis across{3};

  [[nodiscard]] constexpr int taps() const { return down.taps * across.taps; }
  /// Number of values of a transformed tile. For a 3x3 window it is 36, where a direct sum takes 144 products (16
  /// results by 9 taps).
  [[nodiscard]] constexpr int positions() const { return down.positions() * across.positions(); }
  [[nodiscard]] constexpr bool operator==(const WinogradWindow&) const = default;
  /// True if the window has transforms.
  [[nodiscard]] constexpr bool is_known() const;
};

/// Windows with transforms: 3x3, 5x5, and rows or columns of 3 or 7 taps. Each additional window takes compile time.
constexpr std::array<WinogradWindow, 6> kWinogradWindows{
    {{{3}, {3}}, {{5}, {5}}, {{1}, {7}}, {{7}, {1}}, {{1}, {3}}, {{3}, {1}}}};
/// Largest number of taps of a window with transforms.
constexpr int kMostWinogradTaps = std::ranges::max(kWinogradWindows, {}, &WinogradWindow::taps).taps();

constexpr bool WinogradWindow::is_known() const {
  return std::ranges::find(kWinogradWindows, *this) != kWinogradWindows.end();
}

}  // namespace roentgen::engine::cpu::simd
