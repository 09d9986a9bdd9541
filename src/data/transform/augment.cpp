// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "data/transform/augment.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "core/error.h"
#include "core/portable_math.h"
#include "io/sha256.h"

namespace roentgen::data {
namespace {

// A numeric setting of Augment in a recipe: its name and its range, ends included.
struct Field {
  std::string_view key;
  double Augment::*member;
  double low;
  double high;
};

constexpr std::array kFields{Field{"rotate", &Augment::rotate_deg, 0.0, 180.0},
                             Field{"translate", &Augment::translate, 0.0, 1.0},
                             Field{"scale", &Augment::scale, 0.0, 0.9},
                             Field{"crop_area", &Augment::crop_area_min, 0.01, 1.0},
                             Field{"crop_aspect", &Augment::crop_aspect_max, 1.0, 10.0},
                             Field{"shear", &Augment::shear_deg, 0.0, 60.0},
                             Field{"flip", &Augment::flip_probability, 0.0, 1.0},
                             Field{"brightness", &Augment::brightness, 0.0, 1.0},
                             Field{"contrast", &Augment::contrast, 0.0, 1.0}};

constexpr std::string_view kRandomCrop = "random_crop";
constexpr std::string_view kRemedy = "roentgen train --keys for all keys and what they take";

const Field& field_of(std::string_view key) {
  std::vector<std::string_view> keys;
  for (const Field& field : kFields) {
    if (field.key == key) return field;
    keys.push_back(field.key);
  }
  keys.push_back(kRandomCrop);
  throw ConfigError(error_text("data.augment", "key", fmt::format("one of {}", fmt::join(keys, ", ")), key, kRemedy));
}

[[noreturn]] void refuse_number(const Field& field, const std::string& got) {
  throw ConfigError(
      error_text("data.augment", field.key, fmt::format("{:g} to {:g}", field.low, field.high), got, kRemedy));
}

[[noreturn]] void refuse_switch(std::string_view key, const Value& value) {
  throw ConfigError(
      error_text("data.augment", key, "true or false", fmt::format("a value that is {}", value.kind()), kRemedy));
}

// Draws the sides of the crop if its aspect ratio may vary.
void draw_crop(const Augment& augment, Random& random, AugmentDraw& drawn) {
  constexpr int kTries = 10;
  const double range = portable_log(augment.crop_aspect_max);
  drawn.crop_width = drawn.crop_height = 1.0;
  for (int i = 0; i < kTries; ++i) {
    const double area = augment.crop_area_min + (1.0 - augment.crop_area_min) * random.uniform();
    const double aspect = portable_exp(random.uniform(-1.0, 1.0) * range);
    const double width = std::sqrt(area * aspect);
    const double height = std::sqrt(area / aspect);
    if (width > 1.0 || height > 1.0) continue;
    drawn.crop_width = width;
    drawn.crop_height = height;
    return;
  }
}

}  // namespace

Value Augment::to_value() const {
  Value table = Value::table();
  for (const Field& field : kFields) table.set(field.key, this->*field.member);
  table.set(kRandomCrop, is_crop_random);
  return table;
}

std::string Augment::text() const {
  std::vector<std::string> parts;
  if (rotate_deg > 0.0) parts.push_back(fmt::format("rotate {:g} deg", rotate_deg));
  if (shear_deg > 0.0) parts.push_back(fmt::format("shear {:g} deg", shear_deg));
  if (translate > 0.0) parts.push_back(fmt::format("translate {:g}", translate));
  if (scale > 0.0) parts.push_back(fmt::format("scale {:g}", scale));
  if (crop_area_min < 1.0) parts.push_back(fmt::format("crop area >= {:g}", crop_area_min));
  if (crop_aspect_max > 1.0) parts.push_back(fmt::format("crop aspect 1/{0:g} to {0:g}", crop_aspect_max));
  if (flip_probability > 0.0) parts.push_back(fmt::format("flip {:g}", flip_probability));
  if (is_crop_random) parts.emplace_back("random crop");
  if (brightness > 0.0) parts.push_back(fmt::format("brightness {:g}", brightness));
  if (contrast > 0.0) parts.push_back(fmt::format("contrast {:g}", contrast));
  return parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", "));
}

Augment augment_from_value(const Value& table) {
  Augment augment;
  for (const auto& [key, value] : table.as_table()) {
    if (key == kRandomCrop) {
      if (!value.is_bool()) refuse_switch(key, value);
      augment.is_crop_random = value.as_bool();
      continue;
    }
    const Field& field = field_of(key);
    if (!value.is_number()) refuse_number(field, fmt::format("a value that is {}", value.kind()));
    const double number = value.as_double();
    if (!(number >= field.low && number <= field.high)) refuse_number(field, fmt::format("{:g}", number));
    augment.*field.member = number;
  }
  return augment;
}

AugmentDraw draw(const Augment& augment, Random& random) {
  AugmentDraw drawn;
  // The order of the random numbers must never change, because recipes must produce the same pictures in later
  // versions.
  drawn.rotate_rad = random.uniform(-1.0, 1.0) * augment.rotate_deg * std::numbers::pi / 180.0;
  drawn.shift_x = random.uniform(-1.0, 1.0) * augment.translate;
  drawn.shift_y = random.uniform(-1.0, 1.0) * augment.translate;
  drawn.zoom = 1.0 + random.uniform(-1.0, 1.0) * augment.scale;
  const double side = std::sqrt(augment.crop_area_min + (1.0 - augment.crop_area_min) * random.uniform());
  const double crop_right = random.uniform(-0.5, 0.5);
  const double crop_down = random.uniform(-0.5, 0.5);
  drawn.flip = random.uniform() < augment.flip_probability;
  drawn.brightness = random.uniform(-1.0, 1.0) * augment.brightness;
  drawn.contrast = 1.0 + random.uniform(-1.0, 1.0) * augment.contrast;
  // Maps [0, 1) to (0, 1].
  const double cut_x = 1.0 - random.uniform();
  const double cut_y = 1.0 - random.uniform();
  if (augment.is_crop_random) {
    drawn.cut_x = cut_x;
    drawn.cut_y = cut_y;
  }
  const double shear_rad = random.uniform(-1.0, 1.0) * augment.shear_deg * std::numbers::pi / 180.0;
  if (augment.shear_deg > 0.0) drawn.shear = portable_sin(shear_rad) / portable_cos(shear_rad);
  drawn.crop_width = drawn.crop_height = side;
  // Drawn last, because it uses a varying number of random numbers.
  if (augment.crop_aspect_max > 1.0) draw_crop(augment, random, drawn);
  drawn.crop_x = 0.5 + crop_right * (1.0 - drawn.crop_width);
  drawn.crop_y = 0.5 + crop_down * (1.0 - drawn.crop_height);
  return drawn;
}

AugmentDraw draw(const Augment& augment, const AugmentKey& key) {
  Random random(key.seed, RandomStage::Augment, io::fast_hash(std::as_bytes(std::span(key.id))), key.epoch);
  return draw(augment, random);
}

}  // namespace roentgen::data
