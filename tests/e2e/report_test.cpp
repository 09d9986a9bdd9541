// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Tests roentgen report: the page of a short run, and refusals.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <sstream>

#include "data/codec/codec.h"
#include "io/json.h"
#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// Fixture with one short training run for all tests.
class Report : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = std::make_unique<Workplace>();
    const fs::path data = place_->synth("data", 120);
    place_->must_run(plus(place_->train_arguments(data, "run"), {"--set", "train.epochs=1"}));
    place_->must_run({"eval", "--checkpoint", in("run/checkpoints/best.safetensors"), "--data", data, "--split", "test",
                      "--metrics", "all", "--replicates", "100", "--json", in("eval.json"), "--preds",
                      in("preds.csv")});
  }
  static void TearDownTestSuite() { place_.reset(); }
  static std::string in(std::string_view name) { return (*place_ / name).string(); }
  static std::string labels() { return in("data/Data_Entry_2017_v2020.csv"); }
  // Creates a page of the test images with a gallery, and returns its text.
  static std::string page(const std::string& name, const std::vector<std::string>& more) {
    place_->must_run(plus({"report", in("run"), "--evaluation", in("eval.json"), "--preds", in("preds.csv"), "--labels",
                           labels(), "--data", in("data"), "--out", in(name)},
                          more));
    return read_all(*place_ / name);
  }
  // Expected number of images in the gallery: `cases` of each finding, or all there are, counted from the evaluation.
  static int expected_cases(std::int64_t cases) {
    std::int64_t sum = 0;
    const Value evaluation = read_json(*place_ / "eval.json");
    for (const auto& [label, row] : evaluation.at("auroc").at("labels").as_table()) {
      const std::int64_t positives = row.at("positives").as_integer();
      sum += std::min(cases, positives) + std::min(cases, row.at("n").as_integer() - positives);
    }
    return static_cast<int>(sum);
  }
  static std::unique_ptr<Workplace> place_;
};
std::unique_ptr<Workplace> Report::place_;

