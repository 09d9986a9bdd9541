// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "io/event_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/error.h"
#include "io/protobuf.h"
#include "io/record.h"

namespace roentgen::io {
namespace {
// Field numbers of Event, Summary, Summary.Value and SessionLog.
constexpr int kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5, kSessionLog = 7;
constexpr int kSummaryValue = 1, kTag = 1, kSimpleValue = 2;
constexpr int kStatus = 1;
constexpr std::int64_t kStart = 1;

ProtobufWriter event_at(std::int64_t step, double wall_time) {
  ProtobufWriter event;
  event.number(kWallTime, wall_time);
  event.integer(kStep, step);
  return event;
}
}  // namespace

EventFile::EventFile(std::filesystem::path path, std::int64_t step, double wall_time)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644)) {
  if (file_.get() < 0) {
    throw DataError(
        error_text("io.events", path_.string(), "a file that can be created", system_message(errno), "another folder"));
  }
  ProtobufWriter version;
  version.number(kWallTime, wall_time);
  version.text(kFileVersion, "brain.Event:2");
  write(version.data());
  ProtobufWriter start;
  start.integer(kStatus, kStart);
  ProtobufWriter event = event_at(step + 1, wall_time);
  event.message(kSessionLog, start);
  write(event.data());
}

void EventFile::scalars(std::int64_t step, double wall_time, std::span<const Scalar> scalars) {
  ProtobufWriter summary;
  for (const auto& [tag, number] : scalars) {
    ProtobufWriter value;
    value.text(kTag, tag);
    value.number(kSimpleValue, static_cast<float>(number));
    summary.message(kSummaryValue, value);
  }
  ProtobufWriter event = event_at(step, wall_time);
  event.message(kSummary, summary);
  write(event.data());
}

void EventFile::write(std::string_view event) {
  const std::string frame = record_frame(event);
  if (::write(file_.get(), frame.data(), frame.size()) == static_cast<ssize_t>(frame.size())) return;
  throw DataError(error_text("io.events", path_.string(), "a file that can be written", system_message(errno),
                             "freeing space there, or another --out folder"));
}

}  // namespace roentgen::io
