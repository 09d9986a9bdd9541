// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// List of all findings, in the order of CheXNet's 14 labels. A new finding needs one file in findings/ that defines
// plant_NAME, and one line here.
#pragma once

// X(enumerator, function suffix, name as label files write it, rank, persistence, NIH prevalence)
//   rank        0 to 1: position in the requested range of prevalences, in the order of NIH ChestX-ray14's counts
//   persistence probability that a follow-up keeps the patient's draw instead of a new one
//   NIH prevalence: share of NIH ChestX-ray14's 112,120 images labelled with it (Data_Entry_2017_v2020.csv)
// clang-format off
#define RG_SYNTH_FINDING_LIST(X)                                                                        \
  X(Atelectasis,       atelectasis,        "Atelectasis",        0.80, 0.3, 11559.0 / 112120)           \
  X(Cardiomegaly,      cardiomegaly,       "Cardiomegaly",       0.35, 0.9, 2776.0 / 112120)            \
  X(Effusion,          effusion,           "Effusion",           0.90, 0.4, 13317.0 / 112120)           \
  X(Infiltration,      infiltration,       "Infiltration",       1.00, 0.3, 19894.0 / 112120)           \
  X(Mass,              mass,               "Mass",               0.65, 0.8, 5782.0 / 112120)            \
  X(Nodule,            nodule,             "Nodule",             0.70, 0.8, 6331.0 / 112120)            \
  X(Pneumonia,         pneumonia,          "Pneumonia",          0.10, 0.3, 1431.0 / 112120)            \
  X(Pneumothorax,      pneumothorax,       "Pneumothorax",       0.60, 0.3, 5302.0 / 112120)            \
  X(Consolidation,     consolidation,      "Consolidation",      0.50, 0.3, 4667.0 / 112120)            \
  X(Edema,             edema,              "Edema",              0.25, 0.3, 2303.0 / 112120)            \
  X(Emphysema,         emphysema,          "Emphysema",          0.30, 0.9, 2516.0 / 112120)            \
  X(Fibrosis,          fibrosis,           "Fibrosis",           0.20, 0.9, 1686.0 / 112120)            \
  X(PleuralThickening, pleural_thickening, "Pleural_Thickening", 0.40, 0.8, 3385.0 / 112120)            \
  X(Hernia,            hernia,             "Hernia",             0.00, 0.9, 227.0 / 112120)
// clang-format on
