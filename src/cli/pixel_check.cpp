// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "cli/pixel_check.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/log.h"
#include "core/terminal.h"
#include "data/codec/codec.h"
#include "data/image.h"
#include "data/stage/sample_reader.h"

namespace roentgen::cli {
namespace {

std::string text_of(std::uint64_t hash) { return hash == 0 ? std::string() : data::pixel_hash_text(hash); }

}  // namespace

eval::PixelOverlap check_pixels(std::span<const std::string> training, std::span<const std::string> tested,
                                OnOverlap on_overlap) {
  const eval::PixelOverlap overlap = eval::pixel_overlap(training, tested);
  if (overlap.shared == 0) {
    terminal::print(fmt::format("{}\n", eval::clean_pixels_text(overlap)));
    return overlap;
  }
  if (on_overlap == OnOverlap::Refuse) throw DataError(eval::pixel_leak_text(overlap));
  log::warning(eval::pixel_leak_text(overlap));
  return overlap;
}

std::vector<std::string> hash_texts(const data::PixelHashes& hashes, std::span<const std::uint32_t> samples) {
  std::vector<std::string> texts;
  texts.reserve(samples.size());
  for (const std::uint32_t sample : samples) texts.push_back(text_of(hashes.get(sample)));
  return texts;
}

std::vector<std::string> read_hashes(const data::Dataset& dataset, std::span<const std::uint32_t> samples,
                                     const data::Preprocess& preprocess) {
  data::SampleReader reader(data::FileReader::PageCache::Use, data::parse_intensity(preprocess.intensity));
  data::Image image;
  std::vector<std::string> texts;
  texts.reserve(samples.size());
  for (const std::uint32_t index : samples) {
    const data::Sample& sample = dataset.samples.at(index);
    const bool is_read =
        reader.load(sample, preprocess.channels == 1 ? data::Channels::Gray : data::Channels::FromFile, image).ok();
    texts.push_back(is_read ? text_of(data::pixel_hash(image)) : std::string());
  }
  return texts;
}

}  // namespace roentgen::cli
