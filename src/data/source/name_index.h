// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Finds the image that a list or table names by the end of its path. The beginning of a path only tells where a copy of
// the data set lies, or in which folder a walk began.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {

struct Dataset;

/// Index of images by name. Names are compared from the end, one path component at a time; "./" and "//" are ignored.
/// Thread-safe to read.
class NameIndex {
 public:
  NameIndex() = default;
  /// Builds an index of `names`; row numbers are positions in it.
  explicit NameIndex(const std::vector<std::string>& names);
  /// Builds an index of a data set; row numbers are positions in Dataset::samples.
  explicit NameIndex(const Dataset& dataset);

  /// Adds a name. Returns false if exactly this name exists already; its first row is kept.
  bool add(std::string_view image, std::size_t row);
  /// Returns the image with this name, else the only image whose name ends in it. Otherwise returns the image with the
  /// longest name in which `image` ends. Returns nullopt if there is none or if two match, such as "study1/view1.jpg"
  /// for two patients.
  [[nodiscard]] std::optional<std::size_t> find_ending(std::string_view image) const;
  /// Tries find_ending() first. Otherwise returns the image that shares more trailing path components with `image` than
  /// any two names in the index share. Example: "png/a.png" finds "images/a.png" if all base names differ.
  /// "a/p1/s1/x.jpg" finds "b/p1/s1/x.jpg" if no two names end in "p1/s1/x.jpg". Use it to locate images, not to match
  /// labels.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view image) const;

 private:
  /// Row numbers by reversed path: "x.jpg/s1/p1/". Names with a common ending are neighbours.
  std::map<std::string, std::size_t, std::less<>> rows_;
  /// Largest number of trailing path components that two names share.
  std::size_t most_shared_ = 0;
};

}  // namespace roentgen::data
