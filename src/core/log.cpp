// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "core/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "core/foreign_text.h"
#include "core/muted_thread.h"

namespace roentgen::log {
namespace {
spdlog::level::level_enum to_spdlog(Level level) {
  switch (level) {
    case Level::Debug:
      return spdlog::level::debug;
    case Level::Info:
      return spdlog::level::info;
    case Level::Warning:
      return spdlog::level::warn;
    case Level::Error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

spdlog::logger& logger() {
  static const std::unique_ptr<spdlog::logger> instance = [] {
    auto made = std::make_unique<spdlog::logger>("roentgen", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%H:%M:%S %l: %v");
    made->flush_on(spdlog::level::debug);
    return made;
  }();
  return *instance;
}
}  // namespace

void set_level(Level level) { logger().set_level(to_spdlog(level)); }

void write(Level level, std::string_view text) {
  if (level != Level::Error && MutedThread::is_muted()) return;
  logger().log(to_spdlog(level), "{}", terminal_text(text));
}

}  // namespace roentgen::log
