// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// roentgen report: the page of a short run, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/e2e/program.h"

namespace roentgen::e2e {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// One short training for all tests.
class Report : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    place_ = std::make_unique<Workplace>();
    const fs::path data = place_->synth("data", 120);
    place_->must_run(plus(place_->train_arguments(data, "run"), {"--set", "train.epochs=1"}));
    place_->must_run({"eval", "--checkpoint", in("run/checkpoints/best.safetensors"), "--data", data, "--split", "test",
                      "--replicates", "100", "--json", in("eval.json"), "--preds", in("preds.csv")});
  }
  static void TearDownTestSuite() { place_.reset(); }
  static std::string in(std::string_view name) { return (*place_ / name).string(); }
  static std::string labels() { return in("data/Data_Entry_2017_v2020.csv"); }
  static std::unique_ptr<Workplace> place_;
};
std::unique_ptr<Workplace> Report::place_;

TEST_F(Report, page_has_all_parts_and_needs_nothing_else) {
  place_->must_run({"report", in("run"), "--evaluation", in("eval.json"), "--preds", in("preds.csv"), "--labels",
                    labels(), "--out", in("report.html")});
  const std::string page = read_all(*place_ / "report.html");
  for (const char* text : {"not a medical device", "SHA-256", "AUROC by finding", "ROC curves", "Reliability", "Loss",
                           "Validation AUROC", "Learning rate", "[optimizer]", "Cardiomegaly", "Intervals: "}) {
    EXPECT_THAT(page, HasSubstr(text)) << text;
  }
  for (const char* text : {"http:", "https:", "src=", "href=", "<script", ".png", "class=\"absent\">No"}) {
    EXPECT_THAT(page, Not(HasSubstr(text))) << text;
  }
  EXPECT_THAT(page, Not(HasSubstr(in(""))));
  EXPECT_THAT(page, Not(HasSubstr("other images than those")));
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
  refused({in("run"), "--preds", in("preds.csv"), "--out", out}, "--labels FILE");
  refused({in("run"), "--evaluation", in("run/data.json"), "--out", out}, "auroc.labels");
  refused({in("run"), "--evaluation", in("none.json"), "--out", out}, "none.json");
  refused({in("run"), "--labels", labels(), "--preds", in("none.csv"), "--out", out}, "none.csv");
  refused({in("run"), "--evaluation", in("eval.json"), "--out", in("eval.json")}, "that of --evaluation");
  refused({in("run"), "--labels", labels(), "--preds", in("preds.csv"), "--out", in("preds.csv")}, "that of --preds");
  refused({in("run"), "--out", in("run/log.jsonl")}, "log.jsonl");
  refused({in("run"), "--out", in("no/report.html")}, "no");
  EXPECT_FALSE(fs::exists(out));
}

}  // namespace
}  // namespace roentgen::e2e
