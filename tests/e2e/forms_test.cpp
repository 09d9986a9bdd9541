// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests roentgen synth --form and the options for marks on the film; train and eval read every format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "data/codec/codec.h"
#include "io/file.h"
#include "io/png_writer.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Forms : public testing::Test {
 protected:
  fs::path synth(std::string_view name, const std::vector<std::string>& more, int images = 240) const {
    const fs::path data = place_ / name;
    place_.must_run(plus({"synth", data, "--images", std::to_string(images), "--size", std::to_string(kImagePx),
                          "--seed", "5", "--threads", "1"},
                         more));
    return data;
  }
  Value evaluate(const fs::path& data, const fs::path& json) const {
    place_.must_run({"eval", "--checkpoint", place_ / "run/checkpoints/best.safetensors", "--data", data,
                     "--replicates", "20", "--json", json});
    return read_json(json);
  }

  Workplace place_;
};

data::Image decoded(const fs::path& path) {
  const std::string bytes = read_all(path);
  data::Decoder decoder;
  data::Image image;
  EXPECT_TRUE(decoder.decode(std::as_bytes(std::span(bytes)), path.string(), {}, image)) << path;
  return image;
}

double mean_auroc(const Value& json) {
  double sum = 0.0, count = 0.0;
  for (const auto& [label, row] : json.at("auroc").at("labels").as_table()) {
    sum += row.at("auroc").as_double();
    count += 1.0;
  }
  return sum / count;
}

// Writes every file of `data` again with gray level v as the 16-bit value v * 257, the same share of white.
void widen(const fs::path& data, const fs::path& wide) {
  fs::copy(data, wide, fs::copy_options::recursive);
  for (const auto& entry : fs::directory_iterator(wide / "images")) {
    const data::Image image = decoded(entry.path());
    std::vector<std::uint16_t> samples;
    for (const std::uint8_t v : image.samples<std::uint8_t>()) samples.push_back(static_cast<std::uint16_t>(v * 257));
    fs::remove(entry.path());
    io::write_png(
        entry.path(),
        {.width_px = kImagePx, .height_px = kImagePx, .bits = 16, .pixels = std::as_bytes(std::span(samples))});
  }
}

TEST_F(Forms, the_same_values_in_8_and_16_bits_give_the_same_figures) {
  const fs::path data = synth("data", {});
  place_.must_run(plus(place_.train_arguments(data, "run"), {"--set", "train.epochs=1"}));
  widen(data, place_ / "wide");
  const Value narrow = evaluate(data, place_ / "narrow.json"), wide = evaluate(place_ / "wide", place_ / "wide.json");
  EXPECT_EQ(narrow.at("auroc"), wide.at("auroc"));
  // The other formats contain nearly the same pictures.
  for (const char* form : {"png16", "png12", "jpeg"}) {
    const Value other = evaluate(synth(form, {"--form", form}), place_ / (std::string(form) + ".json"));
    EXPECT_NEAR(mean_auroc(other), mean_auroc(narrow), 0.03) << form;
  }
}

TEST_F(Forms, train_reads_jpeg_and_16_bits) {
  for (const char* form : {"jpeg", "png16"}) {
    const fs::path data = synth(form, {"--form", form, "--markers", "0.5", "--collimated", "0.5"});
    place_.must_run(plus(place_.train_arguments(data, std::string("run_") + form), {"--set", "train.epochs=1"}));
  }
}

TEST_F(Forms, tables_name_the_files_that_are_there) {
  for (const auto& [form, extension] : std::map<std::string, std::string>{{"jpeg", ".jpg"}, {"png12", ".png"}}) {
    const fs::path data = synth(form, {"--form", form}, 20);
    const std::string csv = read_all(data / "Data_Entry_2017_v2020.csv");
    const std::string lists = read_all(data / "train_val_list.txt") + read_all(data / "test_list.txt");
    int files = 0;
    for (const auto& entry : fs::directory_iterator(data / "images")) {
      ++files;
      EXPECT_EQ(entry.path().extension(), extension);
      EXPECT_THAT(csv, HasSubstr("\n" + entry.path().filename().string() + ","));
      EXPECT_THAT(lists, HasSubstr(entry.path().filename().string() + "\n"));
    }
    EXPECT_EQ(files, 20);
    EXPECT_EQ(read_json(data / "synth.json").at("form"), Value(form));
  }
}

