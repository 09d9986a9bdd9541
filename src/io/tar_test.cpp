// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "io/tar.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/random.h"

namespace roentgen::io {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }
std::string end() { return std::string(kTarEnd_bytes, '\0'); }

// Change to the header of a member (POSIX pax, "ustar Interchange Format"). The checksum is corrected afterwards.
struct Change {
  std::size_t at;
  std::string_view text;
};
std::string changed(std::string member, const std::vector<Change>& changes) {
  for (const Change& change : changes) member.replace(change.at, change.text.size(), change.text);
  member.replace(148, 8, "        ");
  unsigned sum = 0;
  for (std::size_t i = 0; i < 512; ++i) sum += static_cast<unsigned char>(member[i]);
  member.replace(148, 7, fmt::format("{:06o}", sum) + '\0');
  return member;
}
std::string with_type(std::string member, char type) { return changed(std::move(member), {{156, {&type, 1}}}); }
std::string pax(std::string_view key, std::string_view value) {
  const std::string rest = fmt::format(" {}={}\n", key, value);
  std::size_t length = rest.size() + 1;
  while (std::to_string(length).size() + rest.size() != length) ++length;
  return with_type(tar_member("PaxHeaders/x", std::to_string(length) + rest), 'x');
}

std::vector<std::string> names_in(std::string_view archive) {
  std::vector<std::string> names;
  for (const auto& member : scan_tar(bytes_of(archive), "a.tar").or_throw()) names.push_back(member.name);
  return names;
}
std::string error_of(std::string_view archive) {
  const auto members = scan_tar(bytes_of(archive), "a.tar");
  return members.ok() ? "no error" : members.error();
}

TEST(Tar, gives_the_places_of_what_was_written) {
  const std::string archive =
      tar_member("a.json", "{}") + tar_member("dir/a.png", std::string(513, 'x')) + tar_member("empty.cls", "") + end();
  const auto members = scan_tar(bytes_of(archive), "a.tar").or_throw();
  ASSERT_THAT(members, ElementsAre(TarMember{.name = "a.json", .begin = 512, .length = 2},
                                   TarMember{.name = "dir/a.png", .begin = 1536, .length = 513},
                                   TarMember{.name = "empty.cls", .begin = 3072, .length = 0}));
  EXPECT_EQ(archive.substr(members[1].begin, 513), std::string(513, 'x'));
  EXPECT_THAT(names_in(end()), ElementsAre());
}

TEST(Tar, reads_long_names_of_every_kind) {
  const std::string name = "folder/" + std::string(150, 'n') + ".png";
  const std::string file = tar_member("cut", "data");
  EXPECT_THAT(names_in(pax("path", name) + file + tar_member("next", "") + end()), ElementsAre(name, "next"));
  EXPECT_THAT(names_in(with_type(tar_member("././@LongLink", name + '\0'), 'L') + file + end()), ElementsAre(name));
  EXPECT_THAT(names_in(changed(file, {{345, "a/prefix"}}) + end()), ElementsAre("a/prefix/cut"));
  EXPECT_THAT(names_in(changed(file, {{257, std::string_view("ustar  \0", 8)}, {345, "123"}}) + end()),
              ElementsAre("cut"))
      << "GNU keeps times there";
  EXPECT_THAT(
      names_in(changed(file, {{257, std::string_view("\0\0\0\0\0\0\0\0", 8)}, {156, std::string_view("\0", 1)}}) +
               end()),
      ElementsAre("cut"))
      << "the form of 1979";
}

TEST(Tar, reads_sizes_in_binary_and_in_pax_headers) {
  const std::string binary("\x80\0\0\0\0\0\0\0\0\0\0\x04", 12);
  EXPECT_THAT(names_in(changed(tar_member("a", "data"), {{124, binary}}) + tar_member("b", "") + end()),
              ElementsAre("a", "b"));
  EXPECT_THAT(names_in(pax("size", "4") + changed(tar_member("a", "data"), {{124, "00000000000"}}) + end()),
              ElementsAre("a"));
}

TEST(Tar, passes_over_what_is_no_file) {
  std::string archive = with_type(tar_member("dir/", ""), '5') + with_type(tar_member("pipe", ""), '6') +
                        with_type(tar_member("pax_global_header", "16 comment=some\n"), 'g') + tar_member("a", "x");
  EXPECT_THAT(names_in(archive + end()), ElementsAre("a"));
}

