// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Case: one benchmark with its options. Host: services that cases need from the program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/option.h"
#include "core/value.h"
#include "data/source/dataset.h"
#include "graph/graph.h"

namespace roentgen::dist {
class CommThread;
}

namespace roentgen::bench {

struct CaseOptions;
struct NetworkOptions;

/// Processes that a case runs as.
struct RankRequest {
  /// 0: as started.
  std::int64_t ranks = 0;
  /// "a:2,b:2"; empty: this host.
  std::string hosts{};
  bool may_oversubscribe = false;
  /// Names of reduce/reduce_list.h and reduce/wire.h.
  std::string reduce = "auto";
  std::string wire = "f32";
  /// Compute threads of a rank, asked once it is bound to its cores; empty: as many as it may use.
  std::function<int()> threads{};
};

/// Services of the command line for cases. All throw roentgen::Error.
struct Host {
  /// Images of the files and folders that --data names, or of record files in them.
  std::function<data::Dataset(const std::vector<std::string>& data)> images;
  /// Graph of a `model` that is a file, in the sizes of the options; nullopt for names of models.
  std::function<std::optional<graph::Graph>(const NetworkOptions& options)> graph_of_file;
  /// Starts this program again as ranks, with options and values `changed`; returns the result of rank 0.
  std::function<Value(const RankRequest& request, const std::vector<std::string>& changed)> start_ranks;
  /// Runs `body` as one of the ranks that were started, alone with null. Returns its result, null on ranks other than
  /// 0.
  std::function<Value(const RankRequest& request, const std::function<Value(dist::CommThread*)>& body)> join_ranks;
};

/// One benchmark. One thread.
class Case {
 public:
  /// @param summary sentence for `bench --list`, without a full stop
  /// @param example command lines that work, for its help; both are string literals
  Case(std::string_view summary, std::string_view example) : summary_(summary), example_(example) {}
  virtual ~Case() = default;
  [[nodiscard]] std::string_view summary() const { return summary_; }
  [[nodiscard]] std::string_view example() const { return example_; }
  /// Options bound to this object's members; valid as long as it lives.
  [[nodiscard]] virtual std::vector<Option> options() = 0;
  /// Measures with the current options. Returns a table, or null on ranks other than 0. Throws Error for a wrong
  /// answer, because its time would be meaningless.
  [[nodiscard]] virtual Value run(const Host& host) = 0;
  /// Whether the program must exit with an error after this result.
  [[nodiscard]] virtual bool has_failed(const Value& result) const {
    static_cast<void>(result);
    return false;
  }

 private:
  std::string_view summary_;
  std::string_view example_;
};

/// A case that repeats one function; its options are those of CaseOptions.
/// @param run calls measure() (harness.h)
[[nodiscard]] std::unique_ptr<Case> make_repeated_case(std::string_view summary, std::string_view example,
                                                       std::function<Value(const CaseOptions&)> run);

}  // namespace roentgen::bench
