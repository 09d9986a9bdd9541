// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Transformer: converts a decoded Image directly to one sample of an engine's batch slot: fit, resize, augmentation,
// brightness, normalisation. Training and evaluation use the same code.
//
// Definition. The output is S x S. Its pixel (x, y) has the position relative to the centre
//   u = ((x+0.5)/S - 0.5, (y+0.5)/S - 0.5).
// The frame is a rectangle of the source: all of it (squash), its central square (crop), or the enclosing square (pad).
// Positions f in the frame range from (-0.5, -0.5) at its top left corner to (0.5, 0.5) at its bottom right corner. The
// input may be cut from a picture of R x R (Preprocess::resize_px). The frame then has S/R of that picture's sides and
// begins at k/R of them. The integer k is that of a centred or a random cut.
// Without augmentation f = u. With augmentation, where a = rotate_rad and y points down:
//   w = (shift_x, shift_y);  (d.x, d.y) = (m u.x, u.y) - w, where m = -1 when mirrored, else 1
//   r = (cos a d.x - sin a d.y, sin a d.x + cos a d.y);  e = (r.x + shear r.y, r.y)
//   f = (crop_x - 0.5 + e.x crop_width / zoom, crop_y - 0.5 + e.y crop_height / zoom)
// Without rotation and shear the axes are independent. On each axis an output pixel has a position p and a ratio r
// (source pixels per output pixel). Its value is the filter's weighted mean of source samples (filter.h). With rotation
// or shear, the same resize with the same ratios first makes an intermediate picture that is upright in the frame. Its
// positions are e = e(u = 0) + u, extended beyond the output's edges as far as needed. The output interpolates that
// picture bilinearly.
// A position outside the source is black (0). A JPEG file may be decoded at reduced size (Preprocess::jpeg). Its
// samples are then means of 2x2, 4x4 or 8x8 pixels, and ratios and positions refer to these. The vertical pass precedes
// the horizontal one, in float32 without rounding in between. 16-bit samples 257 v give the same bits as 8-bit samples
// v. The last step, also for black parts, is
//   v = clamp((level / max_value - 0.5) contrast + 0.5 + brightness, 0, 1).
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "core/shape.h"
#include "data/image.h"
#include "data/transform/augment.h"
#include "data/transform/preprocess.h"

namespace roentgen::data {

struct Geometry;
struct PictureSize;

/// Memory of one sample in a batch: (C, H, W) planes, rows without gaps. Does not own it.
struct SlotView {
  /// C * H * W elements of dtype.
  std::span<std::byte> bytes;
  /// F32: normalised, x = (v - mean) / std. U8, U16: v scaled to the full range, round(255 v) or round(65535 v), for
  /// devices that normalise themselves.
  DType dtype = DType::F32;
};

/// Number of bytes of one sample: channels * size_px^2 elements.
[[nodiscard]] std::size_t slot_bytes(const Preprocess& preprocess, DType dtype);

/// Transforms pictures. Keeps scratch memory and filter weights, so calls with sizes seen before allocate nothing.
/// Thread-compatible: each worker has its own.
class Transformer {
 public:
  Transformer();
  ~Transformer();
  Transformer(Transformer&&) noexcept;             ///< takes over its memory
  Transformer& operator=(Transformer&&) noexcept;  ///< takes over its memory

  /// Fills `out`. A null `augment` (evaluation) means no distortion. Throws ShapeError if `out` has the wrong size,
  /// std::logic_error for an empty image.
  void apply(const Image& image, const Preprocess& preprocess, const AugmentDraw* augment, SlotView out);
  /// Resizes the whole picture to `size` without augmentation; `out` holds (channels, height, width). Each axis is
  /// scaled separately. Of `preprocess`, only the channels, the filter, mean and stddev are used. Throws as apply()
  /// does.
  void stretch(const Image& image, const Preprocess& preprocess, const PictureSize& size, SlotView out);

 private:
  void run(const Image& image, const Preprocess& preprocess, const AugmentDraw& draw, const Geometry& geometry,
           SlotView out);
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
};

}  // namespace roentgen::data