TEST(Tar, gives_links_the_place_of_their_file) {
  const auto link = [](std::string_view name, char type, std::string_view target) {
    return changed(with_type(tar_member(name, ""), type), {{157, target}});
  };
  const std::string far = "folder/" + std::string(150, 'n') + ".png";
  const std::string archive =
      link("early", '2', "d/a") + tar_member("./d/a", "old") + link("hard", '1', "d/a") + tar_member("d/a", "new one") +
      changed(link("with size", '1', "./d/a"), {{124, "00000000777"}}) + link("d/beside", '2', "a") +
      link("d/chain", '2', "../hard") + pax("path", far) + tar_member("cut", "far") + pax("linkpath", far) +
      link("to far", '1', "cut") + with_type(tar_member("././@LongLink", far + '\0'), 'K') +
      link("to far too", '2', "") + link("round", '2', "round") + link("outside", '2', "../../a") +
      link("before its file", '1', "last") + tar_member("last", "") + end();
  std::map<std::string, std::string> found;
  for (const auto& member : scan_tar(bytes_of(archive), "a.tar").or_throw()) {
    found[member.name] =
        member.lost_target.empty() ? archive.substr(member.begin, member.length) : "lost: " + member.lost_target;
  }
  EXPECT_EQ(found["early"], "new one") << "as it would lead once everything is unpacked";
  EXPECT_EQ(found["hard"], "old");
  EXPECT_EQ(found["with size"], "new one");
  EXPECT_EQ(found["d/beside"], "new one");
  EXPECT_EQ(found["d/chain"], "old");
  EXPECT_EQ(found["to far"], "far");
  EXPECT_EQ(found["to far too"], "far");
  EXPECT_EQ(found["round"], "lost: round");
  EXPECT_EQ(found["outside"], "lost: ../../a");
  EXPECT_EQ(found["before its file"], "lost: last");
}

TEST(Tar, refuses_what_is_damaged_or_cut) {
  const std::string whole = tar_member("a.png", std::string(1000, 'x')) + tar_member("b.png", "y");
  EXPECT_THAT(error_of(""),
              HasSubstr("[io.tar] a.tar, byte 0: expected zero blocks at the end of the archive, got 0 bytes"));
  EXPECT_THAT(error_of(whole), HasSubstr("a.tar, byte 2560: expected zero blocks at the end of the archive"));
  EXPECT_THAT(error_of(whole.substr(0, 1000)), HasSubstr("expected 1000 bytes of data, got 488"));
  EXPECT_THAT(error_of(std::string(20480, '\0')), HasSubstr("byte 0: expected a file, got only 20480 zero bytes"));
  EXPECT_THAT(names_in(std::string(10240, '\0')), ElementsAre()) << "as GNU tar writes an archive of nothing";
  EXPECT_THAT(error_of(whole + end() + whole), HasSubstr("expected nothing after the end of the archive"));
  std::string flipped = whole + end();
  flipped[3] = 'X';
  EXPECT_THAT(error_of(flipped), HasSubstr("byte 0: expected a header with a valid checksum"));
  EXPECT_THAT(error_of(changed(whole, {{124, "77777777777"}}) + end()), HasSubstr("expected 8589934591 bytes of data"));
  EXPECT_THAT(error_of(changed(whole, {{124, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}}) + end()),
              HasSubstr("expected a file size, got other characters"));
  EXPECT_THAT(error_of(changed(whole, {{124, "0000000x777"}}) + end()), HasSubstr("expected a file size"));
  EXPECT_THAT(error_of(with_type(whole, 'S') + end()), HasSubstr("got a sparse file"));
  EXPECT_THAT(error_of(pax("GNU.sparse.major", "1") + whole + end()), HasSubstr("got a sparse file"));
  EXPECT_THAT(error_of(with_type(tar_member("x", "99 path=a\n"), 'x') + end()), HasSubstr("expected a valid extended"));
  EXPECT_THAT(error_of(with_type(tar_member("x", "3 \n"), 'x') + end()), HasSubstr("expected a valid extended"));
  EXPECT_THAT(error_of(with_type(tar_member("x", std::string(70000, 'x')), 'L') + end()),
              HasSubstr("expected names of at most 65536 bytes"));
  EXPECT_THAT(error_of(pax("size", "18446744073709551615") + whole + end()), HasSubstr("bytes of data"));
}

TEST(Tar, survives_any_damage) {
  const std::string whole = pax("path", "long") + tar_member("a.png", std::string(700, 'x')) +
                            with_type(tar_member("././@LongLink", "other"), 'L') + tar_member("b", "y") +
                            with_type(tar_member("c", ""), '1') + with_type(tar_member("d", ""), '2') + end();
  Random random(7, RandomStage::Test);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole.substr(0, random.below(4) == 0 ? random.below(whole.size() + 1) : whole.size());
    for (std::uint64_t k = random.below(4); k > 0 && !damaged.empty(); --k) {
      damaged[random.below(damaged.size())] = static_cast<char>(random.below(256));
    }
    // Corrects the checksum, so that the damage affects later checks.
    if (damaged.size() >= 512 && random.below(2) == 0) damaged = changed(damaged, {});
    if (const auto members = scan_tar(bytes_of(damaged), "a.tar")) {
      for (const auto& member : members.value()) ASSERT_LE(member.begin + member.length, damaged.size());
    }
  }
}

}  // namespace
}  // namespace roentgen::io
