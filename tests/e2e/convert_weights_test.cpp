// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests that roentgen convert-weights makes weights of another program usable for predict, export and train.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "io/csv.h"
#include "io/json.h"
#include "io/safetensors.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

fs::path golden(const std::string& name) {
  const char* source = std::getenv("ROENTGEN_SOURCE_DIR");
  return fs::path(source == nullptr ? "." : source) / "tests" / "golden" / "torch" / name;
}

// Writes torchvision's ResNet-18 by names and shapes (names.csv), with one value everywhere.
void write_resnet18(const fs::path& path) {
  const io::Csv csv = io::read_csv(golden("names.csv")).or_throw();
  std::vector<io::TensorToWrite> tensors;
  const std::vector<float> values(512 * 512 * 9, 0.01F);
  for (const auto& row : csv.rows) {
    if (row[0] != "torchvision" || row[1] != "resnet18") continue;
    std::vector<std::int64_t> sizes;
    std::istringstream text(row[3]);
    for (std::string size; std::getline(text, size, 'x');) sizes.push_back(std::stoll(size));
    const Shape shape(std::move(sizes));
    const auto bytes = std::as_bytes(std::span(values).first(static_cast<std::size_t>(shape.elements())));
    tensors.push_back({.name = "module." + row[2], .shape = shape, .bytes = bytes});
  }
  io::write_safetensors(path, tensors, {});
}

class ConvertWeights : public testing::Test {
 protected:
  void SetUp() override { write_resnet18(weights()); }
  [[nodiscard]] std::string weights() const { return in("w.safetensors"); }
  [[nodiscard]] std::string in(std::string_view name) const { return (place_ / name).string(); }
  Workplace place_;
};

TEST_F(ConvertWeights, makes_a_checkpoint_that_predicts_and_is_exported) {
  const std::string out = in("out.safetensors");
  const Ended run = place_.must_run({"convert-weights", weights(), out, "--json", in("c.json")});
  EXPECT_THAT(run.out, HasSubstr("out.safetensors: resnet18, 1000 labels, softmax, input 224x224 RGB"));
  EXPECT_THAT(run.err, HasSubstr("(imagenet), as the file names none"));
  EXPECT_EQ(io::read_json(in("c.json")).or_throw().at("model").as_string(), "resnet18");
  const fs::path data = place_.synth("data", 4);
  place_.must_run({"predict", "--checkpoint", out, data / "images", "--preds", in("p.csv")});
  EXPECT_THAT(read_all(in("p.csv")), HasSubstr("class_999"));
  place_.must_run({"export", "--checkpoint", out, "--out", in("m.onnx")});
}

TEST_F(ConvertWeights, refuses_in_one_line_what_is_none) {
  const auto refusal = [&](const std::vector<std::string>& arguments) {
    const Ended run = place_.run(plus({"convert-weights"}, arguments));
    EXPECT_EQ(run.code, 2);
    return run.err;
  };
  const std::string out = in("x.safetensors");
  EXPECT_THAT(refusal({golden("evil.pt"), out}), HasSubstr("got a call of posix.system"));
  EXPECT_THAT(refusal({golden("state.pt"), out}), HasSubstr("try weights of one of resnet18"));
  EXPECT_THAT(refusal({weights(), out, "--labels", "a,b"}), HasSubstr("expected 1000 labels, one per output, got 2"));
  EXPECT_THAT(refusal({weights(), weights()}), HasSubstr("w.safetensors"));
  EXPECT_FALSE(fs::exists(out));
  const Ended predict = place_.run({"predict", "--checkpoint", golden("state.pt"), golden("state.pt")});
  EXPECT_THAT(predict.err, HasSubstr("got a PyTorch file; try roentgen convert-weights"));
}

TEST_F(ConvertWeights, start_a_training_as_they_are) {
  const std::string recipe = place_
                                 .write("r.toml",
                                        "[model]\nname = \"resnet18\"\n[preprocess]\nsize = 32\n"
                                        "[train]\nepochs = 1\nbatch = 8\n")
                                 .string();
  const Ended run = place_.must_run({"train", "--recipe", recipe, "--data", place_.synth("data", 60), "--out",
                                     in("run"), "--init", weights(), "--init-preset", "imagenet"});
  EXPECT_THAT(run.err, HasSubstr("102 tensors renamed to current torchvision names"));
  EXPECT_THAT(run.err, HasSubstr("fc re-initialised"));
}

}  // namespace
}  // namespace roentgen::e2e
