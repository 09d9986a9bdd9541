// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one rule by which an image is found that a list or a table names: by the end of its path. What lies before
// that says only where a copy of the data set lies, or by which folder a walk began.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roentgen::data {

struct Dataset;

/// Images by their names. Names are compared part by part from their ends; "./" and "//" do not count. Reading is
/// thread-safe.
class NameIndex {
 public:
  NameIndex() = default;
  /// Rows are positions in `names`.
  explicit NameIndex(const std::vector<std::string>& names);
  /// Rows are positions in Dataset::samples.
  explicit NameIndex(const Dataset& dataset);

  /// False when exactly this name exists already; the first row keeps it.
  bool add(std::string_view image, std::size_t row);
  /// Returns the image of that name, else the only one whose name ends in it. Otherwise returns the image with the
  /// longest name in which `image` ends. nullopt when there is none, or when two match: "study1/view1.jpg" of two
  /// patients.
  [[nodiscard]] std::optional<std::size_t> find_ending(std::string_view image) const;
  /// Looks up as find_ending(). Otherwise returns the image that shares more last path parts with `image` than any two
  /// names here share. Example: "png/a.png" finds "images/a.png" where all base names differ. "a/p1/s1/x.jpg" finds
  /// "b/p1/s1/x.jpg" where no two names end in "p1/s1/x.jpg". Use it to locate images, not to match labels.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view image) const;

 private:
  /// Rows by reversed parts: "x.jpg/s1/p1/". Names with a common ending are neighbours.
  std::map<std::string, std::size_t, std::less<>> rows_;
  /// Most last parts that two names share.
  std::size_t most_shared_ = 0;
};

}  // namespace roentgen::data
