# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Run by CPack before it packs the Debian packages. Adds copyright file and changelog to each package, and compresses
# man pages, as Debian's policy requires.
if(NOT CPACK_GENERATOR STREQUAL DEB)
  return()
endif()
find_program(python python3 REQUIRED)
execute_process(COMMAND ${python} ${CMAKE_CURRENT_LIST_DIR}/../tools/bundle.py --copyright
  OUTPUT_VARIABLE copyright COMMAND_ERROR_IS_FATAL ANY)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} upper)
  set(package ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  set(root ${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX})
  set(documents ${root}/share/doc/${package})
  file(WRITE ${documents}/copyright "${copyright}")
  file(WRITE ${documents}/changelog "roentgen (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * Build of version ${CPACK_PACKAGE_VERSION}.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(GLOB texts ${documents}/changelog ${root}/share/man/man*/*.[0-9])
  execute_process(COMMAND gzip -9nf ${texts} COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD_RECURSE ${root}/share PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
    DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
