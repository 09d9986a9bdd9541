// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Writes heat-maps to files: the output of `roentgen predict --out` (docs/reference/formats/heatmaps.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/result.h"
#include "data/image.h"
#include "data/source/dataset.h"
#include "data/stage/sample_reader.h"
#include "data/transform/preprocess.h"
#include "eval/heatmap.h"
#include "eval/localisation.h"
#include "io/file.h"

namespace roentgen::publish {

/// How images are named in the output. Hidden: by their position on the command line, from 1. Shown: by their file
/// names, which can contain a patient's number.
enum class ImageNames : std::uint8_t { Hidden, Shown };

/// A decoded picture, with the mapping from the pixels of the network's input to the pixels of the picture. load()
/// reuses the memory for the next picture.
class Picture {
 public:
  /// @param intensity grayscale conversion of DICOM files
  explicit Picture(data::Intensity intensity = data::Intensity::Stored)
      : reader_(data::FileReader::PageCache::Use, intensity) {}

  /// Decodes the picture of a sample. Fails as FileReader and Decoder do.
  [[nodiscard]] Status load(const data::Sample& sample);
  [[nodiscard]] std::int64_t width_px() const { return image_.width_px(); }
  [[nodiscard]] std::int64_t height_px() const { return image_.height_px(); }
  /// Gray levels of the picture, 0 to 255, row-major.
  [[nodiscard]] std::vector<std::uint8_t> gray() const;
  /// Maps the cells of a feature map to the pixels of this picture. Inverts the fit and resize of `preprocess` exactly.
  [[nodiscard]] eval::HeatMap map_back(const eval::CoarseMap& cells, const data::Preprocess& preprocess) const;

 private:
  data::SampleReader reader_;
  data::Image image_;
};

/// One heat-map to write.
struct HeatmapEntry {
  /// Position of the image on the command line, from 1.
  std::int64_t number = 0;
  std::string image;
  std::string label;
  float probability = 0.0F;
};

/// Selects whether the raw values of the heat-maps are written next to the overlays.
enum class RawMaps : std::uint8_t { Written, LeftOut };

/// Writes overlays, raw heat-maps and heatmaps.csv into a folder. For use by one thread.
class HeatmapFolder {
 public:
  /// Creates the folder `path`. Throws DataError if it exists and is not empty. `method` is written to the csv.
  HeatmapFolder(std::filesystem::path path, std::string method, ImageNames names, RawMaps raw = RawMaps::Written);
  /// Writes <stem>.png and, if raw maps are requested, <stem>.npy. Draws the outlines of `boxes` in white.
  void write(const HeatmapEntry& entry, const Picture& picture, const eval::HeatMap& map,
             std::span<const eval::Box> boxes);
  /// Writes heatmaps.csv, after the last heat-map.
  void finish();
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  /// Returns the file name of an entry without its ending. If two labels of an image would give the same name, the
  /// second name gets the suffix _2, and so on.
  [[nodiscard]] std::string stem(const HeatmapEntry& entry);

  std::filesystem::path path_;
  std::string method_;
  ImageNames names_;
  RawMaps raw_;
  /// File name stems used so far for the current image.
  std::set<std::string> stems_;
  std::unique_ptr<io::AtomicFile> table_;
  std::int64_t count_ = 0;
};

}  // namespace roentgen::publish
