// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "synth/synth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "core/error.h"
#include "io/csv.h"
#include "io/file.h"
#include "io/io_testing.h"

namespace roentgen::synth {
namespace {
namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::optional<double> no_auroc(std::span<const float>, std::span<const std::uint8_t>) { return std::nullopt; }

/// Contents of every file below a folder, by relative path.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> result;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    result[fs::relative(entry.path(), folder).string()] = io::read_text(entry.path()).or_throw();
  }
  return result;
}

std::string error_of(const SynthOptions& options, const SynthProgress& progress = {}) {
  try {
    write_dataset(options, no_auroc, progress);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(WriteDataset, writes_nihs_layout) {
  const io::testing::TemporaryFolder folder;
  const fs::path out = folder.path() / "set";
  const SynthReport report = write_dataset({.out = out, .images = 60, .size_px = 24, .seed = 3}, no_auroc);
  EXPECT_EQ(report.images, 60);
  EXPECT_EQ(report.findings.size(), 14U);
  EXPECT_EQ(
      io::testing::listing(out),
      "BBox_List_2017.csv Data_Entry_2017_v2020.csv images synth.json test_list.txt train_val_list.txt truth.csv");
  const io::Csv csv = io::read_csv(out / "Data_Entry_2017_v2020.csv").or_throw();
  ASSERT_EQ(csv.rows.size(), 60U);
  for (const auto& row : csv.rows) {
    const std::string png = io::read_text(out / "images" / row[0]).or_throw();
    // Fields of the PNG's IHDR chunk: width, height, 8 bits, gray.
    ASSERT_GE(png.size(), 26U);
    EXPECT_EQ(png.substr(1, 3), "PNG");
    EXPECT_EQ(png.substr(16, 10), std::string("\0\0\0\x18\0\0\0\x18\x08\0", 10));
  }
  const io::Csv boxes = io::read_csv(out / "BBox_List_2017.csv").or_throw();
  EXPECT_EQ(static_cast<std::int64_t>(boxes.rows.size()), report.boxes);
  for (const auto& row : boxes.rows) {
    EXPECT_GE(std::stod(row[2]), 0.0);
    EXPECT_LE(std::stod(row[2]) + std::stod(row[4]), 1024.0);
    EXPECT_LE(std::stod(row[3]) + std::stod(row[5]), 1024.0);
  }
}

TEST(WriteDataset, writes_a_mask_of_every_finding_that_is_there_and_changes_no_image) {
  const io::testing::TemporaryFolder folder;
  const fs::path plain = folder.path() / "plain", masked = folder.path() / "masked";
  write_dataset({.out = plain, .images = 30, .size_px = 48, .seed = 3}, no_auroc);
  write_dataset({.out = masked, .images = 30, .size_px = 48, .seed = 3, .has_masks = true}, no_auroc);
  EXPECT_FALSE(fs::exists(plain / "masks"));
  auto before = contents(plain), after = contents(masked);
  const io::Csv truth = io::read_csv(masked / "truth.csv").or_throw();
  std::int64_t there = 0;  // number of present findings; in these 30 images, no finding hides another completely
  for (const auto& row : truth.rows) {
    for (std::size_t i = 2; i < truth.header.size(); ++i) {
      const std::string name = "masks/" + truth.header[i] + "/" + row[0];
      EXPECT_EQ(after.contains(name), std::stod(row[i]) > 0.0) << name;
      there += static_cast<std::int64_t>(after.erase(name));
    }
  }
  EXPECT_GT(there, 20);
  EXPECT_THAT(after["synth.json"], HasSubstr("\"masks\": true"));
  before.erase("synth.json");
  after.erase("synth.json");
  EXPECT_EQ(before, after);
}

TEST(WriteDataset, writes_pairs_that_differ_by_the_finding) {
  const io::testing::TemporaryFolder folder;
  const fs::path out = folder.path() / "set";
  SynthOptions options{.out = out, .images = 40, .size_px = 48, .seed = 3};
  options.pairs[static_cast<std::size_t>(Finding::Edema)] = true;
  options.pairs[static_cast<std::size_t>(Finding::Mass)] = true;
  write_dataset(options, no_auroc);
  auto files = contents(out);
  const io::Csv csv = io::read_csv(out / "pairs.csv").or_throw();
  EXPECT_GT(csv.rows.size(), 4U);
  for (const auto& row : csv.rows) {
    ASSERT_TRUE(files.contains(row[2]) && files.contains(row[3]));
    EXPECT_NE(files[row[2]], files[row[3]]);
    files.erase(row[3]);
  }
  for (const auto& [name, text] : files) EXPECT_FALSE(name.starts_with("pairs/")) << name;
  EXPECT_THAT(files["synth.json"], HasSubstr("Edema"));
}

TEST(WriteDataset, the_test_set_can_have_other_prevalences_and_the_shortcut_reversed) {
  const io::testing::TemporaryFolder folder;
  const fs::path out = folder.path() / "set";
  SynthOptions options{.out = out, .images = 1500, .size_px = 16, .seed = 3};
  options.test_prevalence_factor = 2.0;
  options.population.shortcut = 0.9;
  options.test_shortcut = -0.9;
  write_dataset(options, no_auroc);
  const io::Csv truth = io::read_csv(out / "truth.csv").or_throw();
  const auto edema = *truth.column("Edema"), tubes = *truth.column("Tubes");
  double images[2] = {0, 0}, ill[2] = {0, 0}, alike[2] = {0, 0};
  for (const auto& row : truth.rows) {
    const std::size_t part = row[1] == "test" ? 1 : 0;
    const bool is_ill = std::stod(row[edema]) > 0.0;
    images[part] += 1.0;
    ill[part] += is_ill ? 1.0 : 0.0;
    alike[part] += is_ill == (row[tubes] == "1") ? 1.0 : 0.0;
  }
  EXPECT_GT(ill[1] / images[1], 1.4 * ill[0] / images[0]);
  EXPECT_NEAR(alike[0] / images[0], 0.95, 0.03);
  EXPECT_NEAR(alike[1] / images[1], 0.05, 0.05);
}

TEST(WriteDataset, writes_the_table_of_labels_that_is_asked_for) {
  const io::testing::TemporaryFolder folder;
  const fs::path out = folder.path() / "set";
  write_dataset({.out = out,
                 .images = 60,
                 .size_px = 16,
                 .population = {.uncertain = 0.5, .blank = 0.5},
                 .labels = LabelTable::Csv},
                no_auroc);
  EXPECT_FALSE(fs::exists(out / "Data_Entry_2017_v2020.csv"));
  EXPECT_EQ(io::read_csv(out / "labels.csv").or_throw().rows.size(), 60U);
}

TEST(WriteDataset, thread_count_changes_no_byte) {
  const io::testing::TemporaryFolder folder;
  const fs::path one = folder.path() / "one", three = folder.path() / "three";
  write_dataset({.out = one, .images = 40, .size_px = 32, .seed = 8, .threads = 1, .has_masks = true}, no_auroc);
  write_dataset({.out = three, .images = 40, .size_px = 32, .seed = 8, .threads = 3, .has_masks = true}, no_auroc);
  EXPECT_EQ(contents(one), contents(three));
}

TEST(WriteDataset, seeds_give_other_images) {
  const io::testing::TemporaryFolder folder;
  const fs::path one = folder.path() / "one", other = folder.path() / "other";
  write_dataset({.out = one, .images = 2, .size_px = 32, .seed = 8}, no_auroc);
  write_dataset({.out = other, .images = 2, .size_px = 32, .seed = 9}, no_auroc);
  EXPECT_NE(contents(one)["images/00000001_000.png"], contents(other)["images/00000001_000.png"]);
}

TEST(WriteDataset, counts_up_to_the_end) {
  const io::testing::TemporaryFolder folder;
  std::int64_t last = 0, calls = 0;
  write_dataset({.out = folder.path() / "set", .images = 130, .size_px = 16}, no_auroc,
                [&](std::int64_t done, std::int64_t total) {
                  EXPECT_GT(done, last);
                  EXPECT_EQ(total, 130);
                  last = done;
                  ++calls;
                });
  EXPECT_EQ(last, 130);
  EXPECT_EQ(calls, 3);  // after 64, 128 and 130 images
}

TEST(WriteDataset, refuses_absurd_options_in_one_line) {
  const io::testing::TemporaryFolder folder;
  const fs::path out = folder.path() / "set";
  EXPECT_EQ(error_of({.out = out, .images = 0}),
            "[synth.options] images: expected 1 to 10000000, got 0; try roentgen synth --help");
  EXPECT_EQ(error_of({.out = out, .images = 20'000'000}),
            "[synth.options] images: expected 1 to 10000000, got 20000000; try roentgen synth --help");
  EXPECT_EQ(error_of({.out = out, .size_px = 8}),
            "[synth.options] size: expected 16 to 4096 px, got 8; try roentgen synth --help");
  EXPECT_EQ(error_of({.out = out, .size_px = 100'000}),
            "[synth.options] size: expected 16 to 4096 px, got 100000; try roentgen synth --help");
  EXPECT_THAT(error_of({.out = {}}), HasSubstr("[synth.options] folder"));
  EXPECT_THAT(error_of({.out = out, .threads = -1}), HasSubstr("[synth.options] threads"));
  EXPECT_THAT(error_of({.out = out, .png_level = 0}), HasSubstr("[synth.options] png level"));
  EXPECT_THAT(error_of({.out = out, .film = {.jpeg_quality = 0}}), HasSubstr("[synth.film] quality"));
  EXPECT_THAT(error_of({.out = out, .film = {.inverted = 2.0}}), HasSubstr("[synth.film] inverted"));
  EXPECT_THAT(error_of({.out = out, .population = {.label_noise = 0.9}}), HasSubstr("[synth.options] label noise"));
  EXPECT_THAT(error_of({.out = out, .population = {.prevalence_low = 0.3, .prevalence_high = 0.2}}),
              HasSubstr("[synth.options] prevalences"));
  EXPECT_THAT(error_of({.out = out, .population = {.prevalence_low = 0.1, .prevalence_high = 0.6}}),
              HasSubstr("[synth.options] prevalences"));
  EXPECT_THAT(error_of({.out = out, .population = {.prevalence_high = 0.5, .label_noise = 0.4}}),
              HasSubstr("less label noise"));
  EXPECT_THAT(error_of({.out = out, .population = {.prevalence_low = std::nan("")}}),
              HasSubstr("[synth.options] prevalences"));
  EXPECT_THAT(error_of({.out = out, .population = {.uncertain = 0.1}}), HasSubstr("--labels csv"));
  EXPECT_THAT(error_of({.out = out, .population = {.blank = 1.5}, .labels = LabelTable::Csv}),
              HasSubstr("[synth.options] blank: expected a share from 0 to 1, got 1.5"));
  EXPECT_THAT(error_of({.out = out, .population = {.ap_share = -0.1}}), HasSubstr("[synth.options] ap"));
  EXPECT_THAT(error_of({.out = out, .population = {.shortcut = 1.5}}), HasSubstr("[synth.options] shortcut"));
  EXPECT_THAT(error_of({.out = out, .population = {.shortcut = 0.5}, .test_shortcut = -2.0}),
              HasSubstr("[synth.options] shortcut"));
  EXPECT_THAT(error_of({.out = out, .test_shortcut = 0.5}), HasSubstr("[synth.options] test shortcut"));
  EXPECT_THAT(error_of({.out = out, .test_prevalence_factor = 3.0}),
              HasSubstr("[synth.options] test prevalence factor"));
  EXPECT_THAT(error_of({.out = out, .test_prevalence_factor = 0.0}),
              HasSubstr("[synth.options] test prevalence factor"));
  EXPECT_THAT(error_of({.out = out, .population = {.prevalence = Prevalence::Nih, .prevalence_low = 0.01}}),
              HasSubstr("expected nih, or a range, got both"));
  EXPECT_FALSE(fs::exists(out));
}

TEST(WriteDataset, refuses_a_folder_in_use_and_leaves_it_alone) {
  const io::testing::TemporaryFolder folder;
  io::testing::put_file(folder.path() / "mine.txt", "mine");
  const std::string text = error_of({.out = folder.path(), .images = 2, .size_px = 16});
  EXPECT_THAT(text, HasSubstr("[synth.out]"));
  EXPECT_THAT(text, HasSubstr("expected a new or empty folder"));
  EXPECT_EQ(io::testing::listing(folder.path()), "mine.txt");
}

TEST(WriteDataset, refuses_a_file_in_place_of_the_folder) {
  const io::testing::TemporaryFolder folder;
  const fs::path out = folder.path() / "file";
  io::testing::put_file(out, "mine");
  EXPECT_THAT(error_of({.out = out, .images = 2, .size_px = 16}), HasSubstr("[synth.out]"));
  EXPECT_TRUE(fs::is_regular_file(out));
}

TEST(WriteDataset, an_error_midway_leaves_nothing) {
  const io::testing::TemporaryFolder folder;
  const fs::path out = folder.path() / "set";
  const std::string text = error_of({.out = out, .images = 200, .size_px = 16, .threads = 2, .has_masks = true},
                                    [](std::int64_t, std::int64_t) { throw DataError("told to stop"); });
  EXPECT_EQ(text, "told to stop");
  EXPECT_FALSE(fs::exists(out));
}

TEST(WriteDataset, a_full_disk_is_an_error_that_leaves_nothing) {
  const io::testing::TemporaryFolder folder;
  const fs::path out = folder.path() / "set";
  std::string text;
  {
    const io::testing::FileSizeLimit limit(100);  // bytes, fewer than an image file has
    text = error_of({.out = out, .images = 4, .size_px = 64});
  }
  EXPECT_THAT(text, HasSubstr("[synth.out]"));
  EXPECT_FALSE(fs::exists(out));
}

}  // namespace
}  // namespace roentgen::synth
