// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/convert/record_image.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "data/codec/channels.h"
#include "data/codec/codec.h"
#include "data/transform/geometry.h"
#include "io/jpeg_writer.h"
#include "io/png_writer.h"

namespace roentgen::data {
namespace {

constexpr std::array<std::string_view, 4> kFormats{"", "png", "raw", "jpeg"};

// Scales gray levels to another range, with rounding.
template <typename From, typename To>
void spread(const Image& from, Image& to) {
  const double most = to.layout().max_value;
  const double scale = most / from.layout().max_value;
  std::ranges::transform(from.samples<From>(), to.samples<To>().begin(), [&](From sample) {
    return static_cast<To>(std::min(std::round(scale * static_cast<double>(sample)), most));
  });
}

}  // namespace

RecordMaker::RecordMaker(const Dataset& dataset, const ConvertOptions& options)
    : dataset_(dataset),
      options_(options),
      form_(record_form(options.form)),
      reader_(FileReader::PageCache::Use, options.intensity) {}

Status RecordMaker::prepare(const Sample& sample, Encoding encoding) {
  const auto bytes = reader_.read(sample);
  if (!bytes) return bytes.why();
  DecodeOptions decoding{.channels = Channels::FromFile, .limits = {}};
  if (is_resized()) {
    decoding.need = [&](const ImageLayout& picture) {
      return options_.size_px > 0 ? need_of(picture, resized(picture.channels), AugmentDraw{})
                                  : need_of(stretch(picture, stored_size(picture)), options_.jpeg);
    };
  }
  auto status = reader_.decode(sample, bytes.value(), decoding, decoded_);
  if (!status) return status;
  const bool is_raw = sample.stored && sample.stored->raw;
  if (!is_raw || options_.encoding != Encoding::Keep) drop_equal_channels();
  has_other_gray_ = false;
  if (!is_raw && encoding != Encoding::Jpeg && decoded_.channels() == 3) {
    const auto file = reader_.unpack(sample, bytes.value());
    const auto info = read_info(file.value(), sample.id);
    has_other_gray_ = info.ok() && info.value().colour == "ycbcr";
  }
  if (is_resized())
    resize();
  else
    std::swap(decoded_, stored_);
  // JPEG has 8 bits. Neither JPEG nor PNG can store a white level below the largest value.
  const bool is_jpeg = encoding == Encoding::Jpeg;
  if (is_jpeg || encoding == Encoding::Png) spread_to(is_jpeg ? 8 : stored_.layout().bits);
  return status;
}

void RecordMaker::drop_equal_channels() {
  if (decoded_.channels() != 3 || !has_equal_channels(decoded_)) return;
  make_gray(decoded_, stored_);
  std::swap(decoded_, stored_);
}

void RecordMaker::spread_to(int bits) {
  ImageLayout layout = stored_.layout();
  layout.bits = bits;
  layout.max_value = bits == 8 ? 255 : 65535;
  if (layout == stored_.layout()) return;
  std::swap(decoded_, stored_);
  stored_.reset(layout);
  with_sample_type(decoded_.layout().bits, [&](auto from) {
    with_sample_type(bits, [&](auto to) { spread<decltype(from), decltype(to)>(decoded_, stored_); });
  });
}

Preprocess RecordMaker::resized(int channels) const {
  return {.size_px = options_.size_px,
          .channels = channels,
          .fit = options_.fit,
          .filter = options_.filter,
          .jpeg = options_.jpeg};
}

PictureSize RecordMaker::stored_size(const ImageLayout& picture) const {
  if (options_.size_px > 0) return {.width_px = options_.size_px, .height_px = options_.size_px};
  const std::int64_t edge = options_.shorter_px;
  const bool is_tall = picture.height_px > picture.width_px;
  return {.width_px = is_tall ? edge : edge * picture.width_px / picture.height_px,
          .height_px = is_tall ? edge * picture.height_px / picture.width_px : edge};
}

void RecordMaker::resize() {
  const Preprocess preprocess = resized(decoded_.channels());
  const PictureSize size = stored_size(decoded_.picture());
  const int bits = decoded_.layout().bits;
  const DType dtype = bits == 8 ? DType::U8 : DType::U16;
  ImageLayout layout{.width_px = size.width_px,
                     .height_px = size.height_px,
                     .channels = decoded_.channels(),
                     .bits = bits,
                     .max_value = bits == 8 ? 255U : 65535U};
  stored_.reset(layout);
  const auto fill = [&](std::span<std::byte> planes) {
    if (options_.size_px > 0) {
      transformer_.apply(decoded_, preprocess, nullptr, {.bytes = planes, .dtype = dtype});
    } else {
      transformer_.stretch(decoded_, preprocess, size, {.bytes = planes, .dtype = dtype});
    }
  };
  if (layout.channels == 1) {
    fill(stored_.bytes());
    return;
  }
  std::vector<std::byte> planes(layout.bytes());
  fill(planes);
  const auto width = static_cast<std::size_t>(bits / 8);
  const std::size_t pixels = planes.size() / (3 * width);
  for (std::size_t i = 0; i < pixels; ++i) {
    for (std::size_t channel = 0; channel < 3; ++channel) {
      std::copy_n(planes.data() + (channel * pixels + i) * width, width,
                  stored_.bytes().data() + (3 * i + channel) * width);
    }
  }
}

std::vector<std::byte> RecordMaker::encode(Encoding encoding) const {
  const ImageLayout& layout = stored_.layout();
  if (encoding == Encoding::Png) {
    return io::encode_png({.width_px = layout.width_px,
                           .height_px = layout.height_px,
                           .channels = layout.channels,
                           .bits = layout.bits,
                           .pixels = stored_.bytes()});
  }
  if (encoding == Encoding::Jpeg) {
    return io::encode_jpeg({.width_px = layout.width_px,
                            .height_px = layout.height_px,
                            .channels = layout.channels,
                            .pixels = stored_.samples<std::uint8_t>()},
                           options_.jpeg_quality);
  }
  return {stored_.bytes().begin(), stored_.bytes().end()};
}

// Keeps the file unchanged. It is decoded only for the comparison.
Status RecordMaker::keep(const Sample& sample, StoredForm& form) {
  const auto bytes = reader_.read(sample);
  if (!bytes) return bytes.why();
  const auto image = reader_.unpack(sample, bytes.value());
  if (!image) return image.why();
  form.image.assign(image.value().begin(), image.value().end());
  const auto info = read_info(form.image, sample.id);
  if (!info) return info.why();
  form.format = info.value().format;
  form.layout = {.width_px = info.value().width_px,
                 .height_px = info.value().height_px,
                 .channels = info.value().channels,
                 .bits = info.value().bits <= 8 ? 8 : 16};
  if (!options_.should_verify) return Done{};
  return reader_.load(sample, Channels::FromFile, stored_);
}

Result<StoredForm> RecordMaker::make(std::size_t index) {
  const Sample& sample = dataset_.samples.at(index);
  const bool is_raw = sample.stored && sample.stored->raw;
  Encoding encoding = options_.encoding;
  if (encoding == Encoding::Keep && !is_raw) {
    StoredForm form;
    if (const Status status = keep(sample, form); !status) return status.why();
    if (!form_.is_folder || form.format == "png") return form;
  }
  if (encoding == Encoding::Keep) encoding = form_.has_raw ? Encoding::Raw : Encoding::Png;
  if (const Status status = prepare(sample, encoding); !status) return status.why();
  return StoredForm{.image = encode(encoding),
                    .format = kFormats.at(static_cast<std::size_t>(encoding)),
                    .layout = stored_.layout(),
                    .has_other_gray = has_other_gray_};
}

bool RecordMaker::holds(const Image& decoded) const {
  if (options_.encoding == Encoding::Jpeg) {
    return decoded.width_px() == stored_.width_px() && decoded.height_px() == stored_.height_px();
  }
  return decoded.layout() == stored_.layout() && std::ranges::equal(decoded.bytes(), stored_.bytes());
}

}  // namespace roentgen::data
