// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "publish/contact_sheet.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/random.h"
#include "data/stage/loader.h"
#include "data/stage/sample_loader.h"
#include "publish/caption.h"

namespace roentgen::publish {
namespace {
constexpr std::int64_t kGap_px = 2;
constexpr std::int64_t kSidePerDot_px = 96;

// Returns `count` random elements of `all`, or all elements if there are fewer.
std::vector<std::uint32_t> some_of(std::vector<std::uint32_t> all, std::int64_t count, Random random) {
  const auto kept = std::min(all.size(), static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < kept; ++i) std::swap(all[i], all[i + random.below(all.size() - i)]);
  all.resize(kept);
  return all;
}

void cross_out(GrayPicture& picture, std::int64_t left, std::int64_t top, std::int64_t side) {
  for (std::int64_t i = 0; i < side; ++i) {
    picture.at(left + i, top + i) = 255;
    picture.at(left + side - 1 - i, top + i) = 255;
  }
}

// Draws a tile of the sheet from (C, S, S) bytes: the mean over the channels.
void put_tile(GrayPicture& picture, std::int64_t left, std::int64_t top, std::int64_t side,
              std::span<const std::byte> planes) {
  const std::int64_t plane = side * side;
  const std::int64_t channels = static_cast<std::int64_t>(planes.size()) / plane;
  for (std::int64_t i = 0; i < plane; ++i) {
    std::int64_t sum = channels / 2;
    for (std::int64_t c = 0; c < channels; ++c) {
      sum += std::to_integer<std::int64_t>(planes[static_cast<std::size_t>(c * plane + i)]);
    }
    picture.at(left + i % side, top + i / side) = static_cast<std::uint8_t>(sum / channels);
  }
}
}  // namespace

std::vector<SheetRow> choose_rows(const data::Dataset& dataset, const SheetOptions& options) {
  const std::size_t K = dataset.label_names.size();
  std::vector<std::vector<std::uint32_t>> found(K + 1);
  for (std::uint32_t i = 0; i < dataset.samples.size(); ++i) {
    const data::Sample& sample = dataset.samples[i];
    if (sample.split != options.split) continue;
    bool has_any = false;
    for (std::size_t k = 0; k < K; ++k) {
      if (sample.labels[k] != 1.0F) continue;
      found[k].push_back(i);
      has_any = true;
    }
    if (!has_any) found[K].push_back(i);
  }
  std::vector<SheetRow> rows;
  for (std::size_t k = 0; k <= K; ++k) {
    const std::size_t count = found[k].size();
    const std::string& name = k < K ? dataset.label_names[k] : "none of these";
    rows.push_back({fmt::format("{}: {} in {}", name, count, data::name_of(options.split)),
                    some_of(std::move(found[k]), options.columns, Random(options.seed, RandomStage::Look, k))});
  }
  return rows;
}

Sheet draw_sheet(const data::Dataset& dataset, std::span<const SheetRow> rows, const SheetView& view) {
  const std::int64_t side = view.preprocess.size_px;
  const std::int64_t scale = std::max<std::int64_t>(1, side / kSidePerDot_px);
  const std::int64_t caption = (kCaptionHeight + 4) * scale;
  std::int64_t columns = 1;
  for (const SheetRow& row : rows) columns = std::max(columns, static_cast<std::int64_t>(row.samples.size()));
  Sheet sheet{.picture = GrayPicture(columns * (side + kGap_px) - kGap_px,
                                     static_cast<std::int64_t>(rows.size()) * (caption + side + kGap_px))};
  data::LoaderOptions loading;
  loading.preprocess = view.preprocess;
  data::SampleLoader loader(dataset, loading);
  std::vector<std::byte> slot(data::slot_bytes(view.preprocess, DType::U8));
  std::int64_t top = 0;
  for (const SheetRow& row : rows) {
    write_caption(sheet.picture, 2 * scale, top + 2 * scale, scale, row.caption);
    top += caption;
    std::int64_t left = 0;
    for (const std::uint32_t sample : row.samples) {
      std::optional<data::AugmentDraw> distortion;
      if (view.augment != nullptr) {
        distortion =
            data::draw(*view.augment, {.seed = view.seed, .epoch = view.epoch, .id = dataset.samples[sample].id});
      }
      const Status status = loader.load(sample, distortion ? &*distortion : nullptr, {slot, DType::U8});
      if (status) {
        put_tile(sheet.picture, left, top, side, slot);
      } else {
        cross_out(sheet.picture, left, top, side);
        sheet.unreadable.push_back(status.error());
      }
      left += side + kGap_px;
    }
    top += side + kGap_px;
  }
  return sheet;
}

}  // namespace roentgen::publish
