// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen convert: writes a data set as record files, or as a folder of PNG files.
#include "data/convert/convert.h"

#include <fmt/format.h>

#include <chrono>

#include "cli/command_list.h"
#include "cli/output_file.h"
#include "core/foreign_text.h"
#include "core/log.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "data/convert/record_form.h"
#include "data/source/describe.h"
#include "io/place.h"
#include "runtime/cores.h"
#include "train/recipe.h"

namespace roentgen::cli {
namespace {

class ConvertCommand final : public Command {
 public:
  ConvertCommand()
      : Command("convert", "Convert a data set to record files, which load faster.",
                "roentgen convert nih records --to tfrecord\n"
                "roentgen convert nih shards --to tar --workers 8\n"
                "roentgen convert nih records256 --to tfrecord --resize 256 --encode raw --workers 8 --verify\n"
                "roentgen convert nih rec480 --to recordio --shorter-edge 480 --encode jpeg:95 --workers 16\n"
                "roentgen train --recipe default --data records256 --out run") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {{.name = "SRC", .target = &source_, .doc = "data folder", .need = Need::Required, .value_name = "DIR"},
            {.name = "DST",
             .target = &convert_.folder,
             .doc = "output folder",
             .need = Need::Required,
             .value_name = "DIR"},
            {.name = "--to",
             .target = &convert_.form,
             .doc = "output format: tfrecord, tar (WebDataset), recordio, lmdb or png"},
            {.name = "--resize",
             .target = &convert_.size_px,
             .doc = "side of the stored images, px; 0 = original size",
             .range = {0, 16384}},
            {.name = "--shorter-edge",
             .target = &convert_.shorter_px,
             .doc = "shorter side, px, with the same aspect ratio; 0 = original size",
             .range = {0, 16384}},
            {.name = "--encode",
             .target = &encoding_,
             .doc = "image encoding: keep, raw (largest, fastest), png or jpeg:QUALITY"},
            {.name = "--fit", .target = &fit_, .doc = "how images become square: squash, crop or pad"},
            {.name = "--intensity", .target = &intensity_, .doc = "gray levels of DICOM: " + data::intensity_names()},
            {.name = "--jpeg", .target = &jpeg_, .doc = "how to decode JPEG files to resize: scaled (faster) or exact"},
            {.name = "--shards",
             .target = &convert_.shards,
             .doc = "record files per split; 0 = files of about 128 MiB",
             .range = {0, 99999}},
            {.name = "--workers",
             .target = &workers_,
             .doc = "threads that write records; 0 = all cores",
             .range = {0, 1024}},
            {.name = "--verify",
             .target = &convert_.should_verify,
             .doc = "read every record again and compare its pixels"},
            {.name = "--set", .target = &overrides_, .doc = "data.key=value that overrides how the data set is read"}};
  }

  [[nodiscard]] Folders folders() const override { return {.data = source_, .made = convert_.folder}; }

  [[nodiscard]] CommandResult run() override {
    static_cast<void>(data::record_form(convert_.form));
    io::refuse_inside_data("DST", convert_.folder, source_);
    data::parse_encoding(encoding_, convert_);
    convert_.fit = data::parse_fit(fit_);
    convert_.intensity = data::parse_intensity(intensity_);
    convert_.jpeg = data::parse_jpeg_size(jpeg_);
    convert_.workers = workers_ > 0 ? static_cast<int>(workers_) : runtime::available_cores();
    train::Recipe recipe = train::parse_recipe("", "--set", overrides_);
    recipe.data.root = source_;
    const data::Dataset dataset = data::load_dataset(recipe.data);
    terminal::print(data::describe(dataset));
    const auto begin = std::chrono::steady_clock::now();
    auto last = begin;
    convert_.on_progress = [&](std::int64_t done, std::int64_t total) {
      const auto now = std::chrono::steady_clock::now();
      if (now - last < std::chrono::seconds(10) || done == total) return;
      last = now;
      const double rate = static_cast<double>(done) / std::chrono::duration<double>(now - begin).count();
      log::info(fmt::format("{} of {}, {:.0f} a second, {:.0f} s left", done, counted(total, "image"), rate,
                            static_cast<double>(total - done) / rate));
    };
    const data::Converted result = data::convert(dataset, convert_);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    terminal::print(fmt::format("{}: {} in {}{}, {:.1f} MiB, {:.1f} s\n", terminal_text(convert_.folder.string()),
                                counted(result.images, "image"), counted(result.files, "file"),
                                result.files_kept > 0 ? fmt::format(" ({} there already)", result.files_kept) : "",
                                static_cast<double>(result.bytes) / (1 << 20), seconds));
    return {.json = Value::Table{{"images", result.images},
                                 {"files", result.files},
                                 {"files_kept", result.files_kept},
                                 {"bytes", static_cast<std::int64_t>(result.bytes)},
                                 {"seconds", seconds}}};
  }

 private:
  std::filesystem::path source_;
  data::ConvertOptions convert_;
  std::string encoding_ = "keep";
  std::string fit_ = "squash";
  std::string intensity_ = "stored";
  std::string jpeg_ = "scaled";
  std::int64_t workers_ = 0;
  std::vector<std::string> overrides_;
};

}  // namespace

std::unique_ptr<Command> make_convert_command() { return std::make_unique<ConvertCommand>(); }

}  // namespace roentgen::cli