int count(const std::string& text, std::string_view part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST_F(Report, page_has_all_parts_and_needs_nothing_else) {
  const std::string page = Report::page("report.html", {});
  for (const char* text : {"not a medical device", "SHA-256", "AUROC by finding", "ROC curves", "Reliability", "Loss",
                           "Validation AUROC", "Learning rate", "[optimizer]", "Cardiomegaly",
                           "Intervals: ", "Training report: run", "Chosen by F1 on", "PPV"}) {
    EXPECT_THAT(page, HasSubstr(text)) << text;
  }
  EXPECT_EQ(count(page, "href="), count(page, "href=\"#"));
  for (const char* text : {"http:", "https:", "<script", ".png", "class=\"absent\">No"}) {
    EXPECT_THAT(page, Not(HasSubstr(text))) << text;
  }
  EXPECT_THAT(page, Not(HasSubstr(in(""))));
  EXPECT_EQ(count(page, "src="), count(page, "src=\"data:image/jpeg;base64,/9j/")) << "pictures are inside";
  EXPECT_THAT(page, Not(HasSubstr("other images than those")));
}

TEST_F(Report, forest_plot_is_a_picture_of_its_own) {
  const std::string page = Report::page("with_forest.html", {"--gallery", "0", "--forest", in("forest.svg")});
  const std::string svg = read_all(*place_ / "forest.svg");
  EXPECT_THAT(svg, StartsWith("<svg xmlns="));
  EXPECT_THAT(svg, HasSubstr("Cardiomegaly"));
  EXPECT_THAT(page, HasSubstr(svg.substr(svg.find("<text"))));
}

// Differences on the page equal those of roentgen compare, for a second run with another seed.
TEST_F(Report, two_runs_stand_side_by_side_with_paired_differences) {
  place_->must_run(
      plus(place_->train_arguments(*place_ / "data", "second"), {"--set", "train.epochs=1", "--set", "train.seed=7"}));
  place_->must_run({"eval", "--checkpoint", in("second/checkpoints/best.safetensors"), "--data", in("data"), "--split",
                    "test", "--replicates", "100", "--json", in("eval2.json"), "--preds", in("preds2.csv")});
  place_->must_run({"compare", in("preds.csv"), in("preds2.csv"), "--labels", labels(), "--json", in("compare.json")});
  const std::string page = Report::page("two.html", {"--gallery", "1", "--beside", in("second"), "--beside-evaluation",
                                                     in("eval2.json"), "--beside-preds", in("preds2.csv")});
  for (const char* text : {"Training report: run beside second", "A: run", "B: second", "A training", "B validation",
                           "train.seed", "Heat-maps and probabilities of A"}) {
    EXPECT_THAT(page, HasSubstr(text)) << text;
  }
  const Value comparison = read_json(*place_ / "compare.json");
  for (const auto& [label, row] : comparison.at("labels").as_table()) {
    const Value& delta = row.at("delta");
    if (delta.find("value")->is_null()) continue;  // one class only
    EXPECT_THAT(page, HasSubstr(fmt::format(">{:+.3f}", delta.at("value").as_double()))) << label;
  }
  EXPECT_THAT(page, Not(HasSubstr(in(""))));
  // Without evaluations, the page uses the runs' own predictions, or only their validation metrics.
  place_->must_run({"report", in("run"), "--beside", in("second"), "--labels", labels(), "--out", in("two_val.html")});
  EXPECT_THAT(read_all(*place_ / "two_val.html"), HasSubstr("on these very images), for A and B"));
  place_->must_run({"report", in("run"), "--beside", in("second"), "--out", in("two_bare.html")});
  EXPECT_THAT(read_all(*place_ / "two_bare.html"), HasSubstr("No differences"));
  const auto refused = [&](const std::vector<std::string>& more, const std::string& words) {
    expect_refusal(place_->run(plus({"report", in("run"), "--out", in("no_two.html"), "--beside"}, more)), {words});
  };
  refused({in("data")}, "a run folder with recipe.toml and log.jsonl");
  refused({in("second"), "--evaluation", in("eval.json")}, "--evaluation and --beside-evaluation, or neither");
  refused({in("second"), "--labels", labels(), "--preds", in("preds.csv")}, "--preds and --beside-preds, or neither");
  refused({in("second"), "--labels", labels(), "--preds", in("preds.csv"), "--beside-preds", in("second/preds.csv")},
          "predictions of the same images");
  refused(
      {in("second"), "--evaluation", in("eval.json"), "--beside-evaluation", in("eval2.json"), "--labels", labels()},
      "predictions for the images of --evaluation");
  place_->must_run({"eval", "--checkpoint", in("second/checkpoints/best.safetensors"), "--data", in("data"), "--split",
                    "val", "--replicates", "0", "--json", in("eval_val.json")});
  refused({in("second"), "--evaluation", in("eval.json"), "--beside-evaluation", in("eval_val.json")},
          "results on the images of run (list ");
  std::string other = read_all(*place_ / "eval2.json");
  for (auto at = other.find("Mass"); at != std::string::npos; at = other.find("Mass", at)) other.replace(at, 4, "Lump");
  refused({in("second"), "--evaluation", in("eval.json"), "--beside-evaluation", place_->write("lump.json", other)},
          "two runs with the same labels");
  // Evaluations of prediction files name no weights; their metrics identify the predictions.
  for (const char* number : {"", "2"}) {
    place_->must_run({"eval", "--predictions", in(fmt::format("preds{}.csv", number)), "--labels", labels(),
                      "--replicates", "0", "--json", in(fmt::format("file_eval{}.json", number))});
  }
  const auto with_files = [&](const char* a, const char* b) {
    return std::vector<std::string>{in("second"),
                                    "--evaluation",
                                    in(a),
                                    "--beside-evaluation",
                                    in(b),
                                    "--preds",
                                    in("preds.csv"),
                                    "--beside-preds",
                                    in("preds2.csv"),
                                    "--labels",
                                    labels()};
  };
  place_->must_run(plus({"report", in("run"), "--out", in("two_files.html"), "--beside"},
                        with_files("file_eval.json", "file_eval2.json")));
  refused(with_files("file_eval2.json", "file_eval.json"), "file_eval2.json: ");
  refused(with_files("file_eval.json", "file_eval.json"), "preds2.csv: expected ");
  // Validation metrics with two versions of the label table.
  fs::copy(*place_ / "second", *place_ / "other_labels", fs::copy_options::recursive);
  std::string data = read_all(*place_ / "second/data.json");
  const std::size_t hash = data.find("\"sha256\"");
  ASSERT_NE(hash, std::string::npos);
  data.replace(data.find(':', hash), 8, ": \"abcde");
  place_->write("other_labels/data.json", data);
  refused({in("other_labels")}, "the same label tables as run: ");
  fs::remove(*place_ / "other_labels/data.json");
  refused({in("other_labels")}, "got an unknown number");
  EXPECT_FALSE(fs::exists(*place_ / "no_two.html"));
}

// Curves from one version of the labels next to metrics from another version.
TEST_F(Report, other_labels_than_the_evaluations_are_refused_by_finding_and_values) {
  std::string table = read_all(labels());
  const std::string first = read_all(*place_ / "preds.csv");
  const std::size_t begin = first.find('\n') + 1;
  const std::size_t row = table.find(first.substr(begin, first.find(',', begin) - begin));
  ASSERT_NE(row, std::string::npos);
  const std::size_t findings = table.find(',', row) + 1;
  const std::string old = table.substr(findings, table.find(',', findings) - findings);
  const std::string label = old.find("Hernia") == std::string::npos ? "Hernia" : "Mass";
  table.replace(findings, old.size(), label);
  expect_refusal(place_->run({"report", in("run"), "--evaluation", in("eval.json"), "--preds", in("preds.csv"),
                              "--labels", place_->write("flipped.csv", table).string(), "--out", in("flipped.html")}),
                 {"preds.csv: expected ", " of " + in("eval.json") + ": ", " positive of ", ", got ",
                  "the predictions and labels of this evaluation"});
  EXPECT_FALSE(fs::exists(*place_ / "flipped.html"));
}

TEST_F(Report, an_evaluation_by_study_is_recomputed_by_study) {
  place_->must_run({"eval", "--checkpoint", in("run/checkpoints/best.safetensors"), "--data", in("data"), "--split",
                    "test", "--by", "study", "--replicates", "0", "--json", in("studies.json")});
  const std::vector<std::string> words = {"report", in("run"), "--preds", in("preds.csv"), "--labels", labels()};
  place_->must_run(plus(words, {"--evaluation", in("studies.json"), "--out", in("studies.html")}));
  EXPECT_THAT(read_all(*place_ / "studies.html"), HasSubstr("known studies"));
  expect_refusal(
      place_->run(plus(words, {"--evaluation", in("eval.json"), "--beside", in("run"), "--beside-evaluation",
                               in("studies.json"), "--beside-preds", in("preds.csv"), "--out", in("two_units.html")})),
      {"studies.json: expected "});
}

TEST_F(Report, an_evaluation_without_weights_is_checked_by_its_predictions_alone) {
  place_->must_run({"eval", "--predictions", in("preds.csv"), "--labels", labels(), "--replicates", "0", "--json",
                    in("no_weights.json")});
  const std::vector<std::string> bare = {
      "report", in("run"), "--evaluation", in("no_weights.json"), "--out", in("no_weights.html")};
  EXPECT_THAT(place_->must_run(bare).err, HasSubstr("no_weights.json names no weights"));
  EXPECT_THAT(place_->must_run(plus(bare, {"--preds", in("preds.csv"), "--labels", labels()})).err,
              Not(HasSubstr("names no weights")));
}

TEST_F(Report, gallery_has_the_worst_errors_of_every_finding_with_heat_maps) {
  const std::string three = page("three.html", {});
  EXPECT_EQ(count(three, "<figure>"), expected_cases(3));
  EXPECT_EQ(count(three, "data:image/jpeg;base64,"), 2 * expected_cases(3));
  EXPECT_THAT(three, HasSubstr("labelled negative, most probable"));
  EXPECT_THAT(three, HasSubstr("protect it like the images"));
  EXPECT_THAT(three, Not(HasSubstr("not those of this checkpoint")));
  EXPECT_EQ(count(page("one.html", {"--gallery", "1"}), "<figure>"), expected_cases(1));
  EXPECT_EQ(page("again.html", {}), three);
  const std::string named = page("named.html", {"--image-names", "--gallery", "1"});
  EXPECT_EQ(count(named, ".png</figcaption>"), expected_cases(1));
  EXPECT_LT(three.size(), 6'500'000U);
}

TEST_F(Report, gallery_that_cannot_be_is_said_in_a_line) {
  EXPECT_THAT(page("none.html", {"--gallery", "0"}), HasSubstr("None was asked for"));
  place_->must_run({"report", in("run"), "--labels", labels(), "--out", in("nodata.html")});
  EXPECT_THAT(read_all(*place_ / "nodata.html"), HasSubstr(">--data DIR fills this section"));
  place_->must_run({"report", in("run"), "--out", in("bare.html")});
  EXPECT_THAT(read_all(*place_ / "bare.html"), HasSubstr(">--data DIR with --labels PATH fills this section"));
  place_->must_run({"report", in("run"), "--data", in("data"), "--out", in("nolabels.html")});
  EXPECT_THAT(read_all(*place_ / "nolabels.html"), HasSubstr("No truth to tell errors by"));
  const fs::path bare = *place_ / "bare";
  fs::copy(*place_ / "run", bare, fs::copy_options::recursive);
  fs::remove_all(bare / "checkpoints");
  place_->must_run({"report", bare, "--labels", labels(), "--data", in("data"), "--out", in("bare.html")});
  EXPECT_THAT(read_all(*place_ / "bare.html"), HasSubstr("no checkpoints/best.safetensors"));
}

// Two predictions whose names match one file: its picture would be shown for the wrong one.
TEST_F(Report, gallery_takes_no_picture_twice) {
  const std::string both = "Image Index,prob_Mass\nf0/a.png,0.25\nf1/a.png,0.5\n";
  const std::string truth = "path,patient,Mass\nf0/a.png,1,1\nf1/a.png,2,0\n";
  fs::create_directories(*place_ / "one_picture");
  fs::copy_file(fs::directory_iterator(*place_ / "data/images")->path(), *place_ / "one_picture/a.png");
  expect_refusal(
      place_->run({"report", in("run"), "--preds", place_->write("both.csv", both).string(), "--labels",
                   place_->write("truth.csv", truth).string(), "--data", in("one_picture"), "--out", in("twice.html")}),
      {"expected the 2 images of the gallery, each with a different file name, got 1 of them: f1/a.png is the file of "
       "another "
       "one"});
  const std::string missing = "Image Index,prob_Mass\na.png,0.25\ngone.png,0.5\n";
  expect_refusal(
      place_->run({"report", in("run"), "--preds", place_->write("missing.csv", missing).string(), "--labels",
                   place_->write("truth2.csv", "path,patient,Mass\na.png,1,1\ngone.png,2,0\n").string(), "--data",
                   in("one_picture"), "--out", in("twice.html")}),
      {"got 1 of them: gone.png is not there"});
  EXPECT_FALSE(fs::exists(*place_ / "twice.html"));
}

// The last feature map has only one cell, so there are no heat-maps.
TEST_F(Report, gallery_of_a_network_without_heat_maps_shows_the_images) {
  constexpr std::string_view kNet = R"(graph "flat"
input image (N, C, S, S)
conv = conv2d(image, out=8, kernel=32x32)
act = relu(conv)
pool = global_avg_pool(act)
flat = flatten(pool)
fc = linear(flat, out=K)
output logits = fc
)";
  place_->must_run({"train", "--data", in("data"), "--recipe", in("recipe.toml"), "--out", in("flat"), "--model",
                    place_->write("flat.txt", kNet).string(), "--set", "train.epochs=1"});
  const Ended run = place_->must_run(
      {"report", in("flat"), "--labels", labels(), "--data", in("data"), "--gallery", "1", "--out", in("flat.html")});
  EXPECT_THAT(run.err, HasSubstr("the gallery has no heat-maps: a last feature map of 1x1"));
  const std::string page = read_all(*place_ / "flat.html");
  EXPECT_GT(count(page, "<figure>"), 0);
  EXPECT_EQ(count(page, "data:image/jpeg;base64,"), count(page, "<figure>"));
}

