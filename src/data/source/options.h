// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SourceOptions as text: the keys of a recipe's [data] section that say what to read and how to split it.
#pragma once

#include <array>
#include <string_view>

#include "core/value.h"
#include "data/source/dataset.h"

namespace roentgen::data {

/// The keys, all optional:
///   source = "auto"                      or a name of source_list.h
///   csv, images = "FILE" or ["A", "B"]   below the data folder
///   patient = "COLUMN"                    of the table, with the source csv
///   labels = ["Mass", "View:AP"] or "Mass,View:AP"
///   blank = "unknown" | "negative", uncertain = "ignore" | "one" | "zero"
///   label_policy = {Edema = {blank = ..., uncertain = ...}}
///   views = "frontal" or ["PA"]
///   absent = "refuse" | "skip", duplicates = "refuse" | "first"
///   split = "auto" | "given" | "random" | "whole", validation = "auto" | "part" | "none"
///   split_unit = "patient" | "image", split_seed = 0, test_fraction = 0.2, val_fraction = 0.125
///   train_val_list, train_list, val_list, test_list = "FILE"
///   patient_namespace = "NAME"
///   label_map = {Effusion = "the source's own name of it"}
///   sources = [{name = "a", folder = "DIR", any of the keys above}, ...]: what is above holds where they do not say
inline constexpr std::array<std::string_view, 24> kSourceKeys{"source",       "csv",
                                                              "patient",      "images",
                                                              "labels",       "blank",
                                                              "uncertain",    "label_policy",
                                                              "views",        "absent",
                                                              "duplicates",   "split",
                                                              "validation",   "split_unit",
                                                              "split_seed",   "test_fraction",
                                                              "val_fraction", "train_val_list",
                                                              "train_list",   "val_list",
                                                              "test_list",    "patient_namespace",
                                                              "label_map",    "sources"};

/// Reads a table with those keys; `root` is the data folder. ConfigError on unknown keys, kinds and values.
[[nodiscard]] SourceOptions source_options_from_value(const Value& table, const std::filesystem::path& root);

/// Converts options to a table, without folders: every key that is not empty, and of each source only the keys that
/// differ.
[[nodiscard]] Value to_value(const SourceOptions& options);

}  // namespace roentgen::data
