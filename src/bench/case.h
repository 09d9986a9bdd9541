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
struct TrainGroup;
struct TrainRequest;

/// Processes with which a benchmark case is started.
struct RankRequest {
  /// Number of processes; 0: as many as mpirun or srun started.
  std::int64_t ranks = 0;
  /// Hosts with their numbers of ranks, such as "a:2,b:2"; empty: this host only.
  std::string hosts{};
  bool may_oversubscribe = false;
  /// Name of the algorithm that averages gradients (dist/reduce/reduce_list.h); below, the number format sent between
  /// ranks (dist/reduce/wire.h).
  std::string reduce = "auto";
  std::string wire = "f32";
  /// GPUDirect RDMA: dist/gpu_network.h.
  std::string gdr = "auto";
  /// Returns the number of compute threads of a rank; called after the rank is bound to its cores. If empty, the rank
  /// uses all cores it may use.
  std::function<int()> threads{};
};

/// Services that the command line provides to cases. All of them throw roentgen::Error.
struct Host {
  /// Lists the images in the files, folders and record files that --data names.
  std::function<data::Dataset(const std::vector<std::string>& data)> images;
  /// Reads the graph from the file `options.model` and sets the sizes in `options`. Returns nullopt if `options.model`
  /// is the name of a built-in model.
  std::function<std::optional<graph::Graph>(const NetworkOptions& options)> graph_of_file;
  /// Removes the progress line and prints text to standard output at once, for cases that print their own result
  /// (Case::prints_itself()).
  std::function<void(const std::string& text)> print;
  /// Makes SIGINT and similar signals ask for a stop from now on, instead of ending the process.
  std::function<void()> listen_for_stop;
  /// True if a stop was asked for.
  std::function<bool()> is_stop_asked;
  /// True if start_ranks() started this process; false if the user or a launcher such as mpirun did.
  std::function<bool()> is_own_rank{};
  /// Starts this program again as several ranks, with the option values in `changed` replaced. Returns the result of
  /// rank 0. Throws StopError (stop_error.h) if a signal to this program ended the ranks.
  std::function<Value(const RankRequest& request, const std::vector<std::string>& changed)> start_ranks;
  /// Runs `body` in this process as one of the started ranks. If there is only one rank, `body` gets a null CommThread.
  /// Returns the result of `body`, which is null on ranks other than 0.
  std::function<Value(const RankRequest& request, const std::function<Value(dist::CommThread*)>& body)> join_ranks;
  /// Runs `body`, which trains, in this process or in the ranks that the options about ranks ask for
  /// (Case::has_rank_options()). A first stop signal lets the ranks save their state and return. Returns the result of
  /// `body` on rank 0, also in the process that started the ranks, and null on other ranks. Throws StopError if a
  /// second signal ended the ranks.
  std::function<Value(const TrainRequest& request, const std::function<Value(const TrainGroup&)>& body)> train{};
};

/// One benchmark. For use by one thread.
class Case {
 public:
  /// @param summary sentence for `bench --list`, without a full stop; a string literal
  /// @param example working command lines for the help; a string literal
  Case(std::string_view summary, std::string_view example) : summary_(summary), example_(example) {}
  virtual ~Case() = default;
  [[nodiscard]] std::string_view summary() const { return summary_; }
  [[nodiscard]] std::string_view example() const { return example_; }
  /// Returns options bound to this object's members; valid as long as the object lives.
  [[nodiscard]] virtual std::vector<Option> options() = 0;
  /// True if the case has the options about ranks that `roentgen train` has, besides its own, and calls Host::train.
  [[nodiscard]] virtual bool has_rank_options() const { return false; }
  /// Runs the benchmark with the current options. Returns a table, or null on ranks other than 0. Throws Error if the
  /// computed result is wrong, because its measured time is meaningless.
  [[nodiscard]] virtual Value run(const Host& host) = 0;
  /// True if the case prints its result by Host::print, so that the program does not print it again.
  [[nodiscard]] virtual bool prints_itself() const { return false; }
  /// True if the result is a measurement, of which the program stores a record.
  [[nodiscard]] virtual bool is_measurement() const { return true; }
  /// True if the program must exit with an error after this result.
  [[nodiscard]] virtual bool has_failed(const Value& result) const {
    static_cast<void>(result);
    return false;
  }
  /// False if this process measured nothing, because an earlier one did. There is no record then.
  [[nodiscard]] virtual bool is_new(const Value& result) const {
    static_cast<void>(result);
    return true;
  }
  /// True if the case was stopped with everything saved, so that the same command can continue. There is no record
  /// then.
  [[nodiscard]] virtual bool has_stopped(const Value& result) const {
    static_cast<void>(result);
    return false;
  }

 private:
  std::string_view summary_;
  std::string_view example_;
};

/// Creates a case that measures one function repeatedly; its options are those of CaseOptions.
/// @param run calls measure() (harness.h)
[[nodiscard]] std::unique_ptr<Case> make_repeated_case(std::string_view summary, std::string_view example,
                                                       std::function<Value(const CaseOptions&)> run);

}  // namespace roentgen::bench
