// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
#include "python/core/python_terms.h"

#include <gtest/gtest.h>

namespace roentgen::python {
namespace {

TEST(PythonTerms, options_become_arguments) {
  EXPECT_EQ(python_terms("[data.source] x: expected a data folder, got a file; try another --data"),
            "[data.source] x: expected a data folder, got a file; try another data folder");
  EXPECT_EQ(python_terms("try --set data.csv=FILE if the table has another name"),
            "try the setting data.csv=FILE if the table has another name");
  EXPECT_EQ(python_terms("[cli.train] --resume: expected a run in --out, or --recipe to start one"),
            "[python.train] resume=True: expected a run in out, or recipe to start one");
  EXPECT_EQ(python_terms("try --overwrite to start again, or another --out"),
            "try overwrite=True to start again, or another out");
  EXPECT_EQ(python_terms("try a test set without these images (--list FILE selects images), or --allow-overlap to "
                         "compute the metrics"),
            "try a test set without these images, or allow_overlap=True to compute the metrics");
  EXPECT_EQ(python_terms("(--fold-batch-norm)"), "(fold_batch_norm)");
  EXPECT_EQ(python_terms("first\n--out"), "first\nout");
}

TEST(PythonTerms, command_lines_and_other_text_stay) {
  for (const char* text : {"roentgen train --keys for all keys and what they take",
                           "a file of roentgen bench choose --write", "pages 1--2, a -- b, --", "", "label a--b"}) {
    EXPECT_EQ(python_terms(text), text);
  }
  EXPECT_EQ(python_terms("roentgen copy-local A B, or --data elsewhere"),
            "roentgen copy-local A B, or data folder elsewhere");
}

}  // namespace
}  // namespace roentgen::python
