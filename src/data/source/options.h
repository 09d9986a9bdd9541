// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// SourceOptions as text: the keys of a recipe's [data] section that define which data are read and how they are split.
#pragma once

#include <array>
#include <string_view>

#include "core/value.h"
#include "data/source/dataset.h"

namespace roentgen::data {

/// Keys, all optional:
///   source = "auto"                      or a name of source_list.h
///   csv, images = "FILE" or ["A", "B"]   below the data folder
///   image = "COLUMN"                      column of image files in the table, for the source csv
///   patient = "COLUMN"                    patient column of the table, for the source csv
///   labels = ["Mass", "View:AP"] or "Mass,View:AP"
///   blank = "unknown" | "negative", uncertain = "ignore" | "one" | "zero"
///   label_policy = {Edema = {blank = ..., uncertain = ...}}
///   views = "frontal" or ["PA"]
///   absent = "refuse" | "skip", duplicates = "refuse" | "first"
///   split = "auto" | "given" | "random" | "whole", validation = "auto" | "part" | "none"
///   split_unit = "patient" | "image", split_seed = 0, test_fraction = 0.2, val_fraction = 0.125
///   train_val_list, train_list, val_list, test_list = "FILE"
///   patient_namespace = "NAME"
///   label_map = {Effusion = "name of the label in the source"}
///   sources = [{name = "a", folder = "DIR", any keys above}, ...]: keys outside are defaults for all sources
inline constexpr std::array<std::string_view, 25> kSourceKeys{"source",
                                                              "csv",
                                                              "image",
                                                              "patient",
                                                              "images",
                                                              "labels",
                                                              "blank",
                                                              "uncertain",
                                                              "label_policy",
                                                              "views",
                                                              "absent",
                                                              "duplicates",
                                                              "split",
                                                              "validation",
                                                              "split_unit",
                                                              "split_seed",
                                                              "test_fraction",
                                                              "val_fraction",
                                                              "train_val_list",
                                                              "train_list",
                                                              "val_list",
                                                              "test_list",
                                                              "patient_namespace",
                                                              "label_map",
                                                              "sources"};

/// Converts a table with these keys to options; `root` is the data folder. Throws ConfigError for unknown keys, wrong
/// types and invalid values.
[[nodiscard]] SourceOptions source_options_from_value(const Value& table, const std::filesystem::path& root);

/// Converts options to a table without folders. Omits empty values, and keys of a data set that equal the common keys.
[[nodiscard]] Value to_value(const SourceOptions& options);

}  // namespace roentgen::data
