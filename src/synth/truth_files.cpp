// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/truth_files.h"

#include <system_error>

#include "core/error.h"
#include "io/png_writer.h"
#include "synth/film_file.h"
#include "synth/mask.h"

namespace roentgen::synth {
namespace {
namespace fs = std::filesystem;
constexpr int kPngLevel = 6;  // two values: the files are small at any level

fs::path png_name(const StudyKey& key) { return fs::path(image_name(key)).replace_extension(".png"); }
}  // namespace

void make_truth_folders(const SynthOptions& options) {
  const auto make = [&](const fs::path& folder) {
    std::error_code error;
    fs::create_directories(options.out / folder, error);
    if (!error) return;
    throw DataError(error_text("synth.out", (options.out / folder).string(), "a folder that can be written",
                               error.message(), "another folder"));
  };
  for (std::size_t i = 0; i < kFindingNames.size(); ++i) {
    if (options.has_masks) make(fs::path(kMaskFolder) / kFindingNames[i]);
    if (options.pairs[i]) make(fs::path(kPairFolder) / kFindingNames[i]);
  }
}

void write_masks(const fs::path& out, const Entry& entry) {
  PerFinding<Mask> masks = masks_of(entry.key, entry.study.size_px, entry.study.scene);
  const Study& study = entry.study;
  const double field_mm = study.pixel_mm * static_cast<double>(study.size_px);
  const PixelRect open = open_pixels(study.marks, study.size_px, field_mm);
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (masks[i].empty()) continue;
    close(masks[i], open, study.size_px);
    const io::PngImage png{
        .width_px = study.size_px, .height_px = study.size_px, .pixels = std::as_bytes(std::span(masks[i]))};
    write_set_file(out / kMaskFolder / kFindingNames[i] / png_name(entry.key), io::encode_png(png, kPngLevel));
  }
}

}  // namespace roentgen::synth
