// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the main workflow: from files to a checkpoint to a table of AUROCs, with stops and resumes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <sstream>
#include <string>

#include "cli/command_list.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kStopped = 3;

std::string best(const Workplace& place, std::string_view run) {
  return (place / run / "checkpoints/best.safetensors").string();
}

void expect_equal_ends(const Workplace& place, std::string_view left, std::string_view right) {
  for (const char* file : {"checkpoints/best.safetensors", "checkpoints/resume.safetensors"}) {
    expect_equal_tensors(place / left / file, place / right / file);
  }
  for (const char* file : {"preds.csv", "aucs.csv"}) {
    EXPECT_EQ(read_all(place / left / file), read_all(place / right / file)) << file;
  }
}

TEST(Workflow, trains_and_evaluates_what_was_synthesised) {
  const Workplace place;
  const fs::path data = place.synth("data", 240);
  const Ended train = place.must_run(plus(place.train_arguments(data, "run"), {"--json", place / "train.json"}));
  EXPECT_THAT(train.out, HasSubstr("best epoch "));
  const std::string before_steps = train.err.substr(0, train.err.find("epoch "));
  std::int64_t info_lines = 0;
  for (std::size_t at = 0; (at = before_steps.find(" info: ", at)) != std::string::npos; ++at) ++info_lines;
  EXPECT_LE(info_lines, 3) << train.err;
  EXPECT_THAT(train.out, HasSubstr("\nfinding             validation AUROC\n"));
  EXPECT_THAT(train.out, HasSubstr("\nnext: roentgen eval --checkpoint " + best(place, "run") + " --data " +
                                   data.string() + " --split test\n"));
  for (const char* file : {"recipe.toml", "log.jsonl", "environment.json", "plan.json", "data.json", "preds.csv",
                           "aucs.csv", "checkpoints/best.safetensors", "checkpoints/resume.safetensors"}) {
    EXPECT_TRUE(fs::is_regular_file(place / "run" / file)) << file;
  }
  EXPECT_TRUE(read_json(place / "train.json").at("finished").as_bool());

  const Ended eval = place.must_run({"eval", "--checkpoint", best(place, "run"), "--data", data, "--split", "test",
                                     "--json", place / "eval.json", "--preds", place / "preds.csv"});
  EXPECT_THAT(eval.out, HasSubstr("split test: "));
  EXPECT_THAT(eval.out, HasSubstr("leak check: none of "));
  EXPECT_THAT(eval.out, HasSubstr("Cardiomegaly"));
  const Value auroc = read_json(place / "eval.json").at("auroc");
  EXPECT_GT(auroc.at("mean").as_double(), 0.0);
  EXPECT_EQ(auroc.at("labels").as_table().size(), 14U);
  int with_interval = 0;
  for (const auto& [label, row] : auroc.at("labels").as_table()) {
    EXPECT_GE(row.at("n").as_integer(), row.at("positives").as_integer()) << label;
    if (row.at("auroc").is_null()) continue;
    if (row.at("low").is_null()) {  // an interval is missing if there are too few patients
      EXPECT_FALSE(row.at("no_interval").as_string().empty()) << label;
      continue;
    }
    ++with_interval;
    EXPECT_LE(row.at("low").as_double(), row.at("auroc").as_double()) << label;
    EXPECT_GE(row.at("high").as_double(), row.at("auroc").as_double()) << label;
  }
  EXPECT_GT(with_interval, 0);
  EXPECT_THAT(read_all(place / "preds.csv"), testing::StartsWith("Image Index,prob_Atelectasis,"));
}

TEST(Workflow, the_resolved_recipe_trains_the_same_model) {
  const Workplace place;
  const fs::path data = place.synth("data", 120);
  place.must_run(plus(place.train_arguments(data, "run"), {"--set", "train.epochs=1"}));
  place.must_run({"train", "--recipe", place / "run/recipe.toml", "--data", data, "--out", place / "again"});
  expect_equal_ends(place, "run", "again");
}

TEST(Workflow, two_epochs_and_two_more_equal_four) {
  const Workplace place;
  const fs::path data = place.synth("data", 160);
  const auto straight = place.train_arguments(data, "straight");
  const auto parts = place.train_arguments(data, "parts");
  place.must_run(straight);
  const std::int64_t steps =
      read_json(place / "straight/data.json").at("splits").at("train").at("images").as_integer() / 16;
  // Stops once between two epochs and once within an epoch.
  EXPECT_EQ(place.run(plus(parts, {"--stop-after", std::to_string(2 * steps)})).code, kStopped);
  EXPECT_EQ(place.run(plus(parts, {"--resume", "--stop-after", std::to_string(3 * steps - 2)})).code, kStopped);
  place.must_run(plus(parts, {"--resume"}));
  expect_equal_ends(place, "straight", "parts");
}

