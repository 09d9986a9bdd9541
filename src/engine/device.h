// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// DeviceChoice: the device that a user chose by --device, train.device or device=, and the engine that computes on it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace roentgen::engine {

class Engine;

/// Device to compute on.
struct DeviceChoice {
  std::string engine = "auto";  ///< name in engine_list.h, or "auto": the best engine that can train on this machine
  std::optional<int> index{};   ///< index of the device within its engine, from 0; nullopt: first device

  /// True if the host's CPU cores compute. Also true for "auto" until resolve_device() replaced it.
  [[nodiscard]] bool is_host() const { return engine == "cpu" || engine == "auto"; }
  /// Text such as "cuda:1", which parse_device() reads.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const DeviceChoice&, const DeviceChoice&) = default;
};

/// Parses "auto", "cpu", "cuda" or "cuda:N". Throws ConfigError for other text. Does not check that the device exists.
[[nodiscard]] DeviceChoice parse_device(std::string_view text);

/// Reason why "auto" does not choose an engine: this build or machine lacks it, or it cannot train yet. Empty if it
/// may.
[[nodiscard]] std::string why_not_auto(std::string_view engine);

/// Returns the device that "auto" means on this machine; returns any other choice unchanged. May start a GPU driver.
[[nodiscard]] DeviceChoice resolve_device(const DeviceChoice& choice);

/// Makes the engine for a device, after resolve_device(). Throws DeviceError if this build or machine lacks the engine
/// ("built without CUDA") or the device index. The message lists the devices that exist.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const DeviceChoice& choice);
/// Makes the engine for a device given as text, see parse_device().
[[nodiscard]] std::unique_ptr<Engine> make_engine(std::string_view device);

/// Makes an engine that is used only for Engine::plan(). For the device cuda it can plan for a card that this machine
/// lacks. Throws like make_engine(), and ConfigError if the card is unknown or the device is not cuda.
/// @param card name or file of a described card; empty: this machine's card, or an H200 where it has none
[[nodiscard]] std::unique_ptr<Engine> make_planner(std::string_view device, const std::string& card);

}  // namespace roentgen::engine
