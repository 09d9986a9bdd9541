// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// Parts of the Python module roentgen._native, each defined in its own source file. The package roentgen
// (python/roentgen) is the interface for users: it names arguments, contains the documentation, and makes data frames.
#pragma once

#include <nanobind/nanobind.h>

namespace roentgen::python {

void add_dataset(nanobind::module_& module);     ///< data sets (dataset.cpp)
void add_evaluation(nanobind::module_& module);  ///< functions for data and metrics of a run (evaluation.cpp)
void add_loader(nanobind::module_& module);      ///< batches (loader.cpp)
void add_model(nanobind::module_& module);       ///< class that predicts with a checkpoint (model.cpp)
void add_scores(nanobind::module_& module);      ///< functions for AUROCs and comparisons of models (scores.cpp)
void add_training(nanobind::module_& module);    ///< training runs (training.cpp)

}  // namespace roentgen::python
