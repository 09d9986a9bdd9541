// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests roentgen predict: probabilities of images without a table, and their heat-maps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "io/json.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Fixture with one short training run for all tests.
class Predict : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = std::make_unique<Workplace>();
    const fs::path data = place_->synth("data", 120);
    place_->must_run(plus(place_->train_arguments(data, "run"), {"--set", "train.epochs=1"}));
    place_->must_run({"eval", "--checkpoint", checkpoint(), "--data", data, "--split", "test", "--replicates", "0",
                      "--preds", *place_ / "preds.csv", "--save-points", *place_ / "points.json"});
    std::istringstream lines(read_all(data / "test_list.txt"));
    for (std::string name; std::getline(lines, name);) {
      fs::create_directories(*place_ / "test");
      fs::copy_file(data / "images" / name, *place_ / "test" / name);
      names_.push_back(name);
    }
  }
  static void TearDownTestSuite() { place_.reset(); }

  static std::string checkpoint() { return (*place_ / "run/checkpoints/best.safetensors").string(); }
  static std::vector<std::string> arguments(const std::vector<std::string>& more) {
    return plus({"predict", "--checkpoint", checkpoint()}, more);
  }
  static std::string in(std::string_view name) { return (*place_ / name).string(); }

  static std::unique_ptr<Workplace> place_;
  static std::vector<std::string> names_;
};

std::unique_ptr<Workplace> Predict::place_;
std::vector<std::string> Predict::names_;

TEST_F(Predict, gives_the_digits_that_eval_gives) {
  const Ended run = place_->must_run(arguments({in("test"), "--preds", in("same.csv"), "--json", in("same.json")}));
  EXPECT_EQ(read_all(*place_ / "same.csv"), read_all(*place_ / "preds.csv"));
  EXPECT_THAT(run.out, HasSubstr("input: 32x32 gray, squash"));
  const Value json = read_json(*place_ / "same.json");
  EXPECT_EQ(json.at("images").as_array().size(), names_.size());
  EXPECT_EQ(json.at("labels").as_array().size(), 14U);
  EXPECT_TRUE(json.at("unreadable").as_array().empty());
  // One image alone, another batch size and more workers give the same digits.
  place_->must_run(arguments({in("test/" + names_.front()), "--preds", in("one.csv"), "--workers", "3"}));
  EXPECT_THAT(read_all(*place_ / "preds.csv"), StartsWith(read_all(*place_ / "one.csv")));
}

TEST_F(Predict, other_convolutions_move_the_last_digits_only_and_unknown_ones_are_refused) {
  place_->must_run(arguments({in("test"), "--json", in("direct.json"), "--algorithms", "direct"}));
  place_->must_run(arguments({in("test"), "--json", in("winograd.json"), "--algorithms", "winograd"}));
  const Value direct = read_json(*place_ / "direct.json"), winograd = read_json(*place_ / "winograd.json");
  const auto& expected = direct.at("images").as_array();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& probabilities = expected[i].at("probabilities").as_array();
    for (std::size_t k = 0; k < probabilities.size(); ++k) {
      EXPECT_NEAR(winograd.at("images").as_array()[i].at("probabilities").as_array()[k].as_double(),
                  probabilities[k].as_double(), 1e-4);
    }
  }
  for (const char* command : {"predict", "eval"}) {
    std::vector<std::string> fast{command, "--checkpoint", checkpoint(), "--algorithms", "fast"};
    fast.insert(fast.end(), command == std::string("eval") ? 1 : 0, "--data");
    fast.push_back(in(command == std::string("eval") ? "data" : "test"));
    expect_refusal(place_->run(fast),
                   {"algorithms", "auto, direct, winograd, split, split2, pointwise or heuristic, got fast"});
  }
}

TEST_F(Predict, keeps_the_images_of_a_list) {
  const std::string list = in("data/test_list.txt");
  place_->must_run(arguments({in("data/images"), "--list", list, "--preds", in("listed.csv")}));
  EXPECT_EQ(read_all(*place_ / "listed.csv"), read_all(*place_ / "preds.csv"));
  expect_refusal(place_->run(arguments({in("data/images/" + names_[0]), "--list", list})),
                 {"[cli.list] list test_list.txt", "images named"});
}