// Arguments of a short training run; more --set values may follow.
std::vector<std::string> narrow_resnet18(const Workplace& place, const fs::path& data) {
  return {"train",
          "--recipe",
          place.write("r.toml", ""),
          "--data",
          data,
          "--model",
          "resnet18",
          "--set",
          "train.epochs=2",
          "train.batch=16",
          "preprocess.size=32",
          "model.width=32"};
}

TEST(Workflow, resumed_runs_take_the_kernels_their_run_began_with) {
  const Workplace place;
  const fs::path data = place.synth("data", 80);
  const std::vector<std::string> base = narrow_resnet18(place, data);
  EXPECT_EQ(place.run(plus(base, {"--out", place / "first", "--stop-after", "2"})).code, kStopped);
  fs::copy(place / "first", place / "second", fs::copy_options::recursive);
  for (const char* run : {"first", "second"}) {
    const Ended resumed = place.must_run(plus(base, {"--out", place / run, "--resume"}));
    EXPECT_THAT(resumed.err, testing::Not(HasSubstr("kernels differ")));
  }
  expect_equal_ends(place, "first", "second");
}

constexpr const char* kState = "run_state";
constexpr const char* kResume = "checkpoints/resume.safetensors";

// Kernels that a run chose: {{"layer1.0.conv1/forward", "direct"}, ...}.
Value choices_of(const fs::path& run) {
  const auto reader = io::SafetensorsReader::open(run / kResume).or_throw();
  return io::parse_json(reader.metadata().at(kState), kState).or_throw().at("plan_choices");
}

// Changes the choices in the resume file, for the 3x3 convolutions that Winograd's kernels can compute.
Value turn_choices(const fs::path& run) {
  const auto reader = io::SafetensorsReader::open(run / kResume).or_throw();
  std::vector<io::TensorToWrite> tensors;
  for (const io::TensorInfo& each : reader.tensors()) {
    tensors.push_back({.name = each.name, .dtype = each.dtype, .shape = each.shape, .bytes = reader.bytes(each)});
  }
  auto metadata = reader.metadata();
  Value state = io::parse_json(metadata.at(kState), kState).or_throw();
  Value turned = Value::array();
  for (const Value& choice : state.at("plan_choices").as_array()) {
    const std::string& key = choice.as_array()[0].as_string();
    const bool is_winograds = key.starts_with("layer2.") && key.find(".conv2/") != std::string::npos;
    const std::string other = choice.as_array()[1].as_string() == "winograd" ? "direct" : "winograd";
    turned.push_back(is_winograds ? Value(Value::Array{key, other}) : choice);
  }
  state.set("plan_choices", turned);
  metadata.at(kState) = io::to_json(state, -1);
  io::write_safetensors(run / kResume, tensors, metadata);
  return turned;
}

TEST(Workflow, a_resumed_run_takes_the_stored_kernels_though_the_rule_has_others) {
  const Workplace place;
  const fs::path data = place.synth("data", 80);
  const std::vector<std::string> base = narrow_resnet18(place, data);
  EXPECT_EQ(place.run(plus(base, {"--out", place / "run", "--stop-after", "2"})).code, kStopped);
  EXPECT_THAT(read_all(place / "run/recipe.toml"), HasSubstr("algorithms = \"auto\""));
  const Value by_rule = choices_of(place / "run");
  const Value turned = turn_choices(place / "run");
  ASSERT_NE(io::to_json(turned, -1), io::to_json(by_rule, -1));
  const Ended resumed = place.must_run(plus(base, {"--out", place / "run", "--resume"}));
  EXPECT_THAT(resumed.err, HasSubstr("kernels differ")) << "from those of the first two updates";
  EXPECT_EQ(io::to_json(choices_of(place / "run"), -1), io::to_json(turned, -1));
}

TEST(Workflow, measured_kernels_are_taken_from_a_file_and_kept) {
  const Workplace place;
  const fs::path data = place.synth("data", 80);
  const fs::path file = place / "choices.json";
  place.must_run({"bench", "choose", "--models", "resnet18", "--image", "32", "--channels", "1", "--batch", "16",
                  "--threads", "1", "--write", file});
  const auto run = [&](const char* width, const char* out) {
    return place.run(plus(narrow_resnet18(place, data), {width, "train.choices=" + file.string(), "train.threads=1",
                                                         "train.epochs=1", "--out", place / out, "--verbose"}));
  };
  const Ended measured = run("model.width=64", "measured");
  EXPECT_EQ(measured.code, 0) << measured.err;
  EXPECT_THAT(measured.err, HasSubstr("kernels: 59 of 59 choices taken from the measurements in "));
  const Value plan = read_json(place / "measured/plan.json");
  EXPECT_EQ(plan.at("measured_sha256").as_string().size(), 64U);
  EXPECT_GE(plan.at("choice_revision").as_integer(), 1);
  const Ended refused = run("model.width=32", "none");
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, testing::AllOf(HasSubstr("[train.choices] " + file.string()),
                                          HasSubstr("choices for this network"), HasSubstr("bench choose")));
}

