# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Checks of doctor that start ranks themselves.
if(RG_MPI_FAMILIES AND TARGET roentgen)
  add_test(NAME Doctor.net_measures_links COMMAND roentgen doctor net)
  add_test(NAME Doctor.hosts_are_examined COMMAND roentgen doctor --hosts localhost)
  set_tests_properties(Doctor.net_measures_links Doctor.hosts_are_examined PROPERTIES LABELS parallel TIMEOUT 120
    PROCESSORS 2 ENVIRONMENT "${RG_ENVIRONMENT}")
  set_tests_properties(Doctor.net_measures_links PROPERTIES PASS_REGULAR_EXPRESSION "rank 1 +[0-9.]+ +-")
  set_tests_properties(Doctor.hosts_are_examined PROPERTIES PASS_REGULAR_EXPRESSION "\n(nothing is wrong|  try )")
endif()
