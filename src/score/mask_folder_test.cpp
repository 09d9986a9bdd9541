// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/mask_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>

#include "core/error.h"
#include "data/source/source_testing.h"
#include "io/png_writer.h"

namespace roentgen::score {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class MaskFolderTest : public testing::Test {
 protected:
  MaskFolderTest() { root_ = folder_.write("masks/readme.txt", "").parent_path(); }
  void put(std::string_view name, std::span<const std::uint8_t> pixels, std::int64_t width_px) const {
    fs::create_directories((root_ / name).parent_path());
    io::write_png(root_ / name, {.width_px = width_px,
                                 .height_px = static_cast<std::int64_t>(pixels.size()) / width_px,
                                 .pixels = std::as_bytes(pixels)});
  }
  template <typename Do>
  static std::string refusal(Do&& act) {
    try {
      act();
    } catch (const DataError& error) {
      return error.what();
    }
    return "nothing";
  }
  data::TestFolder folder_;
  fs::path root_;
  const std::vector<std::string> labels_{"Mass", "Infiltration"};
};

TEST_F(MaskFolderTest, finds_masks_by_finding_and_base_name_whatever_the_suffix) {
  put("Mass/x1.png", std::array<std::uint8_t, 6>{0, 127, 128, 255, 0, 0}, 3);
  put("Infiltrate/x1.png", std::array<std::uint8_t, 6>{}, 3);
  put("Gout/x1.png", std::array<std::uint8_t, 1>{255}, 1);
  MaskFolder masks(root_, labels_);
  EXPECT_TRUE(masks.has("images/x1.jpg"));
  EXPECT_FALSE(masks.has("x2.png"));
  EXPECT_THAT(masks.labels_of("x1.png"), ElementsAre(0U, 1U));
  const auto mask = masks.read("images/x1.png", 0, 3, 2);
  ASSERT_TRUE(mask.has_value());
  EXPECT_THAT(mask->is_inside, ElementsAre(false, false, true, true, false, false));
  EXPECT_FALSE(masks.read("x1.png", 1, 3, 2).has_value());  // the mask is all black
  EXPECT_FALSE(masks.read("x2.png", 0, 3, 2).has_value());
}

TEST_F(MaskFolderTest, refuses_other_folders_and_sizes_and_names_no_image) {
  EXPECT_THAT(refusal([&] { MaskFolder(root_ / "gone", labels_); }), HasSubstr("expected a folder of masks"));
  EXPECT_THAT(refusal([&] { MaskFolder(root_, labels_); }),
              HasSubstr("folders with the names of the checkpoint's labels"));
  put("Mass/x1.png", std::array<std::uint8_t, 6>{}, 3);
  folder_.write("masks/Mass/x2.png", "no image");
  MaskFolder masks(root_, labels_);
  const std::string size = refusal([&] { static_cast<void>(masks.read("x1.png", 0, 30, 20)); });
  EXPECT_THAT(size, HasSubstr("a mask in Mass: expected the image's size, 30 x 20 px, got 3 x 2"));
  const std::string broken = refusal([&] { static_cast<void>(masks.read("x2.png", 0, 3, 2)); });
  EXPECT_THAT(broken, testing::AllOf(HasSubstr("a mask in Mass"), testing::Not(HasSubstr("x2"))));
}

}  // namespace
}  // namespace roentgen::score
