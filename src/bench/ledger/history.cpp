// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/ledger/history.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "bench/ledger/figures.h"
#include "bench/ledger/statistics.h"
#include "core/error.h"

namespace roentgen::bench {
namespace {

constexpr double kErrorRate = 0.02;  // of all intervals together
constexpr std::size_t kMostRounds = 200;
constexpr std::string_view kRoundsAdvice = "measuring rounds of both builds in turn with tools/studies/bench_builds.sh";

const std::string& commit_of(const StoredRecord& record) { return record.value.at("commit").as_string(); }

/// Returns all commits, each once, by the date of its first record.
std::vector<std::string> commits_by_date(const std::vector<StoredRecord>& records) {
  std::vector<std::string> commits;
  for (const StoredRecord& record : records) {
    if (std::ranges::find(commits, commit_of(record)) == commits.end()) commits.push_back(commit_of(record));
  }
  return commits;
}

std::string commit_with(std::string_view begin, std::string_view option, const std::vector<std::string>& commits) {
  std::vector<std::string> found;
  for (const std::string& commit : commits) {
    if (commit == begin) return commit;
    if (commit.starts_with(begin)) found.push_back(commit);
  }
  if (found.size() == 1) return found.front();
  throw ConfigError(error_text("bench.history", option,
                               fmt::format("the first digits of one of the commits {}", fmt::join(commits, ", ")),
                               begin, found.empty() ? "records of this build" : "more digits"));
}

/// Two builds to compare.
struct Builds {
  std::string from;
  std::string to;
};

Builds builds_of(const std::vector<StoredRecord>& records, const HistoryOptions& options) {
  std::vector<std::string> commits = commits_by_date(records);
  if (commits.size() < 2) {
    throw ConfigError(error_text("bench.history", "records", "records of two builds",
                                 commits.empty() ? "none" : "only build " + commits.front(), kRoundsAdvice));
  }
  Builds builds;
  if (!options.from.empty()) builds.from = commit_with(options.from, "--from", commits);
  if (!options.to.empty()) builds.to = commit_with(options.to, "--to", commits);
  if (builds.to.empty())
    builds.to = *std::ranges::find_if(commits.rbegin(), commits.rend(),
                                      [&](const auto& commit) { return commit != builds.from; });
  if (builds.from.empty())
    builds.from = *std::ranges::find_if(commits.rbegin(), commits.rend(),
                                        [&](const auto& commit) { return commit != builds.to; });
  return builds;
}

/// Two records of a round.
struct Round {
  const StoredRecord* from = nullptr;
  const StoredRecord* to = nullptr;
};

/// Pairs records in a row that are of different builds. A record belongs to one round at most.
std::vector<Round> rounds_of(const RecordGroup& group, const Builds& builds) {
  std::vector<const StoredRecord*> records;
  for (const StoredRecord& record : group.records) {
    if (commit_of(record) == builds.from || commit_of(record) == builds.to) records.push_back(&record);
  }
  std::vector<Round> rounds;
  for (std::size_t i = 0; i + 1 < records.size(); ++i) {
    if (commit_of(*records[i]) == commit_of(*records[i + 1])) continue;
    const bool is_from_first = commit_of(*records[i]) == builds.from;
    rounds.push_back({.from = records[is_from_first ? i : i + 1], .to = records[is_from_first ? i + 1 : i]});
    ++i;
  }
  if (rounds.size() > kMostRounds) rounds.erase(rounds.begin(), rounds.end() - kMostRounds);
  return rounds;
}

/// Figure of a group in all rounds.
struct Series {
  const RecordGroup* group = nullptr;
  std::string host{};
  Figure figure{};
  std::vector<double> differences{};  ///< logarithm of to / from, or to - from of an accuracy
  double from = 0.0;                  ///< means; used for accuracies only
  double to = 0.0;
};

std::optional<double> value_in(const StoredRecord& record, const Figure& figure) {
  for (const Figure& each : main_figures(record.value.at("result"))) {
    if (each.name == figure.name) return each.value;
  }
  return std::nullopt;
}

std::vector<Series> speeds_of(const RecordGroup& group, const std::string& host, const Builds& builds) {
  const std::vector<Round> rounds = rounds_of(group, builds);
  std::vector<Series> all;
  if (rounds.empty()) return all;
  for (const Figure& figure : main_figures(rounds.front().to->value.at("result"))) {
    if (figure.kind == FigureKind::Accuracy) continue;
    Series series{.group = &group, .host = host, .figure = figure};
    for (const Round& round : rounds) {
      const auto from = value_in(*round.from, figure), to = value_in(*round.to, figure);
      if (from && to) series.differences.push_back(std::log(*to / *from));
    }
    all.push_back(std::move(series));
  }
  return all;
}

/// Mean of a figure over all records of a build, by seed.
std::map<std::int64_t, double> by_seed(const RecordGroup& group, const std::string& commit, const Figure& figure) {
  std::map<std::int64_t, std::vector<double>> all;
  for (const StoredRecord& record : group.records) {
    const Value* const seed = record.value.find_path("result.seed");
    if (commit_of(record) != commit || seed == nullptr || !seed->is_integer()) continue;
    if (const auto value = value_in(record, figure)) all[seed->as_integer()].push_back(*value);
  }
  std::map<std::int64_t, double> means;
  for (const auto& [seed, values] : all) {
    double sum = 0.0;
    for (const double value : values) sum += value;
    means[seed] = sum / static_cast<double>(values.size());
  }
  return means;
}

std::vector<Series> accuracies_of(const RecordGroup& group, const Builds& builds) {
  std::vector<Series> all;
  for (const Figure& figure : main_figures(group.records.front().value.at("result"))) {
    if (figure.kind != FigureKind::Accuracy) continue;
    Series series{.group = &group, .figure = figure};
    const std::map<std::int64_t, double> to = by_seed(group, builds.to, figure);
    for (const auto& [seed, value] : by_seed(group, builds.from, figure)) {
      if (!to.contains(seed)) continue;
      series.differences.push_back(to.at(seed) - value);
      series.from += value;
      series.to += to.at(seed);
    }
    const auto seeds = static_cast<double>(series.differences.size());
    if (series.differences.empty()) continue;
    series.from /= seeds;
    series.to /= seeds;
    all.push_back(std::move(series));
  }
  return all;
}

std::string_view verdict_of(FigureKind kind, const std::optional<Interval>& interval) {
  if (!interval) return "too few rounds";
  if (interval->low <= 0.0 && interval->high >= 0.0) return "no difference";
  return (interval->low > 0.0) == (kind != FigureKind::Time) ? "improvement" : "regression";
}

/// Level of each interval, so that all of them hold together.
double level_of(std::size_t figures) {
  return 1.0 - kErrorRate / static_cast<double>(std::max<std::size_t>(1, figures));
}

Value speed_row(const Series& series, double level) {
  const std::optional<Interval> interval = centre_of_differences(series.differences, level);
  return Value::Table{{"case", series.group->label},
                      {"host", series.host},
                      {"figure", series.figure.name},
                      {"rounds", series.differences.size()},
                      {"ratio", interval ? Value(std::exp(interval->estimate)) : Value()},
                      {"low", interval ? Value(std::exp(interval->low)) : Value()},
                      {"high", interval ? Value(std::exp(interval->high)) : Value()},
                      {"verdict", verdict_of(series.figure.kind, interval)}};
}

Value accuracy_row(const Series& series, double level) {
  const std::optional<Interval> interval = mean_of_differences(series.differences, level);
  return Value::Table{{"case", series.group->label},
                      {"figure", series.figure.name},
                      {"seeds", series.differences.size()},
                      {"from", series.from},
                      {"to", series.to},
                      {"difference", series.to - series.from},
                      {"low", interval ? Value(interval->low) : Value()},
                      {"high", interval ? Value(interval->high) : Value()},
                      {"verdict", interval ? verdict_of(series.figure.kind, interval) : "too few seeds"}};
}

/// Splits records by host, in the order of the first record of a host.
std::vector<std::vector<StoredRecord>> by_host(const std::vector<StoredRecord>& records) {
  std::vector<std::vector<StoredRecord>> hosts;
  for (const StoredRecord& record : records) {
    const auto found = std::ranges::find_if(hosts, [&](const std::vector<StoredRecord>& host) {
      return host.front().value.at("host") == record.value.at("host");
    });
    (found == hosts.end() ? hosts.emplace_back() : *found).push_back(record);
  }
  return hosts;
}

std::int64_t count_of(const Value& rows, std::string_view verdict) {
  return std::ranges::count_if(rows.as_array(),
                               [&](const Value& row) { return row.at("verdict").as_string() == verdict; });
}

std::string_view verdict_of_report(std::int64_t regressions, const Value& speed, const Value& accuracy) {
  if (regressions > 0) return "regression";
  for (const std::string_view few : {"too few rounds", "too few seeds"}) {
    if (count_of(speed, few) + count_of(accuracy, few) > 0) return few;
  }
  return kNoRegression;
}

}  // namespace

Value history_of(const std::vector<StoredRecord>& records, const HistoryOptions& options) {
  const Builds builds = builds_of(records, options);
  std::vector<StoredRecord> speed_records, accuracy_records;
  for (const StoredRecord& record : records) {
    (record.value.at("case").as_string() == kAccuracyCase ? accuracy_records : speed_records).push_back(record);
  }
  std::vector<std::vector<RecordGroup>> groups;
  std::vector<Series> speeds, accuracies;
  for (const std::vector<StoredRecord>& host : by_host(speed_records)) groups.push_back(grouped(host));
  for (const std::vector<RecordGroup>& host : groups) {
    for (const RecordGroup& group : host) {
      const std::vector<Series> more = speeds_of(group, group.records.front().value.at("host").as_string(), builds);
      speeds.insert(speeds.end(), more.begin(), more.end());
    }
  }
  const std::vector<RecordGroup> accuracy_groups = grouped(accuracy_records, "seed");
  for (const RecordGroup& group : accuracy_groups) {
    const std::vector<Series> more = accuracies_of(group, builds);
    accuracies.insert(accuracies.end(), more.begin(), more.end());
  }
  if (speeds.empty() && accuracies.empty()) {
    throw ConfigError(error_text("bench.history", "records", "measured rounds of both builds with equal settings",
                                 "none", kRoundsAdvice));
  }
  const double speed_level = level_of(speeds.size()), accuracy_level = level_of(accuracies.size());
  Value speed = Value::array(), accuracy = Value::array(), warnings = Value::array();
  for (const Series& series : speeds) speed.push_back(speed_row(series, speed_level));
  for (const Series& series : accuracies) accuracy.push_back(accuracy_row(series, accuracy_level));
  const std::size_t needed = least_pairs(speed_level);
  if (const std::int64_t few = count_of(speed, "too few rounds"); few > 0) {
    warnings.push_back(
        fmt::format("{} of {} figures have fewer than {} rounds; {}", few, speeds.size(), needed, kRoundsAdvice));
  }
  if (const std::int64_t few = count_of(accuracy, "too few seeds"); few > 0) {
    warnings.push_back(
        fmt::format("{} of {} accuracies have fewer than 2 seeds; tools/studies/accuracy_records.py "
                    "trains with three",
                    few, accuracies.size()));
  }
  const std::int64_t regressions = count_of(speed, "regression") + count_of(accuracy, "regression");
  const std::string_view verdict = verdict_of_report(regressions, speed, accuracy);
  return Value::Table{{"case", "history"},          {"from", builds.from},       {"to", builds.to},
                      {"rounds_needed", needed},    {"speed", std::move(speed)}, {"accuracy", std::move(accuracy)},
                      {"regressions", regressions}, {"verdict", verdict},        {"warnings", std::move(warnings)}};
}

}  // namespace roentgen::bench
