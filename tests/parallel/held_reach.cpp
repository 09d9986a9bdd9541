// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Replaces dist::reach() in roentgen_held, a program that tests of failures start instead of roentgen. Both have the
// same objects; the linker option --wrap redirects calls of dist::reach() here. ROENTGEN_HOLD=RANK:PLACE:STEP:FILE
// makes that rank write its process id to FILE when it reaches that place. It then waits until the file is removed.
// PLACE is Phase::text(). STEP is an update from 0, "5+" for 5 or later, or "any".
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "dist/communicator.h"
#include "dist/launch_board.h"
#include "dist/launched.h"
#include "folder_watch.h"

namespace roentgen::dist {

// Names that the linker's --wrap gives to the original function in launch_board.cpp, and to its replacement.
void real_reach(Phase place, std::int64_t step) asm("__real__ZN8roentgen4dist5reachENS0_5PhaseEl");
void held_reach(Phase place, std::int64_t step) asm("__wrap__ZN8roentgen4dist5reachENS0_5PhaseEl");

namespace {

struct Hold {
  std::string rank, place, step, file;
};

std::optional<Hold> asked_hold() {
  const char* text = std::getenv("ROENTGEN_HOLD");
  if (text == nullptr) return std::nullopt;
  std::string_view rest(text);
  Hold hold;
  for (std::string* field : {&hold.rank, &hold.place, &hold.step}) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    *field = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  hold.file = rest;
  return hold;
}

bool is_step(const std::string& asked, std::int64_t step) {
  return asked == "any" || (asked.ends_with('+') ? step >= std::stoll(asked) : asked == std::to_string(step));
}

bool is_at(const Hold& hold, Phase place, std::int64_t step) {
  const auto own = launched_rank();
  return own && hold.rank == std::to_string(own->rank) && hold.place == place.text() && is_step(hold.step, step);
}

void stand_still(const std::string& file) {
  const e2e::FolderWatch folder(std::filesystem::path(file).parent_path());
  std::ofstream(file) << ::getpid() << '\n';
  std::error_code error;
  while (std::filesystem::exists(file, error)) {
    folder.wait();
    folder.forget();
  }
}

}  // namespace

void held_reach(Phase place, std::int64_t step) {
  real_reach(place, step);
  static std::optional<Hold> hold = asked_hold();  // used only by the one working thread
  if (!hold || !is_at(*hold, place, step)) return;
  stand_still(hold->file);
  hold.reset();
}

}  // namespace roentgen::dist
