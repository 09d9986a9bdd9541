// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "publish/thumbnail.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/error.h"

namespace roentgen::publish {
namespace {

// Weights of the source pixels `first`, first + 1, ... in one output pixel; they sum to 1.
struct Cover {
  std::int64_t first = 0;
  std::vector<double> shares;
};

std::vector<Cover> covers(std::int64_t source, std::int64_t target) {
  const double step = static_cast<double>(source) / static_cast<double>(target);
  std::vector<Cover> result;
  for (std::int64_t i = 0; i < target; ++i) {
    const double begin = static_cast<double>(i) * step;
    const double end = static_cast<double>(i + 1) * step;
    Cover cover{.first = std::min(static_cast<std::int64_t>(begin), source - 1), .shares = {}};
    for (std::int64_t j = cover.first; j < source && (j == cover.first || static_cast<double>(j) < end); ++j) {
      const double share = std::min(end, static_cast<double>(j + 1)) - std::max(begin, static_cast<double>(j));
      cover.shares.push_back(std::max(share, 0.0) / step);
    }
    result.push_back(std::move(cover));
  }
  return result;
}

}  // namespace

Thumbnail shrink(const Thumbnail& picture, std::int64_t side_px) {
  RG_ASSERT(picture.width_px > 0 && picture.height_px > 0 && side_px > 0);
  const std::int64_t longest = std::max(picture.width_px, picture.height_px);
  if (longest <= side_px) return picture;
  const auto shorter = [&](std::int64_t pixels) {
    const double share = static_cast<double>(side_px) / static_cast<double>(longest);
    return std::max<std::int64_t>(1, std::llround(share * static_cast<double>(pixels)));
  };
  Thumbnail small{.width_px = shorter(picture.width_px),
                  .height_px = shorter(picture.height_px),
                  .channels = picture.channels,
                  .pixels = {}};
  const std::vector<Cover> columns = covers(picture.width_px, small.width_px);
  const auto C = static_cast<std::size_t>(picture.channels);
  const std::size_t pitch = static_cast<std::size_t>(picture.width_px) * C;
  std::vector<double> row(pitch);
  for (const Cover& rows : covers(picture.height_px, small.height_px)) {
    std::ranges::fill(row, 0.0);
    for (std::size_t j = 0; j < rows.shares.size(); ++j) {
      const std::uint8_t* source = picture.pixels.data() + (static_cast<std::size_t>(rows.first) + j) * pitch;
      for (std::size_t x = 0; x < pitch; ++x) row[x] += rows.shares[j] * source[x];
    }
    for (const Cover& column : columns) {
      for (std::size_t c = 0; c < C; ++c) {
        double level = 0.0;
        for (std::size_t i = 0; i < column.shares.size(); ++i) {
          level += column.shares[i] * row[(static_cast<std::size_t>(column.first) + i) * C + c];
        }
        small.pixels.push_back(static_cast<std::uint8_t>(std::clamp(std::lround(level), 0L, 255L)));
      }
    }
  }
  return small;
}

}  // namespace roentgen::publish
