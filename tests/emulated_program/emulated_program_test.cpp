// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests the program with --device cuda on the emulated engine: train, resume on CPU and GPU, eval, predict and report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <sstream>

#include "io/json.h"
#include "io/safetensors.h"
#include "tests/e2e/program.h"
#include "tests/emulated_program/emulated_cards.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int kStopped = 3;
/// Number of synthetic images: enough for 5 updates per epoch, and for validation and test.
constexpr int kImages = 120;

/// Fixture with data and a run of two epochs on the emulated GPU; created once.
class EmulatedProgram : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = new Workplace;
    place_->synth("data", kImages);
    train("cuda", {"--device", "cuda"});
  }
  static void TearDownTestSuite() {
    delete place_;
    place_ = nullptr;
  }
  static Workplace& place() { return *place_; }
  static Ended run(const std::vector<std::string>& arguments) {
    return Process(arguments, place().root(), {}, RG_EMULATED_PROGRAM).wait();
  }
  static Ended must_run(const std::vector<std::string>& arguments) {
    Ended ended = run(arguments);
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }
  static std::vector<std::string> train_arguments(const std::string& name, const std::vector<std::string>& more) {
    return plus(plus(place().train_arguments(place() / "data", name),
                     {"--set", "train.epochs=2", "--json", place() / (name + ".json")}),
                more);
  }
  static Ended train(const std::string& name, const std::vector<std::string>& more) {
    return must_run(train_arguments(name, more));
  }
  static void train_until(const std::string& name, int updates, const std::vector<std::string>& more) {
    const Ended ended = run(plus(train_arguments(name, more), {"--stop-after", std::to_string(updates)}));
    EXPECT_EQ(ended.code, kStopped) << ended.err;
  }
  static bool has_mpi() {
    const std::string json = place() / "doctor.json";
    static_cast<void>(run({"doctor", "--json", json}));  // fails where it finds something wrong
    return read_json(json).at("mpi").at("available").as_bool();
  }
  static fs::path resume_file(const std::string& name) { return place() / name / "checkpoints/resume.safetensors"; }
  static std::string weights(const std::string& name) { return place() / name / "checkpoints/best.safetensors"; }
  static Value run_state(const std::string& name) {
    const auto reader = io::SafetensorsReader::open(resume_file(name)).or_throw();
    return io::parse_json(reader.metadata().at("run_state"), "run_state").or_throw();
  }
  static std::map<std::string, std::vector<float>> tensors(const std::string& name) {
    const auto reader = io::SafetensorsReader::open(resume_file(name)).or_throw();
    std::map<std::string, std::vector<float>> all;
    for (const io::TensorInfo& each : reader.tensors()) {
      if (each.dtype != DType::F32) continue;
      const auto bytes = reader.bytes(each);
      const auto* const values = reinterpret_cast<const float*>(bytes.data());
      all[each.name].assign(values, values + bytes.size() / sizeof(float));
    }
    return all;
  }
  /// Adam's steps have the size of the learning rate (0.01), whatever the size of the gradient. If rounding changes the
  /// sign of a gradient near 0, a weight moves by up to twice this rate per update. Most weights must stay much closer.
  static void expect_close_ends(const std::string& left, const std::string& right) {
    const auto a = tensors(left), b = tensors(right);
    ASSERT_EQ(a.size(), b.size());
    for (const auto& [name, values] : a) {
      if (name.starts_with("optimizer.")) continue;
      double squares = 0.0, distance = 0.0;
      const std::vector<float>& others = b.at(name);
      for (std::size_t i = 0; i < values.size(); ++i) {
        squares += static_cast<double>(values[i]) * static_cast<double>(values[i]);
        distance += std::pow(static_cast<double>(values[i]) - static_cast<double>(others[i]), 2);
      }
      EXPECT_LE(std::sqrt(distance), 0.02 * (0.05 + std::sqrt(squares))) << name;
    }
  }

 private:
  inline static Workplace* place_ = nullptr;
};

