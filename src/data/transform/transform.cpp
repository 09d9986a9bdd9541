// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/transform.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/error.h"
#include "data/transform/filter.h"
#include "data/transform/geometry.h"
#include "data/transform/kernels.h"

namespace roentgen::data {
namespace {

void grow(std::vector<float>& memory, std::int64_t count) {
  if (memory.size() < static_cast<std::size_t>(count)) memory.resize(static_cast<std::size_t>(count));
}

// Planes of one row or of a picture: sample x of plane p is at [p * stride + x].
struct Planes {
  std::int64_t count = 1;
  std::int64_t stride = 0;
};

// Separates the used pixels of an interleaved RGB row into three planes, or into one of their luma.
void split_row(std::span<const float> rgb, const Taps& columns, const Planes& planes, std::span<float> dst) {
  constexpr float kRed = 19595.0F / 65536.0F;
  constexpr float kGreen = 38470.0F / 65536.0F;
  constexpr float kBlue = 7471.0F / 65536.0F;
  for (std::int64_t x = columns.begin(); x < columns.end(); ++x) {
    const float* pixel = rgb.data() + 3 * x;
    float* out = dst.data() + x;
    if (planes.count == 1) {
      out[0] = kRed * pixel[0] + kGreen * pixel[1] + kBlue * pixel[2];
    } else {
      for (std::int64_t channel = 0; channel < 3; ++channel) out[channel * planes.stride] = pixel[channel];
    }
  }
}

// Adjacent outputs in row y.
struct Columns {
  std::int64_t y = 0;
  std::int64_t begin = 0;
  std::int64_t count = 0;
};

// Writes finished rows into a slot.
class SlotWriter {
 public:
  SlotWriter(const Image& image, const Preprocess& preprocess, const AugmentDraw& draw, const PictureSize& size,
             SlotView slot)
      : preprocess_(preprocess), size_(size), slot_(slot) {
    const double white = image.layout().max_value / (image.layout().bits == 8 ? 1.0 : double{kWideLevels});
    finish_.gain = static_cast<float>(draw.contrast / white);
    finish_.offset = static_cast<float>(0.5 - 0.5 * draw.contrast + draw.brightness);
  }

  // Writes columns [begin, begin + count) of row y of one plane; `planes` is the number of planes. A single plane fills
  // all channels. `source`: levels, or a SampleRow.
  template <typename Source>
  void write(std::int64_t plane, std::int64_t planes, const Columns& columns, const Source& source) {
    if (planes == preprocess_.channels) {
      write_channel(plane, columns, source);
    } else {
      for (std::int64_t channel = 0; channel < preprocess_.channels; ++channel) write_channel(channel, columns, source);
    }
  }

 private:
  template <typename Source>
  void write_channel(std::int64_t channel, const Columns& columns, const Source& source) {
    const auto begin =
        static_cast<std::size_t>((channel * size_.height_px + columns.y) * size_.width_px + columns.begin);
    const auto count = static_cast<std::size_t>(columns.count);
    Finish finish = finish_;
    if (slot_.dtype == DType::F32) {
      const double stddev = preprocess_.stddev[static_cast<std::size_t>(channel)];
      finish.scale = static_cast<float>(1.0 / stddev);
      finish.bias = static_cast<float>(-preprocess_.mean[static_cast<std::size_t>(channel)] / stddev);
      finish_row(source, finish, std::span(reinterpret_cast<float*>(slot_.bytes.data()) + begin, count));
    } else if (slot_.dtype == DType::U8) {
      finish.scale = 255.0F;
      finish_row(source, finish, std::span(reinterpret_cast<std::uint8_t*>(slot_.bytes.data()) + begin, count));
    } else {
      finish.scale = 65535.0F;
      finish_row(source, finish, std::span(reinterpret_cast<std::uint16_t*>(slot_.bytes.data()) + begin, count));
    }
  }

  const Preprocess& preprocess_;
  const PictureSize size_;
  SlotView slot_;
  Finish finish_;
};

// True if every output lies at the centre of a source pixel, or outside the source.
bool is_of_whole_pixels(const Geometry& geometry) {
  const auto is_whole = [](const Axis& axis) {
    return std::abs(axis.step) == 1.0 && std::floor(axis.start) == axis.start && std::abs(axis.start) < 1e9;
  };
  return !geometry.is_rotated && geometry.y.step > 0.0 && is_whole(geometry.x) && is_whole(geometry.y);
}

}  // namespace

struct Transformer::Scratch {
  Taps columns;
  Taps rows;
  /// One source row after the vertical pass, interleaved like the source; later split into planes.
  std::vector<float> mixed;
  std::vector<float> split;
  /// One output row (planes, W), or all rows of the upright intermediate picture (H, planes, W).
  std::vector<float> levels;
  std::vector<float> turned;

