// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Pictures, and a naive double-precision version of Transformer for tests. It computes the definition in transform.h
// pixel by pixel, each as a sum over the whole source. Only tests include this file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <vector>

#include "core/random.h"
#include "data/image.h"
#include "data/transform/transform.h"

namespace roentgen::data {

inline double level_at(const Image& image, std::int64_t x, std::int64_t y, std::int64_t channel) {
  const auto i = static_cast<std::size_t>((y * image.width_px() + x) * image.channels() + channel);
  return image.layout().bits == 8 ? static_cast<double>(image.samples<std::uint8_t>()[i])
                                  : static_cast<double>(image.samples<std::uint16_t>()[i]);
}

/// Creates a picture with the value level(x, y, channel) at each pixel.
inline Image make_image(const ImageLayout& layout,
                        const std::function<double(std::int64_t, std::int64_t, std::int64_t)>& level) {
  Image image(layout);
  for (std::int64_t y = 0; y < layout.height_px; ++y) {
    for (std::int64_t x = 0; x < layout.width_px; ++x) {
      for (std::int64_t channel = 0; channel < layout.channels; ++channel) {
        const auto i = static_cast<std::size_t>((y * layout.width_px + x) * layout.channels + channel);
        const double value = std::round(level(x, y, channel));
        if (layout.bits == 8) {
          image.samples<std::uint8_t>()[i] = static_cast<std::uint8_t>(value);
        } else {
          image.samples<std::uint16_t>()[i] = static_cast<std::uint16_t>(value);
        }
      }
    }
  }
  return image;
}

/// Picture of independent random samples over the whole range.
inline Image random_image(const ImageLayout& layout, std::uint64_t seed) {
  Random random(seed, RandomStage::Test);
  return make_image(
      layout, [&](auto, auto, auto) { return static_cast<double>(random.below(std::uint64_t{layout.max_value} + 1)); });
}

/// Result (C, S, S) of a new Transformer.
inline std::vector<float> transform(const Image& image, const Preprocess& preprocess,
                                    const AugmentDraw* draw = nullptr) {
  std::vector<float> out(slot_bytes(preprocess, DType::F32) / sizeof(float));
  Transformer{}.apply(image, preprocess, draw, {std::as_writable_bytes(std::span(out)), DType::F32});
  return out;
}

template <typename T>
std::vector<T> transform_to(const Image& image, const Preprocess& preprocess, DType dtype) {
  std::vector<T> out(slot_bytes(preprocess, dtype) / sizeof(T));
  Transformer{}.apply(image, preprocess, nullptr, {std::as_writable_bytes(std::span(out)), dtype});
  return out;
}

/// Preprocessing with values in [0, 1] and no further normalisation.
inline Preprocess unit(std::int64_t size_px, Fit fit = Fit::Squash, int channels = 1) {
  Preprocess preprocess = with_channels(preset("unit"), channels);
  preprocess.size_px = size_px;
  preprocess.fit = fit;
  return preprocess;
}

inline double largest_difference(std::span<const float> a, std::span<const float> b) {
  double largest = a.size() == b.size() ? 0.0 : 1e30;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
  return largest;
}

/// Naive version of Transformer. Slow: O(S^2 * width * height).
class NaiveTransform {
 public:
  NaiveTransform(const Image& image, const Preprocess& preprocess, const AugmentDraw& draw)
      : image_(image), preprocess_(preprocess), draw_(draw), size_(static_cast<double>(preprocess.size_px)) {
    const double width = static_cast<double>(image.width_px());
    const double height = static_cast<double>(image.height_px());
    side_x_ = preprocess.fit == Fit::Squash ? width
              : preprocess.fit == Fit::Crop ? std::min(width, height)
                                            : std::max(width, height);
    side_y_ = preprocess.fit == Fit::Squash ? height : side_x_;
    left_ = std::trunc((width - side_x_) / 2.0);
    top_ = std::trunc((height - side_y_) / 2.0);
    cut(left_, side_x_, draw.cut_x);
    cut(top_, side_y_, draw.cut_y);
    sine_ = std::sin(draw.rotate_rad);
    cosine_ = std::cos(draw.rotate_rad);
  }

  /// All output values (C, S, S).
  [[nodiscard]] std::vector<float> all() const {
    std::vector<float> out;
    for (std::int64_t channel = 0; channel < preprocess_.channels; ++channel) {
      for (std::int64_t y = 0; y < preprocess_.size_px; ++y) {
        for (std::int64_t x = 0; x < preprocess_.size_px; ++x) {
          out.push_back(static_cast<float>(value(channel, x, y)));
        }
      }
    }
    return out;
  }

  /// Position in the source, in pixels, that output pixel (x, y) shows.
  [[nodiscard]] std::pair<double, double> place(double x, double y) const {
    const auto [right, down] = turned((x + 0.5) / size_ - 0.5, (y + 0.5) / size_ - 0.5);
    return source_place(right, down);
  }

