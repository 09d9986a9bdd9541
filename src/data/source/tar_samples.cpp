// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/source/tar_samples.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "core/lower_case.h"

namespace roentgen::data {
namespace {

constexpr std::array<std::string_view, 5> kImages{"png", "jpg", "jpeg", "dcm", "npy"};
constexpr std::array<std::string_view, 3> kLabels{"json", "cls", "txt"};

/// A name divided in two: "dir/000017.SEG.png" into "dir/000017" and "seg.png" (in lower case).
struct Cut {
  std::string_view key;
  std::string ending;

  [[nodiscard]] bool is_image() const { return std::ranges::find(kImages, ending) != kImages.end(); }
  [[nodiscard]] bool is_label() const { return std::ranges::find(kLabels, ending) != kLabels.end(); }
};

Cut cut_at(std::string_view name, std::size_t dot) {
  const std::string_view ending = dot == std::string_view::npos ? std::string_view() : name.substr(dot + 1);
  return {.key = name.substr(0, dot), .ending = lower_case(ending)};
}

// Extension for notes: ".seg.png", ".tiff", "without ending". Long and unusual extensions are grouped, so that notes
// stay short.
std::string shown_ending(std::string_view ending) {
  constexpr std::size_t kLongest = 20;
  if (ending.empty()) return "without ending";
  const std::size_t dot = ending.rfind('.');
  const std::size_t before = dot == std::string_view::npos || dot == 0 ? dot : ending.rfind('.', dot - 1);
  const std::string_view word = dot == std::string_view::npos ? "" : ending.substr(before + 1, dot - before - 1);
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  const bool is_word = !word.empty() && std::ranges::all_of(word, is_letter);
  const std::string_view shown = ending.substr(is_word ? before + 1 : dot + 1);
  const bool is_plain = std::ranges::all_of(shown, [](unsigned char c) { return std::isalnum(c) != 0 || c == '.'; });
  return is_plain && shown.size() <= kLongest ? fmt::format(".{}", shown) : "with other endings";
}

/// Positions of dots in the last component of a name; npos if there is none.
struct Dots {
  explicit Dots(std::string_view name) {
    const std::size_t slash = name.rfind('/');
    const std::size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    first = name.find('.', begin);
    if (first != std::string_view::npos) last = name.rfind('.');
    is_hidden = first == begin;
    is_apple_double = name.substr(begin).starts_with("._");
  }
  std::size_t first = std::string_view::npos;
  std::size_t last = std::string_view::npos;
  bool is_hidden = false;
  /// True for an AppleDouble file, which macOS adds to archives for the attributes of another file.
  bool is_apple_double = false;
};

/// All names of an archive, which together determine where each name is cut.
class Names {
 public:
  explicit Names(const std::vector<io::TarMember>& members) {
    for (const io::TarMember& member : members) {
      const Dots dots(member.name);
      if (dots.is_hidden) continue;
      const Cut cut = cut_at(member.name, dots.last);
      if (cut.is_image()) images_.insert(cut.key);
      if (cut.is_label()) labels_.insert(cut.key);
      if (dots.first == dots.last && (cut.is_image() || cut.is_label())) plain_.insert(cut.key);
    }
  }

  [[nodiscard]] Cut cut(std::string_view name) const {
    const Dots dots(name);
    if (dots.first == dots.last || is_complete(name.substr(0, dots.first))) return cut_at(name, dots.first);
    for (std::size_t dot = dots.last; dot > dots.first; dot = name.rfind('.', dot - 1)) {
      if (is_complete(name.substr(0, dot))) return cut_at(name, dot);
    }
    return cut_at(name, plain_.contains(name.substr(0, dots.first)) ? dots.first : dots.last);
  }

 private:
  [[nodiscard]] bool is_complete(std::string_view key) const { return images_.contains(key) && labels_.contains(key); }

  std::unordered_set<std::string_view> images_, labels_;
  /// Keys of files whose name has exactly one dot.
  std::unordered_set<std::string_view> plain_;
};

}  // namespace

std::vector<TarSample> tar_samples(const std::vector<io::TarMember>& members, const RecordFile& file,
                                   RecordListing& listing) {
  const Names names(members);
  std::vector<TarSample> samples;
  for (const io::TarMember& member : members) {
    const Dots dots(member.name);
    const Cut cut = dots.is_hidden ? cut_at(member.name, dots.last) : names.cut(member.name);
    if (dots.is_hidden && cut.is_image() && !dots.is_apple_double) listing.leave_out(file, "left out, hidden images");
    if (dots.is_hidden) continue;
    if (samples.empty() || samples.back().key != cut.key) samples.push_back({.key = std::string(cut.key)});
    TarSample& sample = samples.back();
    const auto take = [&](const io::TarMember*& place, std::string_view kind, std::string_view before) {
      if (place != nullptr) {
        listing.refuse(fmt::format("{}, {}", file.name, sample.key), fmt::format("only one {} per sample", kind),
                       fmt::format("{} and {}", before, cut.ending));
      }
      place = &member;
    };
    if (cut.is_image()) {
      take(sample.image, "image", sample.image_ending);
      sample.image_ending = cut.ending;
    } else if (cut.is_label()) {
      take(cut.ending == "json"  ? sample.json
           : cut.ending == "cls" ? sample.cls
                                 : sample.txt,
           fmt::format(".{} file", cut.ending), cut.ending);
    } else {
      sample.others.push_back(shown_ending(cut.ending));
    }
  }
  return samples;
}

}  // namespace roentgen::data
