// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/event_file.h"

#include <gtest/gtest.h>

#include <array>

#include "core/error.h"
#include "io/file.h"
#include "io/io_testing.h"
#include "io/record.h"

namespace roentgen::io {
namespace {

std::uint64_t number_at(std::string_view data, std::size_t at, std::size_t bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes; i-- > 0;) number = number << 8 | static_cast<unsigned char>(data.at(at + i));
  return number;
}

TEST(EventFile, is_version_start_and_scalars_in_frames) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "events";
  {
    EventFile file(path, 6, 1.0);
    file.scalars(7, 2.0, std::array{Scalar{"train/loss", 0.5}, Scalar{"lr", 0.25}});
  }
  const std::string data = read_text(path).or_throw();
  std::vector<std::string> events;
  for (std::size_t at = 0; at < data.size();) {
    const std::uint64_t size = number_at(data, at, 8);
    events.push_back(data.substr(at + 12, size));
    ASSERT_EQ(record_frame(events.back()), data.substr(at, size + 16));
    at += size + 16;
  }
  ASSERT_EQ(events.size(), 3U);
  const std::string one("\x09\0\0\0\0\0\0\xf0\x3f", 9);
  EXPECT_EQ(events[0], one +
                           "\x1a\x0d"
                           "brain.Event:2");
  EXPECT_EQ(events[1], one + "\x10\x07\x3a\x02\x08\x01");
  const std::string two("\x09\0\0\0\0\0\0\0\x40", 9);
  EXPECT_EQ(events[2], two + "\x10\x07\x2a\x1e" + "\x0a\x11\x0a\x0atrain/loss\x15" + std::string("\0\0\0\x3f", 4) +
                           "\x0a\x09\x0a\x02lr\x15" + std::string("\0\0\x80\x3e", 4));
}

TEST(EventFile, refuses_what_is_there_and_a_full_disk) {
  const testing::TemporaryFolder folder;
  { const EventFile file(folder.path() / "events", 0, 0.0); }
  EXPECT_THROW(EventFile(folder.path() / "events", 0, 0.0), DataError);
  EXPECT_THROW(EventFile(folder.path() / "no" / "events", 0, 0.0), DataError);
  EventFile full(folder.path() / "full", 0, 0.0);
  const testing::FileSizeLimit limit(64);
  EXPECT_THROW(full.scalars(1, 0.0, std::array{Scalar{"loss", 1.0}}), DataError);
}

}  // namespace
}  // namespace roentgen::io
