// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Conversion of stage settings to text and back, and the kinds of elements that stages exchange.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

namespace roentgen::data {

/// Kind of elements that a stage passes to the next stage.
enum class Carries : std::uint8_t {
  Nothing,  ///< no elements: input of the first stage
  Files,    ///< file names; each file contains one or more samples
  Samples,  ///< samples: only names, or also the bytes of their files
  Rows,     ///< decoded, distorted, resized and normalised images
  Batches,  ///< rows in the caller's batch slots
};
/// Name of a kind: "nothing", "files", "samples", "rows" or "batches".
[[nodiscard]] std::string_view name_of(Carries carries);

/// An integer setting of a stage.
struct CountSetting {
  std::string_view name;           ///< name in pipeline texts
  std::int64_t default_value = 0;  ///< default, which is not printed
  /// Word that texts use for 0 ("auto", "all", "forever"); empty if 0 is not allowed.
  std::string_view word_for_zero{};
  std::int64_t greatest = std::numeric_limits<std::int32_t>::max();  ///< largest value allowed
};

/// Visits the settings of a stage by name. Each stage has one describe() function, which serves both the printer and
/// the parser. Texts may omit the name of the first setting.
class StageVisitor {
 public:
  virtual ~StageVisitor() = default;
  virtual void count(const CountSetting& setting, std::int64_t& value) = 0;  ///< visits an integer
  /// Visits a setting that is one of `words`; `value` is the index of the word.
  virtual void word(std::string_view name, int& value, int default_value,
                    const std::vector<std::string_view>& words) = 0;
};

/// Returns `then` if `before` is one of `allowed`. Otherwise throws ConfigError "[data.pipeline] pipeline, stage ..."
/// that names the accepted kinds.
[[nodiscard]] Carries carried(std::string_view stage, Carries before, const std::vector<Carries>& allowed,
                              Carries then);

/// Applies carried() for a stage that accepts files, samples and rows and passes on the same kind.
[[nodiscard]] Carries passed_on(std::string_view stage, Carries before);

}  // namespace roentgen::data
