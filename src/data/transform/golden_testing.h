// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Reads tests/golden/pillow_resize.csv. Only tests include this file.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace roentgen::data {

/// A resize by Pillow with its expected result.
struct GoldenResize {
  /// Name of the case, or path of the file in the test data.
  std::string name;
  std::int64_t width_px = 0;
  std::int64_t height_px = 0;
  /// Source box: left, top, right, bottom.
  std::array<double, 4> box{};
  std::int64_t out_width_px = 0;
  std::int64_t out_height_px = 0;
  /// Expected levels on the source's scale: all rows of a case; rows 13, 41, ..., 209 of a real file.
  std::vector<float> values;
};

inline std::filesystem::path source_folder() {
  const char* set = std::getenv("ROENTGEN_SOURCE_DIR");
  return set != nullptr ? std::filesystem::path(set) : std::filesystem::current_path();
}

/// Reads the entries of a kind, "case" or "real".
inline std::vector<GoldenResize> read_golden_resizes(const std::string& kind) {
  const std::filesystem::path path = source_folder() / "tests/golden/pillow_resize.csv";
  std::ifstream file(path);
  if (!file) throw std::runtime_error("no " + path.string());
  std::vector<GoldenResize> all;
  bool wanted = false;
  for (std::string line; std::getline(file, line);) {
    if (line.find(',') == std::string::npos) {
      std::istringstream numbers(line);
      for (float value = 0.0F; wanted && numbers >> value;) all.back().values.push_back(value);
      continue;
    }
    std::istringstream fields(line);
    std::array<std::string, 7> field;
    for (std::string& text : field) std::getline(fields, text, ',');
    wanted = field[0] == kind;
    if (!wanted) continue;
    GoldenResize golden{.name = field[1], .width_px = std::stol(field[2]), .height_px = std::stol(field[3])};
    std::istringstream box(field[4]);
    for (double& edge : golden.box) box >> edge;
    golden.out_width_px = std::stol(field[5]);
    golden.out_height_px = std::stol(field[6]);
    all.push_back(golden);
  }
  return all;
}

}  // namespace roentgen::data
