// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parses pipeline texts.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "core/error.h"
#include "data/source/table_fields.h"
#include "data/stage/pipeline.h"

namespace roentgen::data {
namespace {

constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kShown = 40;

[[noreturn]] void refuse(std::string_view what, std::string_view expected, std::string_view got,
                         std::string_view remedy = "reading docs/reference/pipeline.md") {
  throw ConfigError(error_text("data.pipeline", what, expected, got, remedy));
}

// Makes the user's text printable.
std::string shown(std::string_view text) {
  if (text.empty()) return "nothing";
  std::string result;
  for (const char c : text.substr(0, kShown)) result += static_cast<unsigned char>(c) < 32 || c == 127 ? '?' : c;
  return '\'' + result + (text.size() > kShown ? "...'" : "'");
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto at = text.find(separator);
    parts.push_back(stripped(text.substr(0, at)));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Settings in the brackets of one stage.
class Settings final : public StageVisitor {
 public:
  Settings(std::string_view stage, std::string_view text) : stage_(stage) {
    if (text.empty()) return;
    for (const std::string_view part : split(text, ',')) {
      const auto equals = part.find('=');
      const bool is_named = equals != std::string_view::npos;
      if (!is_named && !given_.empty()) refuse(where(), "name=value", shown(part));
      given_.push_back({.name = is_named ? stripped(part.substr(0, equals)) : std::string_view(),
                        .value = stripped(is_named ? part.substr(equals + 1) : part)});
    }
  }

  void count(const CountSetting& setting, std::int64_t& value) override {
    const auto given = take(setting.name);
    if (!given) {
      // A negative default means that the setting is required.
      if (setting.default_value < 0) refuse(where(), fmt::format("{}=NUMBER", setting.name), "nothing");
      return;
    }
    if (!setting.word_for_zero.empty() && *given == setting.word_for_zero) {
      value = 0;
      return;
    }
    const auto [end, error] = std::from_chars(given->data(), given->data() + given->size(), value);
    const bool is_number = error == std::errc() && end == given->data() + given->size();
    if (is_number && value >= 1 && value <= setting.greatest) return;
    refuse(fmt::format("{}, {}", where(), setting.name),
           fmt::format("{}a number from 1 to {}",
                       setting.word_for_zero.empty() ? "" : fmt::format("{} or ", setting.word_for_zero),
                       setting.greatest),
           shown(*given));
  }

  void word(std::string_view name, int& value, int /*default_value*/,
            const std::vector<std::string_view>& words) override {
    const auto given = take(name);
    if (!given) return;
    const auto found = std::ranges::find(words, *given);
    if (found == words.end()) {
      refuse(fmt::format("{}, {}", where(), name), fmt::format("{}", fmt::join(words, " or ")), shown(*given));
    }
    value = static_cast<int>(found - words.begin());
  }

  // Throws if settings are left over. Call it after all settings were visited.
  void expect_all_used() const {
    for (const Given& given : given_) {
      if (given.is_used) continue;
      refuse(where(), known_.empty() ? "no settings" : known_, shown(given.name.empty() ? given.value : given.name));
    }
  }

 private:
  struct Given {
    std::string_view name;
    std::string_view value;
    bool is_used = false;
  };

  [[nodiscard]] std::string where() const { return fmt::format("pipeline, stage {}", stage_); }

  std::optional<std::string_view> take(std::string_view name) {
    const bool is_first = known_.empty();
    known_ += (is_first ? "" : ", ") + std::string(name);
    std::optional<std::string_view> value;
    for (Given& given : given_) {
      if (given.name != name && !(is_first && given.name.empty())) continue;
      if (value) refuse(where(), fmt::format("{} once", name), "twice");
      given.is_used = true;
      value = given.value;
    }
    return value;
  }

  std::string_view stage_;
  std::vector<Given> given_;
  std::string known_;
};

template <typename T>
bool read_as(std::string_view name, std::string_view settings, Stage& stage) {
  if (name != T::kName) return false;
  Settings reader(name, settings);
  T read;
  read.describe(reader);
  reader.expect_all_used();
  stage = read;
  return true;
}

Stage parse_stage(std::string_view text) {
  const auto bracket = text.find('(');
  const std::string_view name = stripped(text.substr(0, bracket));
  std::string_view settings;
  if (bracket != std::string_view::npos) {
    if (text.back() != ')') refuse(fmt::format("pipeline, stage {}", shown(name)), "a closing bracket", shown(text));
    settings = stripped(text.substr(bracket + 1, text.size() - bracket - 2));
  }
  Stage stage;
  bool is_known = false;
  std::string names;
#define RG_READ_STAGE(T)                                    \
  is_known = is_known || read_as<T>(name, settings, stage); \
  names += (names.empty() ? "" : ", ") + std::string(T::kName);
  RG_STAGES(RG_READ_STAGE)
#undef RG_READ_STAGE
  if (!is_known) refuse("pipeline, stage", "one of " + names, shown(name));
  return stage;
}

}  // namespace

Pipeline parse_pipeline(std::string_view text) {
  text = stripped(text);
  if (text.size() > kLongestText) {
    refuse("pipeline", fmt::format("at most {} characters", kLongestText), fmt::format("{}", text.size()));
  }
  for (const PipelinePreset& preset : pipeline_presets()) {
    if (preset.name == text) return parse_pipeline(preset.text);
  }
  if (text.find('|') == std::string_view::npos && text.find('(') == std::string_view::npos) {
    std::string names;
    for (const PipelinePreset& preset : pipeline_presets()) {
      names += (names.empty() ? "" : ", ") + std::string(preset.name);
    }
    refuse("pipeline", "one of " + names + ", or stages separated by |", shown(text));
  }
  std::vector<Stage> stages;
  for (const std::string_view part : split(text, '|')) stages.push_back(parse_stage(part));
  return Pipeline(std::move(stages));
}

}  // namespace roentgen::data
