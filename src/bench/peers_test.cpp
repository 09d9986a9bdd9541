// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// With stand-ins for an interpreter and for scripts: what is measured here means nothing.
#include "bench/peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "bench/child.h"
#include "core/error.h"
#include "core/folder_testing.h"

namespace roentgen::bench {
namespace {
namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;

TEST(Child, gives_output_and_status) {
  const ChildResult ended = run_child({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(ended.code, 3);
  EXPECT_EQ(ended.out, "out\n");
  EXPECT_EQ(ended.err, "err\n");
  EXPECT_EQ(run_child({"sh", "-c", "kill -9 $$"}).code, 128 + 9);
}

TEST(Child, that_fills_both_streams_does_not_hang_and_is_bounded) {
  const ChildResult ended =
      run_child({"sh", "-c", "head -c 20000000 /dev/zero >&2 & head -c 20000000 /dev/zero; wait"});
  EXPECT_EQ(ended.code, 0);
  EXPECT_EQ(ended.out.size(), std::size_t{16} << 20);
  EXPECT_EQ(ended.err.size(), std::size_t{16} << 20);
}

TEST(Child, that_does_not_start_is_named) {
  try {
    static_cast<void>(run_child({"/nowhere/python9"}));
    FAIL() << "not refused";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/nowhere/python9"));
  }
}

class PeersBench : public testing::Test {
 protected:
  PeersBench() {
    write("bench_step_torch.py", R"({"peer": "Other 1.0", "figures": {"eager, nchw": 1e-3, "eager, nhwc": 2e-3}})");
    write("bench_infer_torch.py", R"({"peer": "Other 1.0", "figures": {"frozen, nchw": 4e-3}})");
    python("case $1 in -c) exit 0;; esac\ncat $1");
  }

  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.path() / name) << text; }
  // The interpreter: prints the script, knows every module.
  void python(const std::string& body) const {
    write("python", "#!/bin/sh\n" + body + "\n");
    fs::permissions(folder_.path() / "python", fs::perms::owner_all);
  }
  [[nodiscard]] PeersOptions options() const {
    return {.network = {.model = "resnet18",
                        .batch = 2,
                        .image_px = 32,
                        .warmup = 0,
                        .steps = 1,
                        .threads = 1,
                        .algorithms = "direct"},
            .peers = {"torch"},
            .scripts = folder_.path(),
            .python = folder_.path() / "python",
            .rounds = rounds_};
  }
  [[nodiscard]] std::string refusal() const {
    try {
      static_cast<void>(run_peers(options()));
    } catch (const Error& error) {
      return error.what();
    }
    return "not refused";
  }

  TemporaryFolder folder_;
  std::int64_t rounds_ = 1;
};

TEST_F(PeersBench, puts_ours_and_theirs_side_by_side) {
  const Value result = run_peers(options());
  EXPECT_TRUE(result.at("missing").as_array().empty());
  const auto& rows = result.at("table").as_array();
  ASSERT_EQ(rows.size(), 6U);  // training: ours, two layouts; inference: ours twice, one way
  EXPECT_EQ(rows[0].at("program").as_string(), "roentgen");
  EXPECT_DOUBLE_EQ(rows[0].at("ours_over_it").as_double(), 1.0);
  EXPECT_EQ(rows[2].at("peer").as_string(), "torch");
  EXPECT_EQ(rows[2].at("way").as_string(), "eager, nhwc");
  EXPECT_DOUBLE_EQ(rows[2].at("images_per_s").as_double(), 2e-3);
  EXPECT_GT(rows[2].at("ours_over_it").as_double(), 1.0);
  EXPECT_NEAR(rows[1].at("ours_over_it").as_double(), 2.0 * rows[2].at("ours_over_it").as_double(), 1e-6);
  EXPECT_EQ(rows[5].at("what").as_string(), "inference");
  EXPECT_EQ(rows[5].at("program").as_string(), "Other 1.0");
  EXPECT_GT(result.at("floor_ratio").as_double(), 0.0);
}

TEST_F(PeersBench, figures_that_are_none_or_others_in_the_next_round_are_refused) {
  write("bench_step_torch.py", R"({"peer": "Other 1.0", "figures": {}})");
  EXPECT_THAT(refusal(), HasSubstr("bench_step_torch.py: expected a measurement, got no figures"));
  python(R"sh(case $1 in -c) exit 0;; esac
cd "$(dirname "$0")"
echo >> count
if [ $(wc -l < count) = 1 ]; then
  echo '{"peer": "Other 1.0", "figures": {"a": 1, "b": 1000}}'
else
  echo '{"peer": "Other 1.0", "figures": {"a": 1}}'
fi)sh");
  fs::remove(folder_.path() / "bench_infer_torch.py");
  rounds_ = 2;
  EXPECT_THAT(refusal(), HasSubstr("training, torch: expected a, b, as in the first round, got a; try"));
}

// The script gives 1 image/s in the first layout or 1000 in the second, in turns.
TEST_F(PeersBench, ratios_are_medians_of_rounds_against_the_better_way_of_each) {
  python(R"sh(case $1 in -c) exit 0;; esac
cd "$(dirname "$0")"
echo >> count
if [ $(($(wc -l < count) % 2)) = 1 ]; then
  echo '{"peer": "Other 1.0", "figures": {"a": 1, "b": 1000}}'
else
  echo '{"peer": "Other 1.0", "figures": {"a": 1000, "b": 1}}'
fi)sh");
  fs::remove(folder_.path() / "bench_infer_torch.py");
  rounds_ = 2;
  const Value result = run_peers(options());
  const auto& ratios = result.at("ratios").as_array();
  ASSERT_EQ(ratios.size(), 1U);
  const auto& rows = result.at("table").as_array();
  EXPECT_DOUBLE_EQ(rows[1].at("images_per_s").as_double(), 500.5);
  EXPECT_LT(ratios[0].at("most").as_double(), 0.01 * rows[0].at("images_per_s").as_double());
  EXPECT_LE(ratios[0].at("least").as_double(), ratios[0].at("ours_over_it").as_double());
  EXPECT_LE(ratios[0].at("ours_over_it").as_double(), ratios[0].at("most").as_double());
}

TEST_F(PeersBench, compiled_torch_and_tensorflow_are_peers_with_an_option_and_an_interpreter_of_their_own) {
  const std::string figures = R"sh(echo '{"peer": "'"$(basename "$0") $*"'", "figures": {"a": 1}}')sh";
  python("case $1 in -c) exit 0;; esac\n" + figures);
  fs::copy(folder_.path() / "python", folder_.path() / "python-tf");
  write("bench_step_tensorflow.py", "");
  PeersOptions options = this->options();
  options.peers = {};
  options.network.model = "resnet50";
  options.tensorflow_python = folder_.path() / "python-tf";
  const Value result = run_peers(options);
  EXPECT_TRUE(result.at("missing").as_array().empty());
  std::map<std::string, std::string> programs;
  for (const Value& row : result.at("ratios").as_array()) {
    if (row.at("what").as_string() == "training") programs[row.at("peer").as_string()] = row.at("program").as_string();
  }
  ASSERT_EQ(programs.size(), 3U);
  EXPECT_THAT(programs["torch"], AllOf(HasSubstr("python "), HasSubstr("bench_step_torch.py"), EndsWith("--steps 1")));
  EXPECT_THAT(programs["torch-compile"], AllOf(HasSubstr("bench_step_torch.py"), EndsWith("--steps 1 --compile")));
  EXPECT_THAT(programs["tensorflow"], AllOf(HasSubstr("python-tf "), HasSubstr("bench_step_tensorflow.py")));
}

TEST_F(PeersBench, a_missing_peer_is_named_and_left_out) {
  fs::remove(folder_.path() / "bench_infer_torch.py");
  const Value absent = run_peers(options());
  ASSERT_EQ(absent.at("missing").as_array().size(), 1U);
  EXPECT_THAT(absent.at("missing").as_array()[0].as_string(),
              HasSubstr("torch, inference (bench_infer_torch.py) left out: no such file"));
  EXPECT_EQ(absent.at("table").as_array().size(), 5U);
  python("exit 1");
  const Value bare = run_peers(options());
  EXPECT_EQ(bare.at("missing").as_array().size(), 2U);
  EXPECT_THAT(bare.at("missing").as_array()[0].as_string(),
              AllOf(HasSubstr("fails at `import torch, torchvision`; try "),
                    EndsWith("python -m pip install torch torchvision")));
  EXPECT_EQ(bare.at("table").as_array().size(), 3U);
}

TEST_F(PeersBench, peers_that_cannot_be_imported_name_their_package_and_others_go_on) {
  python("case \"$1 $2\" in *torch.compile*|*tensorflow*) exit 1;; -c*) exit 0;; esac\ncat $1");
  write("bench_step_tensorflow.py", "");
  PeersOptions options = this->options();
  options.peers = {};
  const Value other_model = run_peers(options);
  ASSERT_EQ(other_model.at("missing").as_array().size(), 2U);
  EXPECT_THAT(other_model.at("missing").as_array()[0].as_string(),
              AllOf(HasSubstr("torch-compile, training"), EndsWith("-m pip install 'torch>=2' torchvision")));
  EXPECT_THAT(other_model.at("missing").as_array()[1].as_string(),
              HasSubstr("it has no resnet18; try one of resnet50 densenet121"));
  EXPECT_EQ(other_model.at("ratios").as_array().size(), 2U);
  options.network.model = "resnet50";
  options.peers = {"tensorflow"};
  const Value result = run_peers(options);
  ASSERT_EQ(result.at("missing").as_array().size(), 1U);
  EXPECT_THAT(result.at("missing").as_array()[0].as_string(), EndsWith("-m pip install tensorflow-cpu"));
  options.tensorflow_python = "/nowhere/python9";
  EXPECT_THAT(run_peers(options).at("missing").as_array()[0].as_string(),
              HasSubstr("/nowhere/python9 does not start; try --tensorflow-python"));
}

TEST_F(PeersBench, refuses_peers_that_it_does_not_know) {
  PeersOptions options = this->options();
  options.peers = {"torch", "theano"};
  try {
    static_cast<void>(run_peers(options));
    FAIL() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(
        error.what(),
        "[bench.options] --peers: expected names of torch, torch-compile, tensorflow, with commas, got theano; "
        "try --peers torch,torch-compile,tensorflow");
  }
}

TEST_F(PeersBench, a_script_that_fails_is_an_error_with_its_last_line) {
  python("case $1 in -c) exit 0;; esac\necho first >&2; echo MemoryError >&2; exit 1");
  EXPECT_THAT(refusal(), HasSubstr("status 1, MemoryError; try "));
  python("case $1 in -c) exit 0;; esac\necho '{'");
  EXPECT_THAT(refusal(), HasSubstr("bench_step_torch.py"));
  python("case $1 in -c) exit 0;; esac\necho '[]'");
  EXPECT_THAT(refusal(), HasSubstr("no `peer` and `figures`"));
  python(R"(case $1 in -c) exit 0;; esac
echo '{"peer": "x", "figures": {"a": -1}}')");
  EXPECT_THAT(refusal(), HasSubstr("a figure that is no speed: a"));
}

TEST_F(PeersBench, refuses_a_folder_that_is_none) {
  PeersOptions options = this->options();
  options.scripts = folder_.path() / "nowhere";
  EXPECT_THROW(static_cast<void>(run_peers(options)), ConfigError);
}

}  // namespace
}  // namespace roentgen::bench