TEST_F(Forms, switches_are_recorded_and_change_pictures_only) {
  const fs::path plain = synth("plain", {}, 20), marked = synth("marked", {"--inverted", "1", "--markers", "0"}, 20);
  EXPECT_EQ(read_json(marked / "synth.json").at("inverted"), Value(1.0));
  EXPECT_EQ(read_json(plain / "synth.json").at("inverted"), Value(0.0));
  EXPECT_FALSE(fs::exists(plain / "film.csv"));
  EXPECT_THAT(read_all(marked / "film.csv"), HasSubstr("\n00000001_000.png,1,,0.000,0.000,1024.000,1024.000\n"));
  for (const char* name : {"Data_Entry_2017_v2020.csv", "truth.csv", "BBox_List_2017.csv", "test_list.txt"}) {
    EXPECT_EQ(read_all(plain / name), read_all(marked / name)) << name;
  }
  for (const auto& entry : fs::directory_iterator(plain / "images")) {
    const data::Image before = decoded(entry.path()), after = decoded(marked / "images" / entry.path().filename());
    for (std::size_t i = 0; i < before.samples<std::uint8_t>().size(); ++i) {
      ASSERT_EQ(after.samples<std::uint8_t>()[i], 255 - before.samples<std::uint8_t>()[i]);
    }
  }
}

TEST_F(Forms, masks_hold_nothing_of_what_the_frame_hides) {
  const fs::path plain = synth("plain", {"--masks"}, 40),
                 framed = synth("framed", {"--masks", "--collimated", "1"}, 40);
  std::int64_t hidden = 0;
  for (const auto& entry : fs::recursive_directory_iterator(framed / "masks")) {
    if (!entry.is_regular_file()) continue;
    const data::Image mask = decoded(entry.path());
    const data::Image whole = decoded(plain / "masks" / fs::relative(entry.path(), framed / "masks"));
    const data::Image image = decoded(framed / "images" / entry.path().filename());
    const auto shown = image.samples<std::uint8_t>(), inside = mask.samples<std::uint8_t>();
    for (int column = 0; column < kImagePx; ++column) {
      bool is_black = true;
      for (int row = 0; row < kImagePx; ++row) is_black = is_black && shown[row * kImagePx + column] == 0;
      for (int row = 0; row < kImagePx && is_black; ++row) {
        ASSERT_EQ(inside[row * kImagePx + column], 0) << entry.path();
        hidden += whole.samples<std::uint8_t>()[row * kImagePx + column] != 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(hidden, 0) << "no frame hides anything here";
}

TEST_F(Forms, refuse_what_is_no_form_or_share) {
  expect_refusal(place_.run({"synth", place_ / "x", "--form", "tiff"}),
                 {"[synth.film] form: expected png8, png16, png12 or jpeg, got 'tiff'"});
  expect_refusal(place_.run({"synth", place_ / "x", "--form", "jpeg", "--quality", "101"}), {"--quality"});
  expect_refusal(place_.run({"synth", place_ / "x", "--quality", "0"}), {"--quality"});
  expect_refusal(place_.run({"synth", place_ / "x", "--quality", "50"}), {"also --form jpeg, got 'png8'"});
  expect_refusal(place_.run({"synth", place_ / "x", "--form", "jpeg", "--png-level", "2"}),
                 {"also a PNG format as --form"});
  expect_refusal(place_.run({"synth", place_ / "x", "--inverted", "1.5"}), {"--inverted"});
  expect_refusal(place_.run({"synth", place_ / "x", "--png-level", "10"}), {"--png-level"});
  EXPECT_FALSE(fs::exists(place_ / "x"));
}

}  // namespace
}  // namespace roentgen::e2e