TEST_F(Report, gallery_of_other_predictions_says_so) {
  std::string csv = read_all(*place_ / "preds.csv");
  const std::size_t row = csv.find('\n') + 1, first = csv.find(',', row) + 1;
  csv.replace(first, csv.find(',', first) - first, "0.999");
  const std::string other = place_->write("other.csv", csv).string();
  EXPECT_THAT(page("other.html", {"--gallery", "24"}), Not(HasSubstr("not those of this checkpoint")));
  place_->must_run({"report", in("run"), "--preds", other, "--labels", labels(), "--data", in("data"), "--gallery",
                    "24", "--out", in("other.html")});
  EXPECT_THAT(read_all(*place_ / "other.html"), HasSubstr("not those of this checkpoint"));
}

// Number of coloured pixels in a screenshot of the page; -1 if there is no browser.
std::int64_t coloured_pixels(const fs::path& page) {
  const char* source = std::getenv("ROENTGEN_SOURCE_DIR");
  const fs::path script =
      (source != nullptr ? fs::path(source) : fs::current_path()) / "tools/peers/report_screenshot.sh";
  const fs::path picture = fs::path(page).replace_extension(".png");
  const std::string command = script.string() + " " + page.string() + " " + picture.string() + " 14000 >/dev/null 2>&1";
  const int status = std::system(command.c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) return -1;
  EXPECT_EQ(status, 0);
  const std::string bytes = read_all(picture);
  data::Image image;
  static_cast<void>(data::Decoder()
                        .decode(std::as_bytes(std::span(bytes)), "screenshot", {.channels = data::Channels::Rgb}, image)
                        .or_throw());
  constexpr int kColour = 50;  // larger than the difference between red, green and blue in antialiased gray text
  std::int64_t coloured = 0;
  const auto samples = image.samples<std::uint8_t>();
  for (std::size_t i = 0; i < samples.size(); i += 3) {
    const auto [low, high] = std::minmax({samples[i], samples[i + 1], samples[i + 2]});
    coloured += high - low > kColour ? 1 : 0;
  }
  return coloured;
}

