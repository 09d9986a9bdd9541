// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "score/box_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/error.h"
#include "data/source/source_testing.h"

namespace roentgen::score {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class BoxFileTest : public testing::Test {
 protected:
  [[nodiscard]] BoxFile read(std::string_view text, std::int64_t grid_px = 1024) const {
    return {folder_.write("boxes.csv", text), {"Mass", "Infiltration"}, grid_px};
  }
  [[nodiscard]] std::string refusal(std::string_view text) const {
    try {
      static_cast<void>(read(text));
    } catch (const DataError& error) {
      return error.what();
    }
    return "nothing";
  }
  data::TestFolder folder_;
};

// File in the format of NIH's BBox_List_2017.csv, with invented names.
constexpr std::string_view kNih =
    "Image Index,Finding Label,Bbox [x,y,w,h],,,\n"
    "x1.png,Infiltrate,225.0,512.0,102.4,51.2,,,\n"
    "x1.png,Mass,0,0,1024,1024,,,\n"
    "x2.png,Hernia,1,2,3,4,,,\n";

TEST_F(BoxFileTest, reads_nih_boxes_into_the_pixels_of_the_image) {
  const BoxFile boxes = read(kNih);
  EXPECT_EQ(boxes.count(), 3);
  EXPECT_EQ(boxes.other_labels(), 1);
  EXPECT_TRUE(boxes.has("images/x1.png"));
  EXPECT_FALSE(boxes.has("x2.png"));
  EXPECT_THAT(boxes.labels_of("x1.png"), ElementsAre(0U, 1U));
  const auto found = boxes.boxes_of("x1.png", 1, 512, 2048);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].x, 112.5);
  EXPECT_DOUBLE_EQ(found[0].y, 1024.0);
  EXPECT_DOUBLE_EQ(found[0].width, 51.2);
  EXPECT_DOUBLE_EQ(found[0].height, 102.4);
}

TEST_F(BoxFileTest, takes_pixels_of_the_image_without_a_grid) {
  const auto found = read("path,label,x,y,width,height\na/b.png,Mass,3,4,5,6\n", 0).boxes_of("b.png", 0, 512, 2048);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].x, 3.0);
  EXPECT_DOUBLE_EQ(found[0].height, 6.0);
}

TEST_F(BoxFileTest, refuses_other_tables_and_names_no_image) {
  EXPECT_THAT(refusal("Image Index,Finding Labels\nx1.png,Mass\n"),
              HasSubstr("boxes.csv: expected columns Image Index, Finding Label, x, y, w, h"));
  EXPECT_THAT(refusal("image,label,x,y,w,h\nx1.png,Mass,1,2,three,4\n"),
              HasSubstr("boxes.csv line 2: expected four numbers x, y, width, height, got \"three\""));
  EXPECT_THAT(refusal("image,label,x,y,w,h\nx1.png,Mass,1,2,0,4\n"), HasSubstr("a width and height above 0"));
}

}  // namespace
}  // namespace roentgen::score
