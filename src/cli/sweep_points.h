// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Points of `roentgen train --sweep`: all combinations of the values of several recipe keys.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::cli {

/// A recipe key and the values to train with.
struct SweptKey {
  std::string key;                  ///< "section.key"
  std::vector<std::string> values;  ///< values as the user typed them, at least two, all different
};

/// One combination of values, one for each swept key.
struct SweepPoint {
  std::vector<std::string> values;     ///< values in the order of the keys
  std::vector<std::string> overrides;  ///< "section.key=value" in the order of the keys
  std::string name;                    ///< "optimizer.lr=0.001, train.batch=16"
  std::string folder;                  ///< name of its folder below --out, see folder_name()
};

/// Parses the values of all --sweep options, such as "optimizer.lr=1e-3,1e-4". Commas inside brackets and quotes do not
/// separate values. Throws ConfigError for a text of another form, a repeated key or value, and train.seed. Also throws
/// for a key that `overrides` ("section.key=value" of --set) sets.
[[nodiscard]] std::vector<SweptKey> parse_sweep(std::span<const std::string> texts,
                                                std::span<const std::string> overrides);

/// Returns all combinations. The values of the last key change fastest. Without keys, one point without values.
[[nodiscard]] std::vector<SweepPoint> sweep_points(std::span<const SweptKey> keys);

/// Returns a name for the folder of a point, such as "optimizer.lr=0.001_train.batch=16". Letters, digits and .=_+-
/// stay. If it replaces other characters or cuts the name, it appends a hash of the whole text. So different points
/// have different names.
[[nodiscard]] std::string folder_name(std::span<const std::string> overrides);

}  // namespace roentgen::cli
