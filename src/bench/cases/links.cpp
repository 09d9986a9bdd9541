// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "bench/cases/links.h"

#include <fmt/core.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bench/case_list.h"
#include "bench/harness.h"
#include "bench/options.h"
#include "bench/ranks.h"
#include "core/error.h"
#include "dist/links.h"

namespace roentgen::bench {
namespace {

using dist::Link;

Value matrix(std::span<const Link> links, int ranks, double Link::*figure) {
  Value rows = Value::array();
  for (int from = 0; from < ranks; ++from) {
    Value row = Value::table();
    row.set("from", fmt::format("rank {}", from));
    for (int to = 0; to < ranks; ++to) {
      const auto link =
          std::ranges::find_if(links, [&](const Link& each) { return each.from == from && each.to == to; });
      row.set(fmt::format("to {}", to), link == links.end() ? Value() : Value((*link).*figure));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// Adds one warning for each slow rank with all its links, and one warning for each remaining slow link.
void warn(Value& result, const dist::Communicator& group, std::span<const Link> links, std::span<const Link> slow) {
  std::vector<std::string> hosts;
  for (int rank = 0; rank < group.size(); ++rank) hosts.emplace_back(group.host(rank));
  Value warnings = result.find("warnings") == nullptr ? Value::array() : result.at("warnings");
  for (const std::string& text : dist::slow_texts("bench.links", hosts, links, slow)) warnings.push_back(text);
  if (!warnings.as_array().empty()) result.set("warnings", std::move(warnings));
}

void add_links(Value& result, std::span<const Link> links, const std::vector<Link>& slow) {
  Value rows = Value::array();
  for (const Link& link : links) {
    const bool is_found =
        std::ranges::any_of(slow, [&](const Link& each) { return each.from == link.from && each.to == link.to; });
    rows.push_back(Value::Table{{"from", link.from},
                                {"to", link.to},
                                {"within_host", link.is_within_host},
                                {"us", link.us},
                                {"gb_per_s", link.gb_per_s},
                                {"slow", is_found}});
  }
  result.set("links", std::move(rows));
  result.set("slow", slow.size());
}

}  // namespace

Value run_links(dist::Communicator& group, const LinksOptions& options) {
  require_at_least("rounds", options.rounds, 1);
  require_at_least("message bytes", static_cast<std::int64_t>(options.message_bytes), 1);
  if (!(options.slow_factor > 1.0)) {
    throw ConfigError(
        error_text("bench.links", "--slow", "a number above 1", fmt::format("{}", options.slow_factor), "--slow 2"));
  }
  Value result = Value::table();
  result.set("case", "links");
  result.set("kind", "measured");
  add_ranks(result, group);
  result.set("rounds", options.rounds);
  result.set("message_bytes", options.message_bytes);
  result.set("slow_factor", options.slow_factor);
  const std::vector<Link> links =
      dist::measure_links(group, dist::all_pairs(group.size()),
                          {.message_bytes = options.message_bytes, .rounds = options.rounds, .limit = kRankLimit});
  result.set("latency_us", matrix(links, group.size(), &Link::us));
  result.set("gb_per_s", matrix(links, group.size(), &Link::gb_per_s));
  for (const bool is_within_host : {true, false}) {
    const dist::UsualLink usual = dist::usual_link(links, is_within_host);
    if (usual.us == 0.0) continue;
    result.set(is_within_host ? "within_host" : "between_hosts",
               Value(Value::Table{{"us", usual.us}, {"gb_per_s", usual.gb_per_s}}));
  }
  const std::vector<Link> slow = dist::slow_links(links, options.slow_factor);
  add_links(result, links, slow);
  warn(result, group, links, slow);
  add_environment(result);
  return result;
}

namespace {

class LinksCase final : public Case {
 public:
  LinksCase()
      : Case("latency and bandwidth between every two ranks, and slow links; under mpirun",
             "mpirun -np 2 roentgen bench links") {}
  [[nodiscard]] std::vector<Option> options() override { return {rounds_option(rounds_), slow_option(slow_factor_)}; }
  [[nodiscard]] Value run(const Host& /*host*/) override {
    const auto group = join_ranks("links");
    LinksOptions options{.rounds = rounds_};
    if (slow_factor_ > 0.0) options.slow_factor = slow_factor_;
    Value result = run_links(*group, options);
    return group->rank() == 0 ? std::move(result) : Value();
  }

 private:
  std::int64_t rounds_ = 3;
  double slow_factor_ = 0.0;
};

}  // namespace

std::unique_ptr<Case> make_links_case() { return std::make_unique<LinksCase>(); }

}  // namespace roentgen::bench
