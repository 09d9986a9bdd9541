// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// DeviceChoice: the device that --device, train.device and device= name, and the engine that it leads to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace roentgen::engine {

class Engine;

/// Device to compute on. Plain value.
struct DeviceChoice {
  std::string engine = "auto";  ///< name of engine_list.h, or "auto": the best engine that can train here
  std::optional<int> index{};   ///< number of the device among its engine's, from 0; none: the first

  /// The host's cores compute; "auto" counts as these before it is resolved.
  [[nodiscard]] bool is_host() const { return engine == "cpu" || engine == "auto"; }
  /// "cuda:1": parse_device() reads it back.
  [[nodiscard]] std::string text() const;
  friend bool operator==(const DeviceChoice&, const DeviceChoice&) = default;
};

/// Reads "auto", "cpu", "cuda" or "cuda:N"; ConfigError naming these. Looks at no device.
[[nodiscard]] DeviceChoice parse_device(std::string_view text);

/// Reason why "auto" does not choose an engine of engine_list.h: the build or machine lacks it, or it cannot train yet;
/// empty: none.
[[nodiscard]] std::string why_not_auto(std::string_view engine);

/// Device that "auto" stands for on this machine; any other choice as it is. May start the driver of an accelerator.
[[nodiscard]] DeviceChoice resolve_device(const DeviceChoice& choice);

/// Engine for the device, "auto" resolved. DeviceError when this build or machine lacks it ("built without CUDA"), or,
/// naming those that there are, has no device of that number.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const DeviceChoice& choice);
/// make_engine() of parse_device().
[[nodiscard]] std::unique_ptr<Engine> make_engine(std::string_view device);

/// Engine for Engine::plan() alone. It serves cards that this machine lacks, where `device` is cuda. Throws as
/// make_engine(); ConfigError for an unknown card, and for a card without the device cuda.
/// @param card name or file of a described card; empty: this machine's card, or an H200 where it has none
[[nodiscard]] std::unique_ptr<Engine> make_planner(std::string_view device, const std::string& card);

}  // namespace roentgen::engine
