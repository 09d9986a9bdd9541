// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "bench/images_testing.h"
#include "bench/ledger/figures.h"
#include "bench/record_folder.h"
#include "core/error.h"
#include "io/jpeg_writer.h"

namespace roentgen::bench {
namespace {

class FormatsCase : public ImagesTest {
 protected:
  FormatsCase() { std::filesystem::create_directory(work()); }
  [[nodiscard]] std::filesystem::path work() const { return folder_.path() / "work"; }
};

TEST(RecordCases, are_all_that_convert_writes_as_they_are_and_resized) {
  data::Dataset dataset{.label_names = {"a", "b"}};
  dataset.samples.push_back({.id = "1.png", .labels = {0.0F, 1.0F}});
  const std::vector<RecordCase> cases = record_cases(256, dataset);
  const auto count = [&](auto&& is_counted) { return std::ranges::count_if(cases, is_counted); };
  const auto encodings = std::ssize(data::encoding_names());
  EXPECT_GE(count([](const RecordCase& each) { return each.options.size_px == 0; }), encodings);
  EXPECT_GE(count([](const RecordCase& each) { return each.options.size_px == 256; }), encodings - 1);
  EXPECT_EQ(count([](const RecordCase& each) { return each.options.form == "tar"; }), 2 * encodings - 1);
  EXPECT_EQ(count([](const RecordCase& each) { return each.options.form == "png"; }), 1);
  // RecordIO and LMDB hold image files: no raw pixels.
  for (const char* form : {"recordio", "lmdb"}) {
    EXPECT_EQ(count([&](const RecordCase& each) { return each.options.form == form; }), 2 * (encodings - 1) - 1)
        << form;
  }
  const auto has_form = [&](std::string_view form) {
    return std::ranges::any_of(record_cases(256, dataset),
                               [&](const RecordCase& each) { return each.options.form == form; });
  };
  EXPECT_TRUE(has_form("lmdb"));
  dataset.samples[0].id = std::string(503, 'n');
  EXPECT_FALSE(has_form("lmdb")) << "its names are shorter";
  dataset.samples[0] = {.id = "1.png", .labels = {1.0F, 1.0F}};
  EXPECT_FALSE(has_form("lmdb")) << "it has a single label";
  EXPECT_TRUE(has_form("recordio"));
  dataset.label_names = {"a"};
  dataset.samples[0].labels = {std::nanf("")};
  EXPECT_FALSE(has_form("recordio")) << "it has no unknown class";
  EXPECT_TRUE(has_form("tfrecord"));
  EXPECT_EQ(count([](const RecordCase& each) {
              return each.options.size_px > 0 && each.options.encoding == data::Encoding::Keep;
            }),
            0);
}

TEST(RecordFiles, are_enough_to_read_several_at_a_time) {
  EXPECT_EQ(record_files_for(1), 1);
  EXPECT_EQ(record_files_for(320), 10);
  EXPECT_EQ(record_files_for(100'000), 64);
}

TEST_F(FormatsCase, compares_every_form_with_the_files_and_leaves_nothing_behind) {
  const Value result = run_formats(dataset_, {.input = small(), .stored_px = 4, .work = work(), .rounds = 1});
  const auto& rows = result.at("formats").as_array();
  ASSERT_EQ(rows.size(), record_cases(4, dataset_).size() + 1);
  EXPECT_EQ(rows[0].at("form").as_string(), "files");
  EXPECT_DOUBLE_EQ(rows[0].at("warm_of_files").as_double(), 1.0);
  for (const Value& row : rows) {
    EXPECT_GT(row.at("warm_images_per_s").as_double(), 0.0);
    EXPECT_GT(row.at("cold_images_per_s").as_double(), 0.0);
    EXPECT_GT(row.at("bytes_per_image").as_double(), 0.0);
    EXPECT_EQ(row.at("samples").at("warm_images_per_s").as_array().size(), 1U);
    EXPECT_TRUE(row.at("cold_break_even_epochs").is_null()) << "one round shows nothing";
    const bool is_resized = row.at("size").as_string() == "4 px";
    const bool is_exact = row.at("form").as_string().find("jpeg") == std::string::npos && !is_resized;
    if (is_exact || is_resized) {
      EXPECT_EQ(row.at("same_batches").as_bool(), is_exact) << row.at("form").as_string();
    }
  }
  for (const Value& advice : result.at("advice").as_array()) {
    EXPECT_EQ(advice.at("verdict").as_string(), "no gain shown");
    EXPECT_EQ(advice.at("text").as_string(), "no gain shown: one round gives no interval; try --rounds 5");
  }
  EXPECT_FALSE(result.at("emulated").as_bool());
  EXPECT_EQ(result.at("use").at("trainings").as_integer(), 1);
  for (const auto& [setting, value] : record_settings(result)) {
    EXPECT_TRUE(setting != "trainings" && setting != "changes" && setting != "epochs") << "the plan is not measured";
  }
  EXPECT_TRUE(std::filesystem::is_empty(work()));
}

TEST_F(FormatsCase, takes_colour_and_files_of_which_less_than_all_is_decoded) {
  for (int i = 0; i < 9; ++i) {
    std::vector<std::byte> pixels(40 * 40 * 4);
    for (std::size_t j = 0; j < pixels.size(); ++j)
      pixels[j] = static_cast<std::byte>(i * 31 + static_cast<int>(j * j));
    const auto bytes = io::encode_png({.width_px = 40, .height_px = 40, .channels = 4, .pixels = pixels}, 1);
    std::ofstream(images() / fmt::format("{}.png", i), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  }
  const auto is_same = [](const Value& result, std::string_view form) {
    for (const Value& row : result.at("formats").as_array()) {
      if (row.at("form").as_string() == form && row.at("size").as_string() == "original") {
        return row.at("same_batches").as_bool();
      }
    }
    return false;
  };
  const FormatsOptions options{.input = small(), .stored_px = 4, .work = work(), .rounds = 1};
  const Value png = run_formats(dataset_, options);
  for (const char* form : {"tfrecord keep", "tfrecord raw", "tar raw", "tfrecord png"})
    EXPECT_TRUE(is_same(png, form)) << form;
  for (int i = 0; i < 9; ++i) {
    std::vector<std::uint8_t> pixels(40 * 40);
    for (std::size_t j = 0; j < pixels.size(); ++j)
      pixels[j] = static_cast<std::uint8_t>(i * 31 + static_cast<int>(j * j / 40));
    const auto bytes = io::encode_jpeg({.width_px = 40, .height_px = 40, .pixels = pixels});
    std::ofstream(images() / fmt::format("{}.png", i), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  }
  const Value jpeg = run_formats(dataset_, options);
  EXPECT_TRUE(is_same(jpeg, "tfrecord keep"));
  EXPECT_FALSE(is_same(jpeg, "tfrecord raw")) << "decoded at half the size from the files";
}

TEST_F(FormatsCase, leaves_nothing_behind_when_an_image_cannot_be_read) {
  std::ofstream(dataset_.samples[5].path, std::ios::trunc) << "no image";
  EXPECT_THROW(static_cast<void>(run_formats(dataset_, {.input = small(), .work = work()})), DataError);
  EXPECT_TRUE(std::filesystem::is_empty(work()));
}

TEST_F(FormatsCase, refuses_a_folder_that_is_not_there) {
  EXPECT_THROW(static_cast<void>(run_formats(dataset_, {.input = small(), .work = work() / "nowhere"})), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