TEST_F(Report, browser_draws_the_gallery) {
  (void)page("drawn.html", {"--gallery", "1"});
  (void)page("bare_page.html", {"--gallery", "0"});
  const std::int64_t with = coloured_pixels(*place_ / "drawn.html");
  if (with < 0) GTEST_SKIP() << "SKIPPED: no chromium to open the page in; apt-get install chromium";
  const std::int64_t without = coloured_pixels(*place_ / "bare_page.html");
  std::printf("coloured pixels: %ld with the gallery, %ld without\n", static_cast<long>(with),
              static_cast<long>(without));
  // Half of the cases are false positives, which have some evidence in the picture. Expects at least a tenth of such a
  // picture of 150 x 150 pixels (size by the page's CSS) to be coloured.
  EXPECT_GT(with - without, expected_cases(1) / 2 * 150 * 150 / 10);
}

TEST_F(Report, a_run_alone_is_enough_and_its_own_predictions_are_of_validation) {
  place_->must_run({"report", in("run"), "--out", in("alone.html")});
  const std::string page = read_all(*place_ / "alone.html");
  EXPECT_THAT(page, HasSubstr("without intervals"));
  EXPECT_THAT(page, HasSubstr("No truth to hold predictions against"));
  place_->must_run({"report", in("run"), "--labels", labels(), "--out", in("val.html")});
  EXPECT_THAT(read_all(*place_ / "val.html"), HasSubstr("split &quot;val&quot; of the run"));
}