// Standard output is a file here, as in the log of a batch job.
TEST_F(Predict, prints_image_names_into_files_only_when_told_to) {
  const Ended hidden = place_->must_run(arguments({in("test")}));
  EXPECT_THAT(hidden.out, Not(HasSubstr(names_.front())));
  EXPECT_THAT(hidden.out, HasSubstr("--image-names prints the names"));
  EXPECT_THAT(place_->must_run(arguments({in("test"), "--image-names"})).out, HasSubstr(names_.front()));
}

TEST_F(Predict, can_be_scored_by_eval) {
  place_->must_run(arguments({in("test"), "--preds", in("score.csv")}));
  const Ended eval = place_->must_run({"eval", "--predictions", in("score.csv"), "--labels",
                                       in("data/Data_Entry_2017_v2020.csv"), "--replicates", "0"});
  EXPECT_THAT(eval.out, HasSubstr("Cardiomegaly"));
}

TEST_F(Predict, goes_on_past_files_that_cannot_be_read) {
  const fs::path folder = *place_ / "mixed";
  fs::create_directories(folder);
  fs::copy_file(*place_ / "test" / names_[0], folder / "a.png");
  place_->write("mixed/b\x1b]0;title\x07\x1b[31m.png", "no image");
  place_->write("mixed/c.jpg", "");
  fs::copy_file(*place_ / "test" / names_[1], folder / "d.png");
  const Ended run = place_->run(arguments({folder, "--preds", in("mixed.csv"), "--json", in("mixed.json")}));
  EXPECT_EQ(run.code, 2);
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 2) << run.err;
  EXPECT_THAT(run.err, HasSubstr("b\\x1b]0;title\\x07\\x1b[31m.png: expected "));
  EXPECT_EQ(run.err.find_first_of("\x1b\x07"), std::string::npos);
  EXPECT_THAT(run.err, HasSubstr("c.jpg: expected an image, got an empty file"));
  EXPECT_THAT(run.out, HasSubstr("2 of 4 images could not be read"));
  const std::string csv = read_all(*place_ / "mixed.csv");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3);
  EXPECT_THAT(csv, testing::AllOf(HasSubstr("\na.png,"), HasSubstr("\nd.png,"), Not(HasSubstr("b.png"))));
  EXPECT_EQ(read_json(*place_ / "mixed.json").at("unreadable").as_array().size(), 2U);
}

// Uses operating points as eval writes them, but with known temperature and threshold.
TEST_F(Predict, scales_by_the_stored_temperature_and_calls_by_the_stored_thresholds) {
  Value points = read_json(*place_ / "points.json");
  points.set("temperature", 2.0);
  Value thresholds = points.at("thresholds");
  for (auto& [label, threshold] : thresholds.as_table()) threshold = label == "Edema" ? 0.0 : 1.5;
  points.set("thresholds", thresholds);
  place_->write("known.json", io::to_json(points));
  place_->must_run(arguments({in("test"), "--points", in("known.json"), "--json", in("scaled.json")}));
  place_->must_run(arguments({in("test"), "--json", in("raw.json")}));
  const Value scaled = read_json(*place_ / "scaled.json");
  EXPECT_EQ(scaled.at("temperature"), Value(2.0));
  const auto first = [&](const Value& json) {
    return json.at("images").as_array()[0].at("probabilities").as_array()[3];
  };
  const double raw = first(read_json(*place_ / "raw.json")).as_double();
  const double logit = std::log(raw / (1.0 - raw));
  // Computed from float32 probabilities
  EXPECT_NEAR(first(scaled).as_double(), 1.0 / (1.0 + std::exp(-logit / 2.0)), 1e-6);
  for (const Value& image : scaled.at("images").as_array()) {
    EXPECT_EQ(image.at("called").as_array(), Value::Array{"Edema"});
  }
}