  void resize_row(const Image& image, std::int64_t y, std::int64_t planes, std::span<float> dst);
  void turn(const Geometry& geometry, std::int64_t planes, std::int64_t size, SlotWriter& writer);
  template <typename T>
  void copy(const Image& image, const Geometry& geometry, SlotWriter& writer);
};

// Computes row y of the resized picture. Plane p begins at dst[p * (dst.size() / planes)].
void Transformer::Scratch::resize_row(const Image& image, std::int64_t y, std::int64_t planes, std::span<float> dst) {
  if (rows.count(y) == 0 || columns.begin() == columns.end()) {
    std::ranges::fill(dst, 0.0F);
    return;
  }
  const std::int64_t channels = image.channels();
  const auto begin = static_cast<std::size_t>(columns.begin() * channels);
  const auto end = static_cast<std::size_t>(columns.end() * channels);
  const std::int64_t row_samples = image.width_px() * channels;
  const auto offset = static_cast<std::size_t>(rows.first(y) * row_samples) + begin;
  const std::span<const float> weights = rows.weights(y).first(static_cast<std::size_t>(rows.count(y)));
  const std::span<float> target = std::span(mixed).subspan(begin, end - begin);
  with_sample_type(image.layout().bits, [&](auto sample) {
    mix_rows({image.samples<decltype(sample)>().subspan(offset), row_samples}, weights, target);
  });
  const std::int64_t stride = image.width_px() + columns.stride();
  if (channels == 3) split_row(mixed, columns, {planes, stride}, split);
  const std::span<const float> source = channels == 3 ? std::span(split) : std::span(mixed);
  const std::size_t width = dst.size() / static_cast<std::size_t>(planes);
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    mix_columns(source.subspan(static_cast<std::size_t>(plane * stride), static_cast<std::size_t>(stride)), columns,
                dst.subspan(static_cast<std::size_t>(plane) * width, width));
  }
}

// Samples the upright intermediate picture bilinearly. Its centre is the output's centre, and it is large enough for
// all corners.
void Transformer::Scratch::turn(const Geometry& geometry, std::int64_t planes, std::int64_t size, SlotWriter& writer) {
  const std::int64_t side = geometry.x.outputs;
  const std::int64_t pitch = planes * side;
  const double middle = static_cast<double>(side) / 2.0 - 0.5;
  const double half = static_cast<double>(size) / 2.0 - 0.5;
  grow(turned, size);
  for (std::int64_t plane = 0; plane < planes; ++plane) {
    const float* picture = levels.data() + plane * side;
    for (std::int64_t y = 0; y < size; ++y) {
      const double down = static_cast<double>(y) - half;
      for (std::int64_t x = 0; x < size; ++x) {
        const double right = geometry.mirror * (static_cast<double>(x) - half);
        const double column = middle + geometry.xx * right + geometry.xy * down;
        const double row = middle + geometry.yx * right + geometry.yy * down;
        const auto column0 = static_cast<std::int64_t>(column);  // positive, so truncation equals floor
        const auto row0 = static_cast<std::int64_t>(row);
        const auto fx = static_cast<float>(column - static_cast<double>(column0));
        const auto fy = static_cast<float>(row - static_cast<double>(row0));
        const float* corner = picture + row0 * pitch + column0;
        const float above = corner[0] + fx * (corner[1] - corner[0]);
        const float below = corner[pitch] + fx * (corner[pitch + 1] - corner[pitch]);
        turned[static_cast<std::size_t>(x)] = above + fy * (below - above);
      }
      writer.write(plane, planes, {.y = y, .count = size}, std::span<const float>(turned));
    }
  }
}

// Copies pixels without a resize. At a ratio of 1 and pixel centres every filter has a single weight, so the result is
// bit-identical.
template <typename T>
void Transformer::Scratch::copy(const Image& image, const Geometry& geometry, SlotWriter& writer) {
  const std::int64_t size = geometry.x.outputs;
  const bool is_mirrored = geometry.x.step < 0.0;
  const auto start = static_cast<std::int64_t>(geometry.x.start);
  const auto top = static_cast<std::int64_t>(geometry.y.start);
  // Outputs [begin, end) show source columns, beginning with column `first`.
  const std::int64_t begin = std::clamp<std::int64_t>(is_mirrored ? start - image.width_px() : -start, 0, size);
  const std::int64_t end = std::clamp<std::int64_t>(is_mirrored ? start : image.width_px() - start, begin, size);
  const std::int64_t first = is_mirrored ? start - end : start + begin;
  grow(levels, size);
  std::ranges::fill(levels, 0.0F);
  const std::span<const float> black = levels;
  const std::span<const T> samples = image.samples<T>();
  for (std::int64_t y = 0; y < geometry.y.outputs; ++y) {
    const std::int64_t row = top + y;
    const bool is_inside = row >= 0 && row < image.height_px() && end > begin;
    const std::int64_t inside_end = is_inside ? end : begin;
    if (begin > 0) writer.write(0, 1, {.y = y, .begin = 0, .count = begin}, black);
    if (inside_end < size) writer.write(0, 1, {.y = y, .begin = inside_end, .count = size - inside_end}, black);
    if (!is_inside) continue;
    const auto at = static_cast<std::size_t>(row * image.width_px() + first);
    writer.write(0, 1, {.y = y, .begin = begin, .count = end - begin},
                 SampleRow<T>{samples.subspan(at, static_cast<std::size_t>(end - begin)), is_mirrored});
  }
}

