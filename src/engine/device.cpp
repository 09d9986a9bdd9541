// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "engine/device.h"

#include <charconv>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/engine_list.h"

namespace roentgen::engine {
namespace {

// Text such as "auto, cpu, cuda or cuda:N", for error messages.
std::string known_devices() {
  std::vector<std::string> words{"auto"};
  for (const EngineName& engine : engine_names()) {
    words.emplace_back(engine.name);
    if (engine.has_several_devices) words.push_back(std::string(engine.name) + ":N");
  }
  std::string text = words[0];
  for (std::size_t i = 1; i < words.size(); ++i) text += (i + 1 < words.size() ? ", " : " or ") + words[i];
  return text;
}

std::optional<int> parse_index(std::string_view text) {
  constexpr int kMost = 1023;
  int index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index < 0 || index > kMost) return std::nullopt;
  return index;
}

}  // namespace

std::string DeviceChoice::text() const { return index ? engine + ":" + std::to_string(*index) : engine; }

DeviceChoice parse_device(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  if (text == DeviceChoice{}.engine) return {};
  for (const EngineName& engine : engine_names()) {
    if (name != engine.name) continue;
    if (colon == std::string_view::npos) return {.engine = std::string(name)};
    const std::optional<int> index = parse_index(text.substr(colon + 1));
    if (index && engine.has_several_devices) return {.engine = std::string(name), .index = index};
  }
  throw ConfigError(error_text("engine.device", "device", known_devices(), text,
                               "roentgen doctor, which shows what each device needs"));
}

}  // namespace roentgen::engine