 private:
  // Reduces one axis of the frame to the part that the input shows.
  void cut(double& from, double& side, double place) const {
    const auto fitted = static_cast<double>(preprocess_.fitted_px());
    const double choices = fitted - size_ + 1;
    from += side / fitted * std::clamp(std::ceil(place * choices) - 1, 0.0, choices - 1);
    side *= size_ / fitted;
  }
  // Computes the position e, after flip, shift, rotation and shear, from the output position u (symbols as in
  // transform.h).
  [[nodiscard]] std::pair<double, double> turned(double u_x, double u_y) const {
    const double d_x = (draw_.flip ? -u_x : u_x) - draw_.shift_x;
    const double d_y = u_y - draw_.shift_y;
    const double r_x = cosine_ * d_x - sine_ * d_y;
    const double r_y = sine_ * d_x + cosine_ * d_y;
    return {r_x + draw_.shear * r_y, r_y};
  }
  // Computes the position in the source, in pixels, from the position e (symbols as in transform.h).
  [[nodiscard]] std::pair<double, double> source_place(double e_x, double e_y) const {
    return {left_ + side_x_ * (draw_.crop_x + e_x * draw_.crop_width / draw_.zoom),
            top_ + side_y_ * (draw_.crop_y + e_y * draw_.crop_height / draw_.zoom)};
  }

  [[nodiscard]] double weight(std::int64_t pixel, double place, double ratio) const {
    const double support = std::max(1.0, ratio);
    const auto left = static_cast<double>(pixel);
    if (preprocess_.filter == Filter::Triangle) return std::max(0.0, 1.0 - std::abs(left + 0.5 - place) / support);
    return std::max(0.0, std::min(place + support / 2, left + 1) - std::max(place - support / 2, left));
  }

  [[nodiscard]] double level(std::int64_t channel, std::int64_t x, std::int64_t y) const {
    if (image_.channels() == 1) return level_at(image_, x, y, 0);
    if (preprocess_.channels == 3) return level_at(image_, x, y, channel);
    return (19595.0 * level_at(image_, x, y, 0) + 38470.0 * level_at(image_, x, y, 1) +
            7471.0 * level_at(image_, x, y, 2)) /
           65536.0;
  }

  // Filtered value at position e.
  [[nodiscard]] double filtered(std::int64_t channel, double e_x, double e_y) const {
    const auto [place_x, place_y] = source_place(e_x, e_y);
    if (place_x < 0 || place_x >= static_cast<double>(image_.width_px())) return 0.0;
    if (place_y < 0 || place_y >= static_cast<double>(image_.height_px())) return 0.0;
    const double ratio_x = side_x_ * draw_.crop_width / draw_.zoom / size_;
    const double ratio_y = side_y_ * draw_.crop_height / draw_.zoom / size_;
    double sum = 0.0;
    double weights = 0.0;
    for (std::int64_t y = 0; y < image_.height_px(); ++y) {
      const double weight_y = weight(y, place_y, ratio_y);
      if (weight_y == 0.0) continue;
      for (std::int64_t x = 0; x < image_.width_px(); ++x) {
        const double both = weight_y * weight(x, place_x, ratio_x);
        if (both == 0.0) continue;
        sum += both * level(channel, x, y);
        weights += both;
      }
    }
    return sum / weights;
  }

  [[nodiscard]] double bilinear(std::int64_t channel, double e_x, double e_y) const {
    const auto [middle_x, middle_y] = turned(0.0, 0.0);
    // Pixels of the upright picture are at the positions that the output's pixels would have without rotation.
    const double phase = preprocess_.size_px % 2 == 0 ? 0.5 : 0.0;
    const double column = (e_x - middle_x) * size_ - phase;
    const double row = (e_y - middle_y) * size_ - phase;
    const auto at = [&](double c, double r) {
      return filtered(channel, middle_x + (c + phase) / size_, middle_y + (r + phase) / size_);
    };
    const double c = std::floor(column);
    const double r = std::floor(row);
    return (1 - (row - r)) * ((1 - (column - c)) * at(c, r) + (column - c) * at(c + 1, r)) +
           (row - r) * ((1 - (column - c)) * at(c, r + 1) + (column - c) * at(c + 1, r + 1));
  }

  [[nodiscard]] double value(std::int64_t channel, std::int64_t x, std::int64_t y) const {
    const auto [e_x, e_y] =
        turned((static_cast<double>(x) + 0.5) / size_ - 0.5, (static_cast<double>(y) + 0.5) / size_ - 0.5);
    const double level =
        draw_.rotate_rad == 0.0 && draw_.shear == 0.0 ? filtered(channel, e_x, e_y) : bilinear(channel, e_x, e_y);
    const double v = (level / image_.layout().max_value - 0.5) * draw_.contrast + 0.5 + draw_.brightness;
    const auto c = static_cast<std::size_t>(channel);
    return (std::clamp(v, 0.0, 1.0) - preprocess_.mean[c]) / preprocess_.stddev[c];
  }

  const Image& image_;
  const Preprocess& preprocess_;
  const AugmentDraw& draw_;
  double size_;
  double side_x_ = 0.0;
  double side_y_ = 0.0;
  double left_ = 0.0;
  double top_ = 0.0;
  double sine_ = 0.0;
  double cosine_ = 1.0;
};

}  // namespace roentgen::data
