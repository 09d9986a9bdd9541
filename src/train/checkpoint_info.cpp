// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
#include "train/checkpoint_info.h"

#include <fmt/format.h>

#include "core/error.h"
#include "core/error_parts.h"
#include "core/plural.h"
#include "data/transform/preprocess.h"
#include "io/json.h"

namespace roentgen::train {
namespace {

constexpr std::string_view kRemedy = "a complete copy of the file";
constexpr const char* kPixelsKey = "training_pixels";
constexpr const char* kSplitRuleKey = "split_rule";
constexpr std::size_t kHashDigits = 16;

std::vector<std::string> to_texts(const Value& array) {
  std::vector<std::string> texts;
  for (const Value& entry : array.as_array()) texts.push_back(entry.as_string());
  return texts;
}

Value splits_value(const std::vector<SplitRecord>& splits) {
  Value table = Value::table();
  for (const SplitRecord& record : splits) {
    table.set(
        record.split,
        Value::Table{{"images", record.images}, {"patients", record.patients}, {"list_sha256", record.list_sha256}});
  }
  return table;
}

std::vector<SplitRecord> to_splits(const Value& table) {
  std::vector<SplitRecord> splits;
  for (const auto& [name, record] : table.as_table()) {
    splits.push_back({.split = name,
                      .images = record.at("images").as_integer(),
                      .patients = record.at("patients").as_integer(),
                      .list_sha256 = record.at("list_sha256").as_string()});
  }
  return splits;
}

// Adds keys that older files lack, with values that describe how the older programs behaved.
Value with_later_keys(Value preprocess) {
  if (!preprocess.is_table()) return preprocess;
  if (preprocess.find("resize") == nullptr) preprocess.set("resize", std::int64_t{0});
  if (preprocess.find("jpeg") == nullptr) preprocess.set("jpeg", "exact");
  return preprocess;
}

// Throws ConfigError for missing entries, because defaults would silently give the network another input than in
// training.
void check_meaning(const CheckpointInfo& info, std::string_view what) {
  const auto require = [&](bool holds, std::string_view expected, std::string_view got) {
    if (!holds) throw ConfigError(error_text("train.checkpoint", what, expected, got, kRemedy));
  };
  require(info.preprocess.is_table(), "a table under metadata key preprocess", "another type");
  const Value whole = data::Preprocess{}.to_value();
  for (const auto& [key, value] : whole.as_table()) {
    require(info.preprocess.find(key) != nullptr, "metadata key preprocess with " + key, "none");
  }
  require(info.loss == "sigmoid" || info.loss == "softmax", "sigmoid or softmax under metadata key loss",
          "'" + info.loss + "'");
}

// Parses hashes that are stored without separators, because there may be a hundred thousand of them.
std::vector<std::string> pixels_of(const std::map<std::string, std::string>& metadata, std::string_view what) {
  std::vector<std::string> hashes;
  const auto found = metadata.find(kPixelsKey);
  if (found == metadata.end()) return hashes;
  const std::string& text = found->second;
  if (text.size() % kHashDigits != 0 || text.find_first_not_of("0123456789abcdef") != std::string::npos) {
    throw ConfigError(error_text("train.checkpoint", what, "hashes of 16 hex digits under metadata key training_pixels",
                                 "other text", kRemedy));
  }
  for (std::size_t i = 0; i < text.size(); i += kHashDigits) hashes.push_back(text.substr(i, kHashDigits));
  return hashes;
}

data::SplitRule split_rule_of(const std::map<std::string, std::string>& metadata, std::string_view what) {
  const auto found = metadata.find(kSplitRuleKey);
  if (found == metadata.end()) return data::SplitRule::Written;
  for (const data::SplitRule rule : {data::SplitRule::Written, data::SplitRule::Normal}) {
    if (found->second == std::to_string(static_cast<int>(rule))) return rule;
  }
  throw ConfigError(error_text("train.checkpoint", what, "1 or 2 under metadata key split_rule",
                               "'" + found->second + "'",
                               "the version of Roentgen that wrote the file, or a newer version"));
}

CheckpointInfo read(const std::map<std::string, std::string>& metadata, std::string_view what) {
  const auto text = [&](const char* key) -> const std::string& {
    const auto found = metadata.find(key);
    if (found == metadata.end()) {
      throw ConfigError(error_text("train.checkpoint", what, std::string("metadata key ") + key, "none", kRemedy));
    }
    return found->second;
  };
  const auto json = [&](const char* key) {
    return io::parse_json(text(key), std::string(what) + ": metadata " + key).or_throw<ConfigError>();
  };
  const Value progress = json("progress");
  CheckpointInfo info{.labels = to_texts(json("labels")),
                      .preprocess = with_later_keys(json("preprocess")),
                      .loss = text("loss"),
                      .recipe = text("recipe"),
                      .graph = text("graph"),
                      .training_patients = to_texts(json("training_patients")),
                      .patient_salt = text("patient_salt"),
                      .patient_namespace = text("patient_namespace"),
                      .training_pixels = pixels_of(metadata, what),
                      .splits = to_splits(json("splits")),
                      .split_rule = split_rule_of(metadata, what),
                      .step = progress.at("step").as_integer(),
                      .epoch = progress.at("epoch").as_integer(),
                      .metric = {}};
  if (const Value* metric = progress.find("metric")) {
    info.metric = metric->as_string();
    info.metric_value = progress.at("metric_value").as_double();
  }
  check_meaning(info, what);
  return info;
}

}  // namespace

std::map<std::string, std::string> to_metadata(const CheckpointInfo& info) {
  Value progress = Value::Table{{"step", info.step}, {"epoch", info.epoch}};
  if (!info.metric.empty()) {
    progress.set("metric", info.metric);
    progress.set("metric_value", info.metric_value);
  }
  std::string pixels;
  for (const std::string& hash : info.training_pixels) pixels += hash;
  std::map<std::string, std::string> metadata{
      {"format", std::string(kCheckpointFormat)},
      {"labels", io::to_json(Value::Array(info.labels.begin(), info.labels.end()), -1)},
      {"preprocess", io::to_json(info.preprocess, -1)},
      {"loss", info.loss},
      {"recipe", info.recipe},
      {"graph", info.graph},
      {"training_patients",
       io::to_json(Value::Array(info.training_patients.begin(), info.training_patients.end()), -1)},
      {"patient_salt", info.patient_salt},
      {"patient_namespace", info.patient_namespace},
      {"splits", io::to_json(splits_value(info.splits), -1)},
      {kSplitRuleKey, std::to_string(static_cast<int>(info.split_rule))},
      {"progress", io::to_json(progress, -1)}};
  if (!pixels.empty()) metadata[kPixelsKey] = pixels;
  return metadata;
}

Result<CheckpointInfo> from_metadata(const std::map<std::string, std::string>& metadata, std::string_view what,
                                     std::string_view remedy) {
  const auto format = metadata.find("format");
  if (format == metadata.end() || format->second != kCheckpointFormat) {
    return failure("train.checkpoint", what, "a checkpoint of format " + std::string(kCheckpointFormat),
                   format == metadata.end() ? "a file without a format" : "format " + format->second, remedy);
  }
  try {
    return read(metadata, what);
  } catch (const Error& error) {
    const ErrorParts parts = error_parts(error.what());
    if (parts.thing != "core.value") return Failure{error.what()};
    return failure("train.checkpoint", what, "complete metadata", parts.what + ": " + cause_of(error.what()), kRemedy);
  }
}

std::string split_text(const std::vector<SplitRecord>& splits, std::string_view name) {
  constexpr std::size_t kDigits = 12;
  for (const SplitRecord& record : splits) {
    if (record.split != name) continue;
    return fmt::format("{} of {}, list {}", counted(record.images, "image"), counted(record.patients, "patient"),
                       record.list_sha256.substr(0, kDigits));
  }
  return "no images";
}

}  // namespace roentgen::train