std::size_t slot_bytes(const Preprocess& preprocess, DType dtype) {
  return static_cast<std::size_t>(preprocess.channels * preprocess.size_px * preprocess.size_px) * size_of(dtype);
}

Transformer::Transformer() : scratch_(std::make_unique<Scratch>()) {}
Transformer::~Transformer() = default;
Transformer::Transformer(Transformer&&) noexcept = default;
Transformer& Transformer::operator=(Transformer&&) noexcept = default;

void Transformer::apply(const Image& image, const Preprocess& preprocess, const AugmentDraw* augment, SlotView out) {
  RG_ASSERT(image.width_px() > 0 && image.height_px() > 0);
  const AugmentDraw draw = augment != nullptr ? *augment : AugmentDraw{};
  run(image, preprocess, draw, geometry_of(image, preprocess, draw), out);
}

void Transformer::stretch(const Image& image, const Preprocess& preprocess, const PictureSize& size, SlotView out) {
  RG_ASSERT(image.width_px() > 0 && image.height_px() > 0 && size.width_px > 0 && size.height_px > 0);
  run(image, preprocess, {}, seen_by(image, data::stretch(image.picture(), size)), out);
}

void Transformer::run(const Image& image, const Preprocess& preprocess, const AugmentDraw& draw,
                      const Geometry& geometry, SlotView out) {
  RG_ASSERT(out.dtype == DType::F32 || out.dtype == DType::U8 || out.dtype == DType::U16);
  // With rotation, the axes are those of the intermediate picture.
  const PictureSize size = geometry.is_rotated
                               ? PictureSize{.width_px = preprocess.size_px, .height_px = preprocess.size_px}
                               : PictureSize{.width_px = geometry.x.outputs, .height_px = geometry.y.outputs};
  const std::size_t bytes =
      static_cast<std::size_t>(preprocess.channels * size.width_px * size.height_px) * size_of(out.dtype);
  if (out.bytes.size() != bytes) {
    throw ShapeError(error_text("data.transform", "batch buffer",
                                fmt::format("{} bytes for {}", bytes, preprocess.text()),
                                std::to_string(out.bytes.size())));
  }
  SlotWriter writer(image, preprocess, draw, size, out);
  Scratch& scratch = *scratch_;
  if (image.channels() == 1 && is_of_whole_pixels(geometry)) {
    with_sample_type(image.layout().bits,
                     [&](auto sample) { scratch.copy<decltype(sample)>(image, geometry, writer); });
    return;
  }
  scratch.columns.set(geometry.x, preprocess.filter);
  scratch.rows.set(geometry.y, preprocess.filter);
  const std::int64_t planes = std::min(image.channels(), preprocess.channels);
  const std::int64_t stride = image.width_px() + scratch.columns.stride();
  grow(scratch.mixed, image.channels() * stride);
  grow(scratch.split, image.channels() == 3 ? planes * stride : 0);

  const std::int64_t width = geometry.x.outputs;
  const auto row_levels = static_cast<std::size_t>(planes * width);
  grow(scratch.levels, planes * width * (geometry.is_rotated ? geometry.y.outputs : 1));
  for (std::int64_t y = 0; y < geometry.y.outputs; ++y) {
    const std::size_t at = geometry.is_rotated ? static_cast<std::size_t>(y) * row_levels : 0;
    const std::span<float> levels = std::span(scratch.levels).subspan(at, row_levels);
    scratch.resize_row(image, y, planes, levels);
    for (std::int64_t plane = 0; plane < planes && !geometry.is_rotated; ++plane) {
      writer.write(plane, planes, {.y = y, .count = width},
                   std::span<const float>(levels.subspan(static_cast<std::size_t>(plane * width))));
    }
  }
  if (geometry.is_rotated) scratch.turn(geometry, planes, preprocess.size_px, writer);
}

}  // namespace roentgen::data
