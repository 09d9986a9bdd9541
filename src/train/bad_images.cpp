// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "train/bad_images.h"

#include <charconv>
#include <sstream>
#include <string>

#include "core/error.h"
#include "data/stage/loader.h"
#include "train/ranks.h"

namespace roentgen::train {
namespace {

// Separator between names; a name may contain any other character.
constexpr char kEnd = '\0';

std::string text_of(const std::vector<data::FoundBad>& found) {
  std::string text;
  for (const data::FoundBad& each : found) {
    for (const std::string& field :
         {std::to_string(each.bad.sample), std::to_string(each.epoch), each.bad.id, each.bad.reason}) {
      (text += field) += kEnd;
    }
  }
  return text;
}

std::uint32_t number_of(const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  RG_ASSERT(error == std::errc() && end == text.data() + text.size());
  return number;
}

void parse_into(const std::string& text, std::vector<data::FoundBad>& found) {
  std::istringstream fields(text);
  std::string sample, epoch;
  data::FoundBad each;
  while (std::getline(fields, sample, kEnd) && std::getline(fields, epoch, kEnd) &&
         std::getline(fields, each.bad.id, kEnd) && std::getline(fields, each.bad.reason, kEnd)) {
    each.bad.sample = number_of(sample);
    each.epoch = number_of(epoch);
    found.push_back(each);
  }
}

}  // namespace

std::vector<std::uint32_t> unite_bad_images(const Ranks& ranks, data::Loader& loader) {
  if (ranks.size() == 1) return loader.bad_samples();
  std::vector<data::FoundBad> found;
  for (const std::string& text : ranks.gather(text_of(loader.take_found_bad()), {.name = "unreadable images"})) {
    parse_into(text, found);
  }
  loader.unite_bad(found);
  return loader.bad_samples();
}

}  // namespace roentgen::train
