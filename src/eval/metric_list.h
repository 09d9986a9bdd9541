// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The Roentgen authors
//
// List of all metrics of a label except AUROC (which auroc.h computes faster). A new metric needs a line here and
// `Figure measure_<key>(const MetricInput&)` in metric.cpp.
//   X(enumerator, key in JSON, title in tables, what it needs: see MetricNeeds, MetricClasses)
#pragma once

#define RG_METRIC_LIST(X)                                                                           \
  X(Auprc, auprc, "AUPRC", Counts, Apart)                                                           \
  X(SensitivityAtSpecificity90, sensitivity_at_specificity_90, "sens. at 90% spec.", Counts, Apart) \
  X(SensitivityAtSpecificity95, sensitivity_at_specificity_95, "sens. at 95% spec.", Counts, Apart) \
  X(SpecificityAtSensitivity90, specificity_at_sensitivity_90, "spec. at 90% sens.", Counts, Apart) \
  X(SpecificityAtSensitivity95, specificity_at_sensitivity_95, "spec. at 95% sens.", Counts, Apart) \
  X(F1, f1, "F1", Threshold, Apart)                                                                 \
  X(Sensitivity, sensitivity, "sensitivity", Threshold, Apart)                                      \
  X(Specificity, specificity, "specificity", Threshold, Apart)                                      \
  X(Ppv, ppv, "PPV", Threshold, Apart)                                                              \
  X(Npv, npv, "NPV", Threshold, Apart)                                                              \
  X(Brier, brier, "Brier", Counts, Pooled)                                                          \
  X(Ece, ece, "ECE", Counts, Pooled)                                                                \
  X(BrierScaled, brier_scaled, "Brier, scaled", Temperature, Pooled)                                \
  X(EceScaled, ece_scaled, "ECE, scaled", Temperature, Pooled)