// The resume file stores the data type of values, as part of the plan with which the run began.
TEST(Workflow, runs_in_bf16_go_on_to_the_same_bits) {
  const Workplace place;
  const fs::path data = place.synth("data", 80);
  const std::vector<std::string> base = plus(narrow_resnet18(place, data), {"--dtype", "bf16"});
  place.must_run(plus(base, {"--out", place / "straight"}));
  EXPECT_EQ(place.run(plus(base, {"--out", place / "parts", "--stop-after", "2"})).code, kStopped);
  place.must_run(plus(base, {"--out", place / "parts", "--resume"}));
  expect_equal_ends(place, "straight", "parts");
}

TEST(Workflow, a_signal_saves_and_a_kill_loses_nothing_saved) {
  const Workplace place;
  const fs::path data = place.synth("data", 160);
  const auto often = std::vector<std::string>{"--set", "train.checkpoint_steps=2"};
  place.must_run(plus(place.train_arguments(data, "straight"), often));
  const auto parts = plus(place.train_arguments(data, "parts"), often);
  {
    Process process(parts, place.root());
    ASSERT_TRUE(process.wait_for_lines(place / "parts/log.jsonl", 5));
    process.signal(SIGTERM);
    const int code = process.wait().code;
    EXPECT_TRUE(code == kStopped || code == 0) << code;  // 0: the run was complete before the signal arrived
  }
  {
    Process process(plus(parts, {"--resume"}), place.root());
    static_cast<void>(process.wait_for_lines(place / "parts/log.jsonl", 16));
    process.signal(SIGKILL);
    static_cast<void>(process.wait());
  }
  const fs::path resume = place / "parts/checkpoints/resume.safetensors";
  EXPECT_TRUE(io::SafetensorsReader::open(resume).ok()) << "whole, whatever the kill interrupted";
  for (const char* name : {"parts/.aucs.csv", "parts/checkpoints/.epoch-001.safetensors"}) {
    place.write(name + std::string(".roentgen-1-0.tmp"), "as a kill while it is written leaves it");
  }
  place.must_run(plus(parts, {"--resume"}));
  expect_equal_ends(place, "straight", "parts");
  expect_nothing_half_written(place / "parts");
}

TEST(Workflow, a_printed_model_trains_like_the_named_one) {
  const Workplace place;
  const fs::path data = place.synth("data", 80);
  const std::vector<std::string> base{
      "train",          "--recipe",       place.write("r.toml", ""), "--data",       data, "--set",
      "train.epochs=1", "train.batch=16", "preprocess.size=32",      "model.width=8"};
  place.must_run(plus(base, {"--model", "resnet18", "--out", place / "named"}));
  const Ended printed = place.must_run(
      {"inspect", "--model", "resnet18", "--image", "32", "--labels", "14", "--set", "model.width=8", "--print"});
  place.must_run(plus(base, {"--model", place.write("net.txt", printed.out), "--out", place / "file"}));
  expect_equal_ends(place, "named", "file");
}

TEST(Workflow, starts_from_weights_of_another_run) {
  const Workplace place;
  const fs::path data = place.synth("data", 80);
  place.must_run(plus(place.train_arguments(data, "first"), {"--set", "train.epochs=1"}));
  const Ended run = place.must_run(
      plus(place.train_arguments(data, "second"),
           {"--set", "train.epochs=1", "data.labels=Mass", "data.validation=none", "--init", best(place, "first")}));
  EXPECT_THAT(run.err, HasSubstr("weights from "));
  EXPECT_THAT(run.err, HasSubstr("fc re-initialised"));
}

TEST(Workflow, one_class_of_several_trains_by_softmax) {
  const Workplace place;
  const fs::path images = place.synth("drawn", 60) / "images";
  std::string csv = "path,patient,split,odd,even\n";
  int count = 0;
  for (const auto& entry : fs::directory_iterator(images)) {
    const bool is_odd = count % 2 == 1;
    csv += entry.path().filename().string() + ",p" + std::to_string(count) + (count % 4 < 2 ? ",val," : ",train,") +
           (is_odd ? "1,0\n" : "0,1\n");
    ++count;
  }
  place.write("drawn/images/labels.csv", csv);
  place.must_run(plus(place.train_arguments(images, "run"),
                      {"--set", "data.labels=[\"odd\", \"even\"]", "loss.name=softmax", "train.batch=8"}));
  place.must_run(
      {"eval", "--checkpoint", best(place, "run"), "--data", images, "--split", "val", "--preds", place / "preds.csv"});
  std::istringstream rows(read_all(place / "preds.csv"));
  std::string row;
  std::getline(rows, row);
  EXPECT_EQ(row, "Image Index,prob_odd,prob_even");
  std::int64_t images_seen = 0;
  while (std::getline(rows, row)) {
    const std::size_t first = row.find(',');
    const std::size_t second = row.find(',', first + 1);
    // Two probabilities printed with nine digits each.
    EXPECT_NEAR(std::stod(row.substr(first + 1)) + std::stod(row.substr(second + 1)), 1.0, 1e-6) << row;
    ++images_seen;
  }
  EXPECT_EQ(images_seen, 30);
}

