// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The windows that have Winograd transforms, and the tiles these work on.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace roentgen::engine::cpu::simd {

/// One axis of a window and of a tile. With 3, 5 or 7 taps: four results at a time by Winograd's F(4, taps). With one
/// tap: one result by itself.
struct WinogradAxis {
  int taps = 3;

  /// Results of a tile.
  [[nodiscard]] constexpr int out() const { return taps == 1 ? 1 : 4; }
  /// Values a tile of them reads, and as many when transformed. The last one, of the point at infinity, reaches the
  /// last result alone.
  [[nodiscard]] constexpr int positions() const { return out() + taps - 1; }
  [[nodiscard]] constexpr bool operator==(const WinogradAxis&) const = default;
};

/// A window of `down` x `across` taps.
struct WinogradWindow {
  WinogradAxis down{3};
  WinogradAxis across{3};

  [[nodiscard]] constexpr int taps() const { return down.taps * across.taps; }
  /// Values of a transformed tile: of a 3x3 window 36, for 144 products of a tile's 16 results by its taps.
  [[nodiscard]] constexpr int positions() const { return down.positions() * across.positions(); }
  [[nodiscard]] constexpr bool operator==(const WinogradWindow&) const = default;
  /// Whether the window has transforms.
  [[nodiscard]] constexpr bool is_known() const;
};

/// Windows with transforms: 3x3 and 5x5, and a row or column of 3 or 7. Every further one takes time to compile.
constexpr std::array<WinogradWindow, 6> kWinogradWindows{
    {{{3}, {3}}, {{5}, {5}}, {{1}, {7}}, {{7}, {1}}, {{1}, {3}}, {{3}, {1}}}};
/// Largest number of taps of a window with transforms.
constexpr int kMostWinogradTaps = std::ranges::max(kWinogradWindows, {}, &WinogradWindow::taps).taps();

constexpr bool WinogradWindow::is_known() const {
  return std::ranges::find(kWinogradWindows, *this) != kWinogradWindows.end();
}

}  // namespace roentgen::engine::cpu::simd