TEST_F(Report, a_log_cut_short_is_read_as_far_as_it_goes) {
  const fs::path copy = *place_ / "copy";
  fs::copy(*place_ / "run", copy, fs::copy_options::recursive);
  place_->write("copy/log.jsonl", read_all(copy / "log.jsonl") + "{\"kind\":\"st");
  place_->must_run({"report", copy, "--out", in("cut.html")});
  EXPECT_TRUE(fs::exists(*place_ / "cut.html"));
}

TEST_F(Report, refuses_in_one_line_and_leaves_nothing) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& words) {
    expect_refusal(place_->run(plus({"report"}, arguments)), {words});
  };
  const std::string out = in("refused.html");
  refused({in("data"), "--out", out}, "a run folder with recipe.toml and log.jsonl");
  refused({in("run"), "--preds", in("preds.csv"), "--out", out}, "--labels PATH");
  refused({in("run"), "--evaluation", in("run/data.json"), "--out", out}, "auroc.labels");
  refused({in("run"), "--evaluation", in("none.json"), "--out", out}, "none.json");
  Value other = read_json(*place_ / "eval.json");
  Value checkpoint = other.at("checkpoint");
  checkpoint.set("weights_sha256", std::string(64, '0'));
  other.set("checkpoint", std::move(checkpoint));
  refused({in("run"), "--evaluation", place_->write("other.json", io::to_json(other)), "--out", out},
          "an evaluation of other weights (000000000000)");
  refused({in("run"), "--labels", labels(), "--preds", in("none.csv"), "--out", out}, "none.csv");
  refused({in("run"), "--evaluation", in("eval.json"), "--out", in("eval.json")}, "that of --evaluation");
  refused({in("run"), "--labels", labels(), "--preds", in("preds.csv"), "--out", in("preds.csv")}, "that of --preds");
  refused({in("run"), "--out", in("run/log.jsonl")}, "log.jsonl");
  refused({in("run"), "--out", in("no/report.html")}, "no");
  refused({in("run"), "--data", in("none"), "--out", out}, "a folder with images, got no such folder");
  refused({in("run"), "--data", in("data"), "--out", in("data/report.html")}, "a path outside the data folder");
  // The run knows its data folder.
  refused({in("run"), "--out", in("data/report.html")}, "a path outside the data folder");
  refused({in("run"), "--forest", in("data/forest.svg"), "--out", out}, "a path outside the data folder");
  refused({in("run"), "--out", in("run/checkpoints/report.html")}, "checkpoints, which belongs to a run");
  refused({in("run"), "--gallery", "25", "--out", out}, "--gallery");
  refused({in("run"), "--beside-preds", in("preds.csv"), "--out", out},
          "--beside RUN with the second run, got no --beside");
  const fs::path one = *place_ / "few/one.png";
  fs::create_directories(one.parent_path());
  fs::copy_file(fs::directory_iterator(*place_ / "data/images")->path(), one, fs::copy_options::overwrite_existing);
  refused({in("run"), "--labels", labels(), "--data", in("few"), "--out", out}, "got 0 of them");
  std::string renamed = read_all(*place_ / "preds.csv");
  renamed.replace(renamed.find("prob_Mass"), 9, "prob_Lump");
  const std::string lump = place_->write("lump.csv", renamed).string();
  std::string truth =
      "Image Index,Atelectasis,Cardiomegaly,Effusion,Infiltration,Lump,Nodule,Pneumonia,Pneumothorax,"
      "Consolidation,Edema,Emphysema,Fibrosis,Pleural_Thickening,Hernia\n";
  std::istringstream rows(renamed);
  std::string row;
  std::getline(rows, row);
  while (std::getline(rows, row)) truth += row.substr(0, row.find(',')) + ",1,0,1,0,1,0,1,0,1,0,1,0,1,0\n";
  refused({in("run"), "--preds", lump, "--labels", place_->write("lump_labels.csv", truth), "--data", in("data"),
           "--out", out},
          "with the labels of the predictions, got no label Lump");
  EXPECT_FALSE(fs::exists(out));
}

}  // namespace
}  // namespace roentgen::e2e
