// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/stage/sample_hashes.h"

#include "data/codec/codec.h"
#include "data/image.h"
#include "data/stage/sample_reader.h"

namespace roentgen::data {
namespace {

std::string text_of(std::uint64_t hash) { return hash == 0 ? std::string() : pixel_hash_text(hash); }

}  // namespace

std::vector<std::string> hash_texts(const PixelHashes& hashes, std::span<const std::uint32_t> samples) {
  std::vector<std::string> texts;
  texts.reserve(samples.size());
  for (const std::uint32_t sample : samples) texts.push_back(text_of(hashes.get(sample)));
  return texts;
}

std::vector<std::string> read_hashes(const Dataset& dataset, std::span<const std::uint32_t> samples,
                                     const Preprocess& preprocess) {
  SampleReader reader(FileReader::PageCache::Use, parse_intensity(preprocess.intensity));
  Image image;
  std::vector<std::string> texts;
  texts.reserve(samples.size());
  for (const std::uint32_t index : samples) {
    const Sample& sample = dataset.samples.at(index);
    const bool is_read =
        reader.load(sample, preprocess.channels == 1 ? Channels::Gray : Channels::FromFile, image).ok();
    texts.push_back(is_read ? text_of(pixel_hash(image)) : std::string());
  }
  return texts;
}

}  // namespace roentgen::data
