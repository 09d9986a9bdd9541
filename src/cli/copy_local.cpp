// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen copy-local: copies a data folder from a network file system to a local disk.
#include <fmt/format.h>

#include <chrono>

#include "cli/command_list.h"
#include "cli/output_file.h"
#include "core/log.h"
#include "core/plural.h"
#include "core/terminal.h"
#include "io/copy_folder.h"
#include "io/place.h"
#include "runtime/cache_folder.h"

namespace roentgen::cli {
namespace {

double mebibytes(std::uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

class CopyLocalCommand final : public Command {
 public:
  CopyLocalCommand()
      : Command("copy-local", "Copy a data folder to a local disk, once for all processes of a node.",
                "roentgen copy-local /net/nih /scratch\n"
                "roentgen train --recipe default --data \"$(roentgen copy-local /net/nih /scratch)\" "
                "--out run") {}
  [[nodiscard]] std::vector<Option> options() override {
    return {{.name = "SRC", .target = &copy_.source, .doc = "data folder", .need = Need::Required, .value_name = "DIR"},
            {.name = "DIR",
             .target = &copy_.folder,
             .doc = "folder on a local disk, in which the copy is created",
             .need = Need::Required,
             .value_name = "DIR"},
            {.name = "--workers",
             .target = &workers_,
             .doc = "number of files copied at the same time",
             .range = {1, 256}}};
  }

  [[nodiscard]] Folders folders() const override { return {.data = copy_.source, .made = copy_.folder}; }

  [[nodiscard]] CommandResult run() override {
    io::refuse_inside_data("DIR", copy_.folder, copy_.source);
    if (const char* const network = runtime::network_file_system(copy_.folder)) {
      log::warning(fmt::format("{} lies on {}, which may be as slow as the source", copy_.folder.string(), network));
    }
    copy_.workers = static_cast<int>(workers_);
    copy_.on_wait = [](std::int64_t process) {
      log::info(fmt::format("waiting for process {}, which is copying", process));
    };
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [begin] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    auto last = begin;
    copy_.on_progress = [&](std::uint64_t done, std::uint64_t total) {
      const auto now = std::chrono::steady_clock::now();
      if (now - last < std::chrono::seconds(10) || done == total) return;
      last = now;
      const double rate = mebibytes(done) / seconds();
      log::info(fmt::format("{:.0f} of {:.0f} MiB, {:.0f} MiB/s, {:.0f} s left", mebibytes(done), mebibytes(total),
                            rate, mebibytes(total - done) / rate));
    };
    const io::CopiedFolder copied = io::copy_folder(copy_);
    log::info(fmt::format("{}, {:.1f} MiB, of which {:.1f} copied now, in {:.1f} s", counted(copied.files, "file"),
                          mebibytes(copied.bytes), mebibytes(copied.copied_bytes), seconds()));
    terminal::print_for_programs(copied.folder.string() + "\n");
    return {.json = Value::Table{{"folder", copied.folder.string()},
                                 {"files", copied.files},
                                 {"bytes", static_cast<std::int64_t>(copied.bytes)},
                                 {"copied_bytes", static_cast<std::int64_t>(copied.copied_bytes)},
                                 {"seconds", seconds()}}};
  }

 private:
  io::CopyOptions copy_;
  std::int64_t workers_ = 4;
};

}  // namespace

std::unique_ptr<Command> make_copy_local_command() { return std::make_unique<CopyLocalCommand>(); }

}  // namespace roentgen::cli
