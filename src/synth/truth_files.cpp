// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/truth_files.h"

#include <fstream>
#include <system_error>

#include "core/error.h"
#include "io/png_writer.h"
#include "synth/mask.h"

namespace roentgen::synth {
namespace {
namespace fs = std::filesystem;
constexpr int kPngLevel = 6;  // two values: the files are small at any level

fs::path png_name(const StudyKey& key) { return fs::path(image_name(key)).replace_extension(".png"); }

// As the images: not atomic, since the tables make the set.
void write_png(const fs::path& path, std::int64_t size_px, std::span<const std::uint8_t> pixels) {
  const auto png =
      io::encode_png({.width_px = size_px, .height_px = size_px, .pixels = std::as_bytes(pixels)}, kPngLevel);
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(png.data()), static_cast<std::streamsize>(png.size()));
  file.close();
  if (!file) {
    throw DataError(
        error_text("synth.out", path.string(), "a file that can be written", "a write error", "free space"));
  }
}
}  // namespace

void make_mask_folders(const fs::path& out) {
  for (const std::string_view name : kFindingNames) {
    std::error_code error;
    fs::create_directories(out / kMaskFolder / name, error);
    if (error) {
      throw DataError(error_text("synth.out", (out / kMaskFolder).string(), "a folder that can be written",
                                 error.message(), "another folder"));
    }
  }
}

void write_masks(const fs::path& out, const Entry& entry) {
  const PerFinding<Mask> masks = masks_of(entry.key, entry.study.size_px, entry.study.truth.severity);
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (masks[i].empty()) continue;
    write_png(out / kMaskFolder / kFindingNames[i] / png_name(entry.key), entry.study.size_px, masks[i]);
  }
}

}  // namespace roentgen::synth