TEST_F(EmulatedProgram, trains_to_what_the_cpu_trains_to) {
  train("cpu", {"--device", "cpu"});
  EXPECT_THAT(read_all(place() / "cuda/recipe.toml"), HasSubstr("\ndevice = \"cuda\""));
  expect_close_ends("cuda", "cpu");
  // With 24 test images, a finding has at least 23 x 1 pairs of a positive and a negative image. If one pair changes
  // its order, the AUROC changes by at most 1/23.
  const auto mean = [&](const std::string& run) {
    const std::string json = place() / (run + "-eval.json");
    must_run({"eval", "--checkpoint", weights(run), "--data", place() / "data", "--split", "test", "--device", run,
              "--json", json});
    return read_json(json).at("auroc").at("mean").as_double();
  };
  EXPECT_NEAR(mean("cuda"), mean("cpu"), 0.01);
}

TEST_F(EmulatedProgram, weights_of_a_card_are_evaluated_alike_on_both_devices) {
  std::map<std::string, std::string> scores, images;
  for (const std::string device : {"cuda", "cpu"}) {
    const std::string eval = place() / (device + "-eval.csv"), predict = place() / (device + "-predict.csv");
    must_run(
        {"eval", "--checkpoint", weights("cuda"), "--data", place() / "data", "--device", device, "--preds", eval});
    must_run({"predict", "--checkpoint", weights("cuda"), place() / "data/images", "--device", device, "--preds",
              predict, "--heatmap", "top", "--out", place() / (device + "-maps")});
    scores[device] = read_all(eval);
    images[device] = read_all(predict);
    EXPECT_FALSE(fs::is_empty(place() / (device + "-maps")));
  }
  // Numbers are printed with few digits; the last of them may differ.
  for (const auto* texts : {&scores, &images}) {
    std::istringstream cuda(texts->at("cuda")), cpu(texts->at("cpu"));
    std::string left, right;
    while (std::getline(cuda, left)) {
      ASSERT_TRUE(std::getline(cpu, right));
      std::istringstream a(left), b(right);
      std::string x, y;
      while (std::getline(a, x, ',') && std::getline(b, y, ',')) {
        if (x == y) continue;
        EXPECT_NEAR(std::stod(x), std::stod(y), 1e-4) << left << "\n" << right;
      }
    }
    EXPECT_FALSE(std::getline(cpu, right));
  }
}

TEST_F(EmulatedProgram, goes_on_to_the_bits_of_a_run_that_was_not_stopped) {
  train_until("stopped", 3, {"--device", "cuda"});
  train("stopped", {"--device", "cuda", "--resume"});
  expect_equal_tensors(resume_file("stopped"), resume_file("cuda"));
}

TEST_F(EmulatedProgram, resume_files_serve_both_devices) {
  for (const auto& [begun, resumed] : {std::pair<std::string, std::string>{"cuda", "cpu"}, {"cpu", "cuda"}}) {
    const std::string name = begun + "-to-" + resumed;
    train_until(name, 3, {"--device", begun});
    const Ended ended = train(name, {"--device", resumed, "--resume"});
    EXPECT_THAT(ended.err, HasSubstr("resumed on " + resumed + ", begun on " + begun));
    EXPECT_EQ(run_state(name).at("plan_engine").as_string(), resumed);
    expect_close_ends(name, "cuda");
  }
}

TEST_F(EmulatedProgram, in_f16_skips_updates_that_overflow_and_resumes_its_loss_scale) {
  const std::vector<std::string> half{
      "--device", "cuda", "--dtype", "f16", "--set", "train.loss_scale=1e8", "--set", "train.loss_scale_growth=4"};
  const Ended straight = train("half", half);
  const std::int64_t skipped = read_json(place() / "half.json").at("skipped_updates").as_integer();
  EXPECT_GT(skipped, 0);
  EXPECT_LT(skipped, 10) << "of all updates";
  EXPECT_THAT(straight.out, HasSubstr(" skipped by overflow; loss scale "));
  const std::string log = read_all(place() / "half/log.jsonl");
  EXPECT_THAT(log, HasSubstr("\"loss_scale\":1e+08"));
  EXPECT_THAT(log, HasSubstr("\"skipped_updates\":"));
  train_until("half-stopped", 5, half);
  train("half-stopped", plus(half, {"--resume"}));
  expect_equal_tensors(resume_file("half-stopped"), resume_file("half"));
  EXPECT_EQ(run_state("half-stopped").at("loss_scale"), run_state("half").at("loss_scale"));
}

