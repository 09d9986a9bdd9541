// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Heat-maps as files: the output of `roentgen predict --out` (docs/reference/formats/heatmaps.md).
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

/// Naming of images: by name, which can hold a patient's number, or by number from 1 in the order of the list.
enum class ImageNames : std::uint8_t { Hidden, Shown };

/// A decoded picture, with the mapping from the network's input back to its pixels. Reuses its memory for the next
/// picture.
class Picture {
 public:
  /// `intensity`: of DICOM files.
  explicit Picture(data::Intensity intensity = data::Intensity::Stored)
      : reader_(data::FileReader::PageCache::Use, intensity) {}

  /// Failure as FileReader and Decoder.
  [[nodiscard]] Status load(const data::Sample& sample);
  [[nodiscard]] std::int64_t width_px() const { return image_.width_px(); }
  [[nodiscard]] std::int64_t height_px() const { return image_.height_px(); }
  /// Gray levels 0 to 255.
  [[nodiscard]] std::vector<std::uint8_t> gray() const;
  /// Maps the cells of a feature map to this picture's own pixels: undoes fit and resize exactly as preprocess defines
  /// them.
  [[nodiscard]] eval::HeatMap map_back(const eval::CoarseMap& cells, const data::Preprocess& preprocess) const;

 private:
  data::SampleReader reader_;
  data::Image image_;
};

/// One heat-map to be written.
struct HeatmapEntry {
  /// Number of the image among those of the command line, from 1.
  std::int64_t number = 0;
  std::string image;
  std::string label;
  float probability = 0.0F;
};

/// Whether raw maps are written beside the overlays.
enum class RawMaps : std::uint8_t { Written, LeftOut };

/// Writes overlays, raw maps and heatmaps.csv into a folder of its own. One thread.
class HeatmapFolder {
 public:
  /// `path` is a new or empty folder: DataError else. `method` goes into the csv.
  HeatmapFolder(std::filesystem::path path, std::string method, ImageNames names, RawMaps raw = RawMaps::Written);
  /// Writes <stem>.png and, with raw maps, <stem>.npy; `boxes` are drawn in white.
  void write(const HeatmapEntry& entry, const Picture& picture, const eval::HeatMap& map,
             std::span<const eval::Box> boxes);
  /// Writes heatmaps.csv.
  void finish();
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  /// File name of an entry without the ending; labels without letters that a file name may have get a number.
  [[nodiscard]] std::string stem(const HeatmapEntry& entry);

  std::filesystem::path path_;
  std::string method_;
  ImageNames names_;
  RawMaps raw_;
  /// File stems used for the current image.
  std::set<std::string> stems_;
  std::unique_ptr<io::AtomicFile> table_;
  std::int64_t count_ = 0;
};

}  // namespace roentgen::publish
