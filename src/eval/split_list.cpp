// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "eval/split_list.h"

#include <algorithm>
#include <array>

namespace roentgen::eval {
namespace {
constexpr std::array kKnownLists{
    KnownList{"nih-official-train-val", "NIH official train_val list", 86524,
              "eb8e4beb07b2018a5a9f16ba088761c0311959623e46fc54c9c2abb3e3737e47"},
    KnownList{"nih-official-test", "NIH official test list", 25596,
              "3d0c44b68d287fd04f90c4f25df13428bba7b3e729f65715d5cf73a88e83d226"},
    KnownList{"nih-train-75312", "common division of NIH train_val: train", 75312,
              "abd39749597fbe61fdff6fe2f7d50ff61ef4744edef60275f505a476f7b01faa"},
    KnownList{"nih-val-11212", "common division of NIH train_val: val", 11212,
              "7e7ad2ba0639ed45c57ad3d4858a254543f765242d118a29cb322276ad033ace"},
    KnownList{"nih-community-train", "community random split of NIH: train", 78468,
              "2c164674c3c52ea0ef1a0161f44ed9f0b673b08a02fa4f68b06f75e91297dcdd"},
    KnownList{"nih-community-val", "community random split of NIH: val", 11219,
              "8afe946ed597d80246872d21e4d556539326e9b78d51d9e06815c82dea463f12"},
    KnownList{"nih-community-test", "community random split of NIH: test", 22433,
              "bbe3774c320aeb699e89ffd8a7d9f4ce7d230b1c16f4c4b7e9a2862383b17ec2"},
};
}  // namespace

std::span<const KnownList> known_lists() { return kKnownLists; }

const KnownList* find_known_list(std::string_view sha256) { return find_known_list(sha256, kKnownLists); }

const KnownList* find_known_list(std::string_view sha256, std::span<const KnownList> lists) {
  const auto found = std::ranges::find(lists, sha256, &KnownList::sha256);
  return found == lists.end() ? nullptr : &*found;
}

Value known_list_value(std::string_view sha256) {
  const KnownList* known = find_known_list(sha256);
  return known == nullptr ? Value(nullptr) : Value(known->id);
}

}  // namespace roentgen::eval