TEST(Workflow, refuses_a_patient_in_training_and_test) {
  const Workplace place;
  const fs::path data = place.synth("data", 120);
  place.must_run(plus(place.train_arguments(data, "run"), {"--set", "train.epochs=1"}));
  // Swaps training and test list of the same images.
  fs::rename(data / "test_list.txt", data / "swap.txt");
  fs::rename(data / "train_val_list.txt", data / "test_list.txt");
  fs::rename(data / "swap.txt", data / "train_val_list.txt");
  const std::vector<std::string> eval{"eval", "--checkpoint", best(place, "run"), "--data", data};
  expect_refusal(place.run(eval), {"patient"});
  EXPECT_THAT(place.must_run(plus(eval, {"--allow-overlap"})).err, HasSubstr("patient"));
}

TEST(Workflow, says_when_no_leak_can_be_looked_for) {
  const Workplace place;
  const fs::path data = place.synth("data", 80);
  const auto train = place.train_arguments(data, "run");
  place.must_run(plus(train, {"--set", "train.epochs=1", "data.labels=[\"Mass\"]", "train.select=loss"}));
  std::string csv = "path,split,Mass\n";
  int count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(data)) {
    if (entry.path().extension() != ".png") continue;
    fs::create_directories(place / "other");
    fs::copy_file(entry.path(), place / "other" / entry.path().filename());
    csv += entry.path().filename().string() + ",test," + std::to_string(count++ % 2) + "\n";
  }
  place.write("other/labels.csv", csv);
  const Ended eval = place.run({"eval", "--checkpoint", place / "run/checkpoints/best.safetensors", "--data",
                                place / "other", "--set", "data.source=csv"});
  EXPECT_THAT(eval.out, HasSubstr("leak check: not made, since no image of this split has a known patient"))
      << eval.err;
}

TEST(Workflow, names_a_label_that_is_undefined) {
  const Workplace place;
  place.must_run({"synth", place / "data", "--images", "40", "--size", "32", "--seed", "3", "--prevalence-low", "0.02",
                  "--prevalence-high", "0.02"});
  place.must_run(plus(place.train_arguments(place / "data", "run"), {"--set", "train.epochs=1", "train.select=loss"}));
  const Ended run = place.must_run(
      {"eval", "--checkpoint", best(place, "run"), "--data", place / "data", "--json", place / "eval.json"});
  const Value auroc = read_json(place / "eval.json").at("auroc");
  std::int64_t undefined = 0;
  for (const auto& [label, row] : auroc.at("labels").as_table()) undefined += row.at("auroc").is_null() ? 1 : 0;
  EXPECT_GT(undefined, 0) << "with 2% of 8 images some label has no positive";
  EXPECT_EQ(auroc.at("labels_in_mean").as_integer(), 14 - undefined);
  EXPECT_THAT(run.out, HasSubstr("mean over " + std::to_string(14 - undefined) + " of 14"));
}

TEST(Workflow, every_command_has_help_with_examples) {
  const Workplace place;
#define RG_NAME(name) #name,
  for (std::string command : {RG_COMMAND_LIST(RG_NAME)}) {
#undef RG_NAME
    std::ranges::replace(command, '_', '-');
    const Ended run = place.must_run({command, "--help"});
    EXPECT_THAT(run.out, HasSubstr("Examples:")) << command;
    EXPECT_THAT(run.out, HasSubstr("--json")) << command;
  }
}

TEST(Workflow, bench_step_writes_what_it_promises) {
  const Workplace place;
  place.must_run({"bench", "step", "--model", "resnet18", "--batch", "2", "--image", "32", "--warmup", "1", "--steps",
                  "2", "--threads", "1", "--profile", "--json", place / "bench.json"});
  const Value json = read_json(place / "bench.json");
  EXPECT_GT(json.at("images_per_s").as_double(), 0.0);
  EXPECT_GT(json.at("step_ms").at("median").as_double(), 0.0);
  EXPECT_GE(json.at("step_ms").at("p95").as_double(), json.at("step_ms").at("median").as_double());
  EXPECT_GT(json.at("peak_bytes").as_integer(), 0);
  EXPECT_TRUE(json.at("profile").is_array());
}

}  // namespace
}  // namespace roentgen::e2e
