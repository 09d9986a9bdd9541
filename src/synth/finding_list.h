// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of findings, in the canonical order of CheXNet's 14 labels. A new finding is one file in findings/ that
// defines plant_NAME, and one line here.
#pragma once

// X(enumerator, function suffix, name as label files write it, rank, persistence)
//   rank        0 to 1: place in the asked range of prevalences, in the order of NIH ChestX-ray14's counts
//   persistence chance that a follow-up shows the patient's own draw rather than a fresh one
// clang-format off
#define RG_SYNTH_FINDING_LIST(X)                                                  \
  X(Atelectasis,       atelectasis,        "Atelectasis",        0.80, 0.3)       \
  X(Cardiomegaly,      cardiomegaly,       "Cardiomegaly",       0.35, 0.9)       \
  X(Effusion,          effusion,           "Effusion",           0.90, 0.4)       \
  X(Infiltration,      infiltration,       "Infiltration",       1.00, 0.3)       \
  X(Mass,              mass,               "Mass",               0.65, 0.8)       \
  X(Nodule,            nodule,             "Nodule",             0.70, 0.8)       \
  X(Pneumonia,         pneumonia,          "Pneumonia",          0.10, 0.3)       \
  X(Pneumothorax,      pneumothorax,       "Pneumothorax",       0.60, 0.3)       \
  X(Consolidation,     consolidation,      "Consolidation",      0.50, 0.3)       \
  X(Edema,             edema,              "Edema",              0.25, 0.3)       \
  X(Emphysema,         emphysema,          "Emphysema",          0.30, 0.9)       \
  X(Fibrosis,          fibrosis,           "Fibrosis",           0.20, 0.9)       \
  X(PleuralThickening, pleural_thickening, "Pleural_Thickening", 0.40, 0.8)       \
  X(Hernia,            hernia,             "Hernia",             0.00, 0.9)
// clang-format on
