// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that recipes which name a memory budget have plans within this budget.
#include <gtest/gtest.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;

fs::path recipes() {
  const char* source = std::getenv("ROENTGEN_SOURCE_DIR");
  return (source != nullptr ? fs::path(source) : fs::current_path()) / "recipes";
}

// "# Memory budget 4 GiB: ..."
std::optional<double> budget_gib(std::string_view recipe) {
  constexpr std::string_view kKey = "# Memory budget ";
  const std::size_t at = recipe.find(kKey);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = recipe.substr(at + kKey.size());
  double gib = 0.0;
  const auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), gib);
  EXPECT_TRUE(failure == std::errc{} && std::string_view(end).starts_with(" GiB")) << rest.substr(0, 20);
  return gib;
}

TEST(Recipes, what_training_and_input_take_stays_within_the_budget_that_the_recipe_names) {
  const Workplace place;
  int found = 0;
  for (const auto& entry : fs::directory_iterator(recipes())) {
    const std::optional<double> gib = budget_gib(read_all(entry.path()));
    if (!gib) continue;
    ++found;
    place.must_run({"inspect", "--plan", "--recipe", entry.path(), "--json", place / "plan.json"});
    const Value plan = read_json(place / "plan.json");
    ASSERT_FALSE(plan.at("input_bytes").is_null()) << entry.path() << " leaves train.memory_mb open";
    const double taken = plan.at("peak_bytes").as_double() + plan.at("input_bytes").as_double();
    EXPECT_LE(taken, *gib * 1073741824.0) << entry.path();
    EXPECT_GT(taken, 0.5 * *gib * 1073741824.0) << entry.path() << ": the batch could be larger";
  }
  EXPECT_GE(found, 2) << "of 512 and 1024 px";
}

TEST(Recipes, a_plan_names_every_convolutions_algorithm_and_kernel) {
  const Workplace place;
  const Ended run = place.must_run(
      {"inspect", "--plan", "--model", "resnet18", "--batch", "2", "--image", "64", "--json", place / "plan.json"});
  EXPECT_NE(run.out.find("layer1.0.conv1/backward_weights"), std::string::npos);
  const Value plan = read_json(place / "plan.json");
  EXPECT_EQ(plan.at("algorithms").as_string(), "auto");
  EXPECT_EQ(plan.at("choices").as_array().size(), 59U)
      << "20 convolutions, three passes each, no gradient of the image";
  for (const Value& choice : plan.at("choices").as_array()) {
    EXPECT_FALSE(choice.at("algorithm").as_string().empty());
    EXPECT_FALSE(choice.at("kernel").as_string().empty());
    EXPECT_FALSE(choice.at("layout").as_string().empty());
  }
  EXPECT_GT(plan.at("entries").as_array().size(), 59U) << "passes of convolutions, batch norms and more";
  EXPECT_EQ(run.out.find("conv2d_forward"), std::string::npos) << "entries are only in JSON";
  std::map<std::string, std::int64_t> fused;
  for (const Value& each : plan.at("fused").as_array())
    fused[each.at("name").as_string()] = each.at("times").as_integer();
  EXPECT_EQ(fused["batch_norm_relu"], 9) << "the stem's, and the first of each of eight blocks";
  EXPECT_EQ(fused["batch_norm_add_relu"], 8);
  const Ended refused = place.run({"inspect", "--plan", "--data", place / "none"});
  expect_refusal(refused, {"inspect --plan", "--recipe FILE"});
}

TEST(Recipes, a_plan_compares_image_sides_with_and_without_recomputation) {
  const Workplace place;
  const std::vector<std::string> plan{"inspect", "--model", "densenet121", "--batch", "2", "--image", "64,96"};
  place.must_run(plus(plan, {"--plan", "--device", "cpu", "--json", place / "plan.json"}));
  const Value report = read_json(place / "plan.json");
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> peak;
  for (const Value& row : report.at("memory").as_array()) {
    peak[{row.at("image_px").as_integer(), row.at("recompute").as_string()}] = row.at("peak_bytes").as_integer();
  }
  ASSERT_EQ(peak.size(), 4U);
  for (const std::int64_t side : {64, 96}) EXPECT_LT((peak[{side, "all"}]), (peak[{side, "none"}])) << side;
  EXPECT_LT((peak[{64, "none"}]), (peak[{96, "none"}]));
  EXPECT_EQ(report.at("plans").as_array().size(), 2U);
  expect_refusal(place.run(plan), {"inspect --image of several sides", "--plan"});
  expect_refusal(place.run({"inspect", "--plan", "--model", "resnet18", "--image", "64,x"}), {"--image", "64,x"});
  expect_refusal(place.run({"inspect", "--plan", "--model", "resnet18", "--device", "cpu", "--card", "h100"}),
                 {"--card h100", "expected --device cuda"});
}

}  // namespace
}  // namespace roentgen::e2e
