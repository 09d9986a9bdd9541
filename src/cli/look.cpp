// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen look: draws a contact sheet of a data folder, with images as the network receives them.
#include <fmt/format.h>

#include "cli/command_list.h"
#include "cli/output_file.h"
#include "core/error.h"
#include "core/foreign_text.h"
#include "core/log.h"
#include "core/terminal.h"
#include "io/png_writer.h"
#include "publish/contact_sheet.h"
#include "task/recipe_list.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

// Largest number of pixels in a sheet, because many programs cannot open larger pictures.
constexpr std::int64_t kMostPixels = std::int64_t{1} << 28;

class LookCommand final : public Command {
 public:
  LookCommand()
      : Command("look", "Draw a contact sheet of samples as the network gets them.",
                "roentgen look --recipe default --data nih --sheet sheet.png\n"
                "roentgen look --recipe default --data nih --sheet test.png --split test --plain") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {
        {.name = "--recipe",
         .target = &recipe_,
         .doc = "TOML file, or name of a built-in recipe",
         .need = Need::Required},
        {.name = "--data",
         .target = &data_,
         .doc = "data folder; several are joined",
         .need = Need::Required,
         .value_name = "DIR"},
        {.name = "--sheet", .target = &sheet_, .doc = "PNG file to write", .need = Need::Required, .is_output = true},
        {.name = "--set", .target = &overrides_, .doc = "section.key=value that overrides the recipe"},
        {.name = "--split", .target = &split_, .doc = "images to use: train, val or test"},
        {.name = "--columns", .target = &columns_, .doc = "number of samples of each finding", .range = {1, 64}},
        {.name = "--seed", .target = &seed_, .doc = "random seed by which samples are drawn", .range = {0, 1e15}},
        {.name = "--epoch", .target = &epoch_, .doc = "epoch whose augmentation is shown", .range = {0, 1e9}},
        {.name = "--plain", .target = &is_plain_, .doc = "show images without augmentation, as in evaluation"}};
  }
  [[nodiscard]] Folders folders() const override { return data_folders(data_); }

  [[nodiscard]] CommandResult run() override {
    train::Recipe recipe = task::read_recipe(recipe_, overrides_);
    const std::int64_t side = recipe.preprocess.size_px;
    data::place_folders(recipe.data, data_);
    const data::Dataset dataset = data::load_dataset(recipe.data);
    const auto rows = publish::choose_rows(
        dataset, {.split = data::parse_split(split_), .columns = columns_, .seed = static_cast<std::uint64_t>(seed_)});
    if (columns_ * side * side * static_cast<std::int64_t>(rows.size()) > kMostPixels) {
      throw ConfigError(error_text("cli.look", "contact sheet", fmt::format("at most {} pixels", kMostPixels),
                                   fmt::format("{} rows of {} tiles of {}x{}", rows.size(), columns_, side, side),
                                   "fewer --columns or a smaller --set preprocess.size"));
    }
    const publish::Sheet sheet = publish::draw_sheet(dataset, rows,
                                                     {.preprocess = recipe.preprocess,
                                                      .augment = is_plain_ ? nullptr : &recipe.augment,
                                                      .seed = static_cast<std::uint64_t>(recipe.train.seed),
                                                      .epoch = static_cast<std::uint32_t>(epoch_)});
    for (const std::string& reason : sheet.unreadable) log::warning(reason);
    io::write_png(sheet_, {.width_px = sheet.picture.width_px,
                           .height_px = sheet.picture.height_px,
                           .pixels = std::as_bytes(std::span(sheet.picture.pixels))});
    Value table = Value::array();
    for (const publish::SheetRow& row : rows) {
      terminal::print(fmt::format("{}, {} shown\n", terminal_text(row.caption), row.samples.size()));
      table.push_back(Value::Table{{"row", row.caption}, {"shown", static_cast<std::int64_t>(row.samples.size())}});
    }
    terminal::print(fmt::format("input {}; augmentation {}\n{}: {}x{}\n", recipe.preprocess.text(),
                                is_plain_ ? "none" : recipe.augment.text(), sheet_.string(), sheet.picture.width_px,
                                sheet.picture.height_px));
    return {.json = Value::Table{{"sheet", sheet_.string()},
                                 {"rows", std::move(table)},
                                 {"unreadable", static_cast<std::int64_t>(sheet.unreadable.size())}}};
  }

 private:
  std::filesystem::path recipe_;
  std::vector<std::string> data_;
  std::filesystem::path sheet_;
  std::vector<std::string> overrides_;
  std::string split_ = "train";
  std::int64_t columns_ = 8;
  std::int64_t seed_ = 0;
  std::int64_t epoch_ = 0;
  bool is_plain_ = false;
};

}  // namespace

std::unique_ptr<Command> make_look_command() { return std::make_unique<LookCommand>(); }

}  // namespace roentgen::cli