TEST_F(EmulatedProgram, in_f16_stops_when_the_loss_scale_is_below_1) {
  const std::vector<std::string> half{"--device", "cuda", "--dtype", "f16", "--set", "train.loss_scale=1024"};
  train_until("low", 3, half);
  std::string file = read_all(resume_file("low"));
  const std::string scale = R"(\"scale\":1024.0)";
  ASSERT_NE(file.find(scale), std::string::npos);
  file.replace(file.find(scale), scale.size(), R"(\"scale\":0.5000)");
  place().write("low/checkpoints/resume.safetensors", file);
  const Ended ended = run(train_arguments("low", plus(half, {"--resume"})));
  expect_stop(ended, {"[train.step] step 4: expected a loss scale of at least 1, got 0.5, after ", "train.dtype=bf16"});
}

TEST_F(EmulatedProgram, the_cpu_refuses_f16_and_tf32) {
  for (const std::string dtype : {"f16", "tf32"}) {
    expect_stop(
        run(train_arguments("refused", {"--device", "cpu", "--dtype", dtype})),
        {"[train.recipe] train.dtype: expected f32, bf16 or auto on the device cpu, got " + dtype, "--device cuda"});
    EXPECT_FALSE(fs::exists(place() / "refused"));
  }
}

TEST_F(EmulatedProgram, in_tf32_trains_and_resumes_to_the_same_bits) {
  const std::vector<std::string> tf32{"--device", "cuda", "--dtype", "tf32"};
  train("tf32", tf32);
  EXPECT_EQ(read_json(place() / "tf32/plan.json").at("dtype").as_string(), "tf32");
  train_until("tf32-stopped", 3, tf32);
  train("tf32-stopped", plus(tf32, {"--resume"}));
  expect_equal_tensors(resume_file("tf32-stopped"), resume_file("tf32"));
}

// A less precise type for inference must be requested by name, and the output states it.
TEST_F(EmulatedProgram, says_that_f32_does_not_use_tensor_cores) {
  constexpr const char* kHint = "f32 does not use this card's tensor cores; --dtype bf16, f16 or tf32 is faster";
  const auto log_of = [](const std::string& device, const std::string& dtype) {
    const Ended ended = run(
        plus(train_arguments("hint", {"--device", device, "--dtype", dtype, "--overwrite"}), {"--stop-after", "1"}));
    EXPECT_EQ(ended.code, kStopped) << ended.err;
    return ended.err;
  };
  EXPECT_THAT(log_of("cuda", "f32"), HasSubstr(kHint));
  for (const char* dtype : {"tf32", "bf16", "f16"}) EXPECT_THAT(log_of("cuda", dtype), testing::Not(HasSubstr(kHint)));
  EXPECT_THAT(log_of("cpu", "f32"), testing::Not(HasSubstr("tensor cores")));
}

TEST_F(EmulatedProgram, predicts_in_f32_unless_another_type_is_asked_for) {
  std::map<std::string, std::string> rows;
  for (const std::string dtype : {"", "f32", "tf32", "bf16", "f16"}) {
    const std::string json = place() / (dtype + "-predict.json"), csv = place() / (dtype + "-predict.csv");
    std::vector<std::string> arguments{"predict",       "--checkpoint",
                                       weights("cuda"), place() / "data/images",
                                       "--device",      "cuda",
                                       "--preds",       csv,
                                       "--json",        json};
    if (!dtype.empty()) arguments = plus(arguments, {"--dtype", dtype});
    must_run(arguments);
    EXPECT_EQ(read_json(json).at("dtype").as_string(), dtype.empty() ? "f32" : dtype);
    rows[dtype] = read_all(csv);
  }
  EXPECT_TRUE(rows.at("") == rows.at("f32"));
  for (const char* dtype : {"tf32", "bf16", "f16"}) EXPECT_FALSE(rows.at(dtype) == rows.at("f32")) << dtype;
  const Ended ended = must_run({"eval", "--checkpoint", weights("cuda"), "--data", place() / "data", "--device", "cuda",
                                "--dtype", "tf32", "--json", place() / "tf32-eval.json"});
  EXPECT_THAT(ended.out, HasSubstr("computed in tf32\n"));
  EXPECT_EQ(read_json(place() / "tf32-eval.json").at("dtype").as_string(), "tf32");
  expect_stop(
      run({"predict", "--checkpoint", weights("cuda"), place() / "data/images", "--device", "cpu", "--dtype", "tf32"}),
      {"[engine.cpu] dtype: expected f32, bf16 or auto on a CPU, got tf32"});
  expect_stop(
      run({"predict", "--checkpoint", weights("cuda"), place() / "data/images", "--device", "cpu", "--dtype", "bf16"}),
      {"dtype: expected f32 or auto on the device cpu, got bf16", "--device cuda"});
}

