// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// The one list of a label's figures beside its AUROC (which auroc.h computes faster than through counts). A new one is
// a line here and `Figure measure_<key>(const MetricInput&)` in metric.cpp.
//   X(enumerator, key in JSON, title in tables, what it needs: see MetricNeeds)
#pragma once

#define RG_METRIC_LIST(X)                                                                    \
  X(Auprc, auprc, "AUPRC", Counts)                                                           \
  X(SensitivityAtSpecificity90, sensitivity_at_specificity_90, "sens. at 90% spec.", Counts) \
  X(SensitivityAtSpecificity95, sensitivity_at_specificity_95, "sens. at 95% spec.", Counts) \
  X(SpecificityAtSensitivity90, specificity_at_sensitivity_90, "spec. at 90% sens.", Counts) \
  X(SpecificityAtSensitivity95, specificity_at_sensitivity_95, "spec. at 95% sens.", Counts) \
  X(F1, f1, "F1", Threshold)                                                                 \
  X(Sensitivity, sensitivity, "sensitivity", Threshold)                                      \
  X(Specificity, specificity, "specificity", Threshold)                                      \
  X(Ppv, ppv, "PPV", Threshold)                                                              \
  X(Npv, npv, "NPV", Threshold)                                                              \
  X(Brier, brier, "Brier", Counts)                                                           \
  X(Ece, ece, "ECE", Counts)                                                                 \
  X(BrierScaled, brier_scaled, "Brier, scaled", Temperature)                                 \
  X(EceScaled, ece_scaled, "ECE, scaled", Temperature)