TEST_F(Predict, refuses_points_of_another_model) {
  const std::string image = in("test/" + names_[0]);
  Value points = read_json(*place_ / "points.json");
  points.set("unit", "study, max");
  place_->write("study.json", io::to_json(points));
  expect_refusal(place_->run(arguments({image, "--points", in("study.json")})), {"study.json", "study, max"});
  std::string text = read_all(*place_ / "points.json");
  text.replace(text.find("Hernia"), 6, "Gout");
  place_->write("gout.json", text);
  expect_refusal(place_->run(arguments({image, "--points", in("gout.json")})), {"Hernia"});
  points = read_json(*place_ / "points.json");
  EXPECT_EQ(points.at("weights_sha256").as_string().size(), 64U);
  points.set("weights_sha256", std::string(64, '0'));
  place_->write("others.json", io::to_json(points));
  expect_refusal(place_->run(arguments({image, "--points", in("others.json")})),
                 {"thresholds for these weights", "got thresholds for other weights (000000000000)"});
}

TEST_F(Predict, writes_heat_maps_that_name_no_image_and_scores_them_against_boxes) {
  const Ended run = place_->must_run(arguments({in("test"), "--heatmap", "Cardiomegaly,Edema", "--out", in("maps"),
                                                "--boxes", in("data/BBox_List_2017.csv"), "--json", in("maps.json")}));
  EXPECT_THAT(run.out, HasSubstr("heat-maps (cam)"));
  EXPECT_THAT(run.out, HasSubstr("pointing game"));
  EXPECT_TRUE(fs::exists(*place_ / "maps/000001_Cardiomegaly.png"));
  EXPECT_EQ(fs::file_size(*place_ / "maps/000001_Edema.npy"), 128U + kImagePx * kImagePx * sizeof(float));
  for (const fs::directory_entry& entry : fs::directory_iterator(*place_ / "maps")) {
    EXPECT_THAT(entry.path().filename().string(), Not(HasSubstr("0000000")));
  }
  const std::string table = read_all(*place_ / "maps/heatmaps.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), static_cast<std::int64_t>(1 + 2 * names_.size()));
  const Value found = read_json(*place_ / "maps.json").at("localisation");
  const Value& all = found.at("all");
  EXPECT_GT(all.at("maps").as_integer(), 0);
  EXPECT_GE(all.at("pointing").as_double(), 0.0);
  EXPECT_LE(all.at("pointing").as_double(), 1.0);
  EXPECT_GT(all.at("pointing_chance").as_double(), 0.0);
  EXPECT_EQ(all.at("accuracy").as_array().size(), 7U);
  EXPECT_EQ(found.at("images_trained_on"), Value(0));
  EXPECT_THAT(run.out, HasSubstr("pixel check: none of "));
  expect_nothing_half_written(*place_ / "maps");
}

TEST_F(Predict, counts_heat_maps_that_are_nowhere_positive) {
  const Ended run =
      place_->must_run(arguments({in("test"), "--out", in("plain"), "--heatmap", "all", "--json", in("plain.json")}));
  const Value json = read_json(*place_ / "plain.json");
  const std::int64_t plain = json.at("heatmaps_nowhere_positive").as_integer();
  EXPECT_EQ(json.at("heatmaps").as_integer(), static_cast<std::int64_t>(14 * names_.size()));
  std::istringstream lines(read_all(*place_ / "plain/heatmaps.csv"));
  std::int64_t low_ones = 0;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    // Image Index,label,probability,overlay,map,method,low,high,peak_x,peak_y
    std::istringstream fields(line);
    std::string field;
    for (int i = 0; i < 8; ++i) std::getline(fields, field, ',');
    low_ones += std::stod(field) <= 0.0 ? 1 : 0;
  }
  EXPECT_GE(plain, low_ones) << "a map between whose cells the curve swings over zero counts as well";
  EXPECT_GT(plain, 0) << "14 findings of a scarcely trained network";
  EXPECT_THAT(run.out, HasSubstr("of them have no positive evidence"));
}