TEST_F(EmulatedProgram, benchmarks_upload_pixels_as_training_does) {
  must_run({"bench",    "overlap",
            "--data",   place() / "data/images",
            "--device", "cuda",
            "--model",  "resnet18",
            "--batch",  "2",
            "--image",  "32",
            "--warmup", "1",
            "--steps",  "1",
            "--rounds", "1",
            "--labels", "2",
            "--json",   place() / "overlap.json"});
  EXPECT_EQ(read_json(place() / "overlap.json").at("slot_dtype").as_string(), "u16");
}

// Each case on a network of 32 px: it ends, and its JSON speaks of the device.
TEST_F(EmulatedProgram, benchmarks_run_on_a_device) {
  const std::vector<std::string> small{"--device", "cuda", "--image", "32", "--labels", "2", "--channels", "1"};
  const std::vector<std::string> short_run{"--batch", "1", "--warmup", "0", "--steps", "1"};
  const auto measure = [&](const std::string& name, const std::vector<std::string>& more) {
    const std::string json = place() / (name + "-bench.json");
    must_run(plus(plus({"bench", name, "--json", json}, small), more));
    Value result = read_json(json);
    EXPECT_THAT(result.at("engine").as_string(), HasSubstr("emulated card")) << name;
    return result;
  };
  const std::vector<std::string> resnet{"--model", "resnet18", "--dtype", "bf16"};
  const Value step = measure("step", plus(plus(resnet, short_run), {"--profile"}));
  EXPECT_EQ(step.at("dtype").as_string(), "bf16");
  EXPECT_GT(step.at("conv_floor_ms").as_double(), 0.0);
  EXPECT_FALSE(step.at("profile").as_array().empty());
  const Value infer = measure("infer", plus(plus(resnet, short_run), {"--rounds", "1"}));
  EXPECT_EQ(infer.at("batches").as_array().size(), 1U);
  EXPECT_EQ(infer.at("dtype").as_string(), "bf16");
  const Value fusion = measure("fusion", plus({"--models", "resnet18", "--rounds", "1"}, short_run));
  EXPECT_FALSE(fusion.at("training").as_array().empty());
  EXPECT_FALSE(fusion.at("inference").as_array().empty());
}

// On a device the budget is memory of the device, whatever the process itself holds.
TEST_F(EmulatedProgram, largest_batch_is_the_one_whose_plan_fits_the_device) {
  const std::string json = place() / "autobatch.json";
  const auto search = [&](const std::string& memory) {
    return run({"bench", "autobatch", "--device", "cuda", "--model", "resnet18", "--image", "32", "--labels", "2",
                "--channels", "1", "--memory", memory, "--json", json});
  };
  // The refusal names what one image needs, rounded to 0.1 MiB; a second image needs more than the rest.
  const Ended refused = search("1MiB");
  expect_stop(refused, {"[bench.autobatch] --memory: expected at least ", "MiB, for a batch of one image"});
  const double least_mib = std::stod(refused.err.substr(refused.err.find("at least ") + 9));
  const auto budget = static_cast<std::int64_t>((least_mib + 0.1) * (1 << 20));
  const Ended ended = search(std::to_string(budget));
  ASSERT_EQ(ended.code, 0) << ended.err;
  const Value result = read_json(json);
  EXPECT_EQ(result.at("largest_batch").as_integer(), 1);
  EXPECT_EQ(result.at("process_bytes").as_integer(), 0);
  EXPECT_LE(result.at("needed_bytes").as_integer(), budget);
  EXPECT_EQ(result.at("confirmed").at("peak_bytes"), result.at("needed_bytes"));
  EXPECT_GT(result.at("tried").as_array().back().at("needed_bytes").as_integer(), budget);
}

TEST_F(EmulatedProgram, prints_its_memory_before_the_first_step) {
  const Ended ended = run(train_arguments("memory", {"--device", "cuda", "--stop-after", "1"}));
  EXPECT_EQ(ended.code, kStopped) << ended.err;
  EXPECT_THAT(ended.err, testing::ContainsRegex("training: peak of memory [0-9.]+ MiB: activations [0-9.]+, "
                                                "parameters [0-9.]+, gradients [0-9.]+, .*validation [0-9.]+"));
}

TEST_F(EmulatedProgram, says_which_card_auto_leaves_idle) {
  const Ended ended = run(train_arguments("auto", {"--stop-after", "1"}));
  EXPECT_EQ(ended.code, kStopped) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("this machine has the card emulated card: --device cuda trains on it"));
  EXPECT_THAT(read_all(place() / "auto/recipe.toml"), HasSubstr("\ndevice = \"cpu\""));
}

TEST_F(EmulatedProgram, ranks_auto_on_one_card_is_one_process) {
  train("auto-one", {"--device", "cuda", "--ranks", "auto"});
  expect_equal_tensors(resume_file("auto-one"), resume_file("cuda"));
}

TEST_F(EmulatedProgram, ranks_auto_gives_each_rank_a_card_and_prints_the_map) {
  if (!has_mpi()) GTEST_SKIP() << "NO MPI, NOTHING TESTED";
  const EmulatedCards cards(2);
  const Ended ended = run(train_arguments("ranks", {"--device", "cuda", "--ranks", "auto", "--oversubscribe"}));
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("ranks: 0 on "));
  EXPECT_THAT(ended.err, HasSubstr(", cuda:0 emulated card, cores "));
  EXPECT_THAT(ended.err, HasSubstr("; 1 on "));
  EXPECT_THAT(ended.err, HasSubstr(", cuda:1 emulated card, cores "));
  EXPECT_THAT(read_all(place() / "ranks/recipe.toml"), HasSubstr("\ndevice = \"cuda\""));
}

TEST_F(EmulatedProgram, two_ranks_on_one_card_are_refused_or_asked_for) {
  if (!has_mpi()) GTEST_SKIP() << "NO MPI, NOTHING TESTED";
  const std::vector<std::string> two{"--device", "cuda", "--ranks", "2", "--oversubscribe"};
  expect_stop(run(train_arguments("double", two)),
              {"device of rank 1", "FFFF:00:00.0, which rank 0 uses", "--allow-shared-gpu"});
  train_until("shared", 1, plus(two, {"--allow-shared-gpu"}));
}

TEST_F(EmulatedProgram, ranks_auto_without_a_card_says_why) {
  const EmulatedCards none(0);
  const Ended ended = run(train_arguments("none", {"--device", "cuda", "--ranks", "auto"}));
  EXPECT_EQ(ended.code, 1);
  EXPECT_THAT(ended.err, HasSubstr("[runtime.cuda] device cuda:0: expected a CUDA device, got none: none is emulated"));
}

TEST_F(EmulatedProgram, plans_for_several_sides_and_a_described_card) {
  const std::string json = place() / "plans.json";
  const std::vector<std::string> plan{"inspect", "--plan", "--model", "resnet18", "--batch", "2", "--device", "cuda"};
  const Ended ended = must_run(plus(plan, {"--image", "32,64", "--card", "h200", "--json", json}));
  EXPECT_THAT(ended.out, HasSubstr("NVIDIA H200"));
  const Value report = read_json(json);
  EXPECT_EQ(report.at("plans").as_array().size(), 2U);
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> activations;
  for (const Value& row : report.at("memory").as_array()) {
    activations[{row.at("image_px").as_integer(), row.at("recompute").as_string()}] =
        row.at("activations_bytes").as_integer();
    EXPECT_GT(row.at("peak_bytes").as_integer(), row.at("activations_bytes").as_integer());
  }
  ASSERT_EQ(activations.size(), 4U);
  EXPECT_GT((activations[{64, "none"}]), 2 * (activations[{32, "none"}]));
  EXPECT_LT((activations[{64, "all"}]), (activations[{64, "none"}]));
  expect_refusal(run(plus(plan, {"--card", "h20"})), {"h100, h200, or FILE.json", "h20"});
}

TEST_F(EmulatedProgram, reports_with_a_gallery) {
  must_run({"report", place() / "cuda", "--labels", place() / "data", "--data", place() / "data/images", "--out",
            place() / "report.html", "--device", "cuda"});
  EXPECT_GT(fs::file_size(place() / "report.html"), 10'000U);
}

}  // namespace
}  // namespace roentgen::e2e