// Recognises images by their pixels, also under other names.
TEST_F(Predict, scores_no_heat_maps_of_images_that_were_trained_on) {
  const std::vector<std::string> all{in("data/images"), "--boxes", in("data/BBox_List_2017.csv")};
  expect_refusal(place_->run(arguments(plus(all, {"--out", in("seen_maps"), "--preds", in("seen.csv")}))),
                 {"test set: expected no image of the training set", "test images with the pixels of one of the",
                  "--allow-overlap"});
  EXPECT_FALSE(fs::exists(*place_ / "seen_maps"));
  EXPECT_FALSE(fs::exists(*place_ / "seen.csv"));
  const Ended allowed = place_->must_run(arguments(plus(all, {"--allow-overlap", "--json", in("seen.json")})));
  EXPECT_THAT(allowed.err, HasSubstr("no image of the training set"));
  const Value found = read_json(*place_ / "seen.json").at("localisation");
  EXPECT_GT(found.at("images_trained_on").as_integer(), 0);
  EXPECT_LT(found.at("images_trained_on").as_integer(), found.at("images").as_integer());

  std::string boxes = "image,label,x,y,w,h\n";
  fs::create_directories(*place_ / "renamed");
  for (const fs::directory_entry& entry : fs::directory_iterator(*place_ / "data/images")) {
    const std::string other = "other_" + entry.path().filename().string();
    fs::copy_file(entry.path(), *place_ / "renamed" / other);
    boxes += other + ",Mass,100,200,300,400\n";
  }
  expect_refusal(place_->run(arguments({in("renamed"), "--boxes", place_->write("renamed.csv", boxes).string()})),
                 {"no image of the training set", " of 120 test images"});
  // Printing probabilities alone needs no such check.
  place_->must_run(arguments({in("data/images")}));
  expect_refusal(place_->run(arguments({in("test"), "--allow-overlap"})), {"--boxes FILE or --masks DIR is missing"});
}

// The label table's boxes name fewer findings than there are masks: findings that no label names have only a mask.
TEST_F(Predict, scores_heat_maps_against_exact_masks) {
  place_->must_run(
      {"synth", in("masked"), "--images", "40", "--size", std::to_string(kImagePx), "--masks", "--seed", "77"});
  const auto score = [&](const std::vector<std::string>& more) {
    const Ended run = place_->must_run(
        arguments(plus({in("masked/images"), "--masks", in("masked/masks"), "--json", in("masked.json")}, more)));
    EXPECT_THAT(run.out, HasSubstr("pointing at masks"));
    return read_json(*place_ / "masked.json").at("localisation").at("all");
  };
  const Value alone = score({});
  EXPECT_EQ(alone.find("pointing"), nullptr);
  std::int64_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(*place_ / "masked/masks")) {
    files += entry.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(alone.at("masks").as_integer(), files);
  EXPECT_GT(alone.at("mask_pointing_chance").as_double(), 0.0);
  EXPECT_LT(alone.at("mask_pointing_chance").as_double(), 0.5);
  EXPECT_LE(alone.at("mask_pointing").as_double(), 1.0);
  const Value both = score({"--boxes", in("masked/BBox_List_2017.csv")});
  // A finding completely hidden by another has a box, but changes no pixel.
  EXPECT_LE(both.at("masks").as_integer(), both.at("maps").as_integer());
  EXPECT_GE(2 * both.at("masks").as_integer(), both.at("maps").as_integer());
  EXPECT_LT(both.at("masks").as_integer(), files);
  EXPECT_LT(both.at("mask_pointing_chance").as_double(), both.at("pointing_chance").as_double());

  const Ended whole = place_->must_run(arguments({in("masked"), "--masks", in("masked/masks")}));
  EXPECT_THAT(whole.out, HasSubstr("40 images in")) << "masks are no radiographs";
  expect_refusal(place_->run(arguments({in("masked/images"), "--masks", in("none")})), {"a folder of masks"});
  expect_refusal(place_->run(arguments({in("masked/images"), "--masks", in("masked/images")})),
                 {"folders with the names of the checkpoint's labels"});
  fs::create_directories(*place_ / "other");
  fs::copy_file(*place_ / "test" / names_[0], *place_ / "other/someone.png");
  expect_refusal(place_->run(arguments({in("other"), "--masks", in("masked/masks")})), {"masks for these images"});
}

// With another layer between pooling and logits there is no class activation map, but there is a gradient.
TEST_F(Predict, explains_networks_without_a_pooled_linear_head_by_gradients) {
  constexpr std::string_view kNet = R"(graph "deeper"
input image (N, C, S, S)
conv = conv2d(image, out=16, kernel=3x3, stride=4x4, pad=1x1)
act = relu(conv)
pool = max_pool(act)
flat = flatten(pool)
mid = linear(flat, out=16)
act2 = relu(mid)
fc = linear(act2, out=K)
output logits = fc
)";
  place_->must_run({"train", "--data", in("data"), "--recipe", in("recipe.toml"), "--out", in("deep"), "--model",
                    place_->write("deeper.txt", kNet).string(), "--set", "train.epochs=1"});
  const Ended run = place_->must_run({"predict", "--checkpoint", in("deep/checkpoints/best.safetensors"),
                                      in("test/" + names_[0]), "--out", in("deep_maps"), "--heatmap", "all"});
  EXPECT_THAT(run.out, HasSubstr("14 heat-maps (grad-cam)"));
}

TEST_F(Predict, refuses_what_it_cannot_do) {
  const std::string image = in("test/" + names_[0]);
  fs::create_directories(*place_ / "empty");
  expect_refusal(place_->run(arguments({in("none.png")})), {"none.png", "no such file"});
  expect_refusal(place_->run(arguments({in("empty")})), {"empty", "PNG or JPEG files (.png, .jpg, .jpeg)"});
  expect_refusal(place_->run(arguments({image, image})), {"each image once"});
  expect_refusal(place_->run({"predict", "--checkpoint", image, image}), {names_[0]});
  expect_refusal(place_->run({"predict", "--checkpoint", in("gone.safetensors"), image}), {"gone.safetensors"});
  expect_refusal(place_->run({"predict", image}), {"--checkpoint"});
  expect_refusal(place_->run(arguments({image, "--heatmap", "Gout", "--out", in("x")})), {"'Gout'", "Cardiomegaly"});
  expect_refusal(place_->run(arguments({image, "--heatmap", "all"})), {"--out DIR"});
  expect_refusal(place_->run(arguments({image, "--out", in("run")})), {"a new or empty folder"});
  expect_refusal(place_->run(arguments({image, "--boxes", in("data/test_list.txt")})), {"test_list.txt"});
  expect_refusal(place_->run(arguments({in("data/images"), "--boxes",
                                        place_
                                            ->write("b.csv",
                                                    "image,label,x,y,w,h\n"
                                                    "none.png,Mass,1,2,3,4\n")
                                            .string()})),
                 {"got no match among 1 box"});
  expect_refusal(place_->run(arguments({image, "--batch", "0"})), {"--batch"});
  EXPECT_FALSE(fs::exists(*place_ / "x"));
}

TEST_F(Predict, writes_nothing_over_or_beside_what_it_reads) {
  const std::string image = in("test/" + names_[0]);
  const std::string before = read_all(image);
  expect_refusal(place_->run(arguments({image, "--preds", image})), {"--preds"});
  expect_refusal(place_->run(arguments({image, "--json", image})), {"--json"});
  expect_refusal(place_->run(arguments({in("test"), "--preds", in("test/new.csv")})), {"--preds"});
  expect_refusal(place_->run(arguments({in("test"), "--json", in("test/new.json")})), {"--json"});
  expect_refusal(place_->run(arguments({in("test"), "--out", in("test/maps")})), {"--out"});
  expect_refusal(place_->run(arguments({image, "--preds", checkpoint()})), {"--checkpoint"});
  fs::create_directories(in("masks"));
  expect_refusal(place_->run(arguments({image, "--masks", in("masks"), "--preds", in("masks/new.csv")})), {"--preds"});
  EXPECT_EQ(read_all(image), before);
  EXPECT_FALSE(fs::exists(*place_ / "test/maps"));
}

// A job that fails after it has begun to write the csv leaves no csv.
TEST_F(Predict, leaves_no_csv_of_a_job_that_was_refused) {
  const std::string image = in("test/" + names_[0]);
  expect_refusal(place_->run(arguments({image, "--preds", in("no.csv"), "--out", in("data")})), {"--out"});
  EXPECT_FALSE(fs::exists(*place_ / "no.csv"));
  expect_nothing_half_written(place_->root());
}

}  // namespace
}  // namespace roentgen::e2e
