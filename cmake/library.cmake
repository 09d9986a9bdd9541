# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Roentgen authors
#
# Builds libroentgen, shared and static, from the objects of its modules (rooms). Defines what `cmake --install` copies:
# the program, recipes, man pages, completion, both libraries with public headers, and the package for
# find_package(roentgen). Components: `program`, `library` (the shared one), `development` and `license`;
# cmake/packages.cmake makes a package of each.

# Rooms (modules of src) with public headers, and the rooms that they need. cmake/public_headers.cmake defines which
# headers are public.
set(public_rooms core graph data engine models eval score train)
set(needed_rooms runtime io dist engine_plan engine_cpu engines)
if(TARGET roentgen_engine_cuda)
  list(APPEND needed_rooms engine_cuda)
endif()

# Objects of the rooms, and the libraries that they use. nlohmann-json has only headers, so it needs no linking.
set(objects "")
set(used "")
foreach(room IN LISTS public_rooms needed_rooms)
  list(APPEND objects $<TARGET_OBJECTS:roentgen_${room}>)
  get_target_property(libraries roentgen_${room} LINK_LIBRARIES)
  list(APPEND used ${libraries})
endforeach()
list(FILTER used EXCLUDE REGEX "^roentgen_")
list(REMOVE_DUPLICATES used)
list(REMOVE_ITEM used nlohmann_json::nlohmann_json)

include(GNUInstallDirs)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/roentgen)
set(public_include ${PROJECT_BINARY_DIR}/public)
add_library(roentgen_shared SHARED ${objects})
add_library(roentgen_static STATIC ${objects})
foreach(kind IN ITEMS shared static)
  set_target_properties(roentgen_${kind} PROPERTIES OUTPUT_NAME roentgen LINKER_LANGUAGE CXX)
  target_link_libraries(roentgen_${kind} PRIVATE ${used})
  target_compile_features(roentgen_${kind} INTERFACE cxx_std_20)
  target_include_directories(roentgen_${kind} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
# Interfaces may change with every minor version before 1.0.
set_target_properties(roentgen_shared PROPERTIES EXPORT_NAME roentgen VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(exports ${PROJECT_BINARY_DIR}/exports.map)
configure_file(cmake/exports.map.in ${exports} @ONLY)
target_link_options(roentgen_shared PRIVATE -Wl,--version-script=${exports} -Wl,-z,defs)
set_target_properties(roentgen_shared PROPERTIES LINK_DEPENDS ${exports})

# The installed program and library find libraries outside of the system's folders where the build found them.
set_target_properties(roentgen roentgen_shared PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS roentgen COMPONENT program)
install(TARGETS roentgen_shared EXPORT roentgen_shared LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(TARGETS roentgen_static EXPORT roentgen_static ARCHIVE COMPONENT development)
install(DIRECTORY recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/roentgen COMPONENT program FILES_MATCHING PATTERN *.toml)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT license)

list(JOIN public_rooms "," rooms)
set(stage_headers ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DROOMS=${rooms} -DOUTPUT=${public_include}
  -P ${PROJECT_SOURCE_DIR}/cmake/public_headers.cmake)
list(JOIN stage_headers "\" \"" quoted)
install(CODE "execute_process(COMMAND \"${quoted}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT development)
install(DIRECTORY ${public_include}/roentgen DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" \"-DPROGRAM=$<TARGET_FILE:roentgen>\"
  -DVERSION=${PROJECT_VERSION} \"-DOUTPUT=${PROJECT_BINARY_DIR}/texts\"
  -P \"${PROJECT_SOURCE_DIR}/cmake/program_texts.cmake\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT program)
install(DIRECTORY ${PROJECT_BINARY_DIR}/texts/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/texts/completions/roentgen
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/texts/completions/_roentgen
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)

include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/roentgen-config.cmake.in roentgen-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(roentgen-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/roentgen-config.cmake ${PROJECT_BINARY_DIR}/roentgen-config-version.cmake
  cmake/FindDnnl.cmake DESTINATION ${package_dir} COMPONENT development)
foreach(kind IN ITEMS shared static)
  install(EXPORT roentgen_${kind} NAMESPACE roentgen:: FILE roentgen-${kind}.cmake DESTINATION ${package_dir}
    COMPONENT development)
endforeach()

# The reference of the public headers (make docs-api). A name without a comment is an error.
find_program(RG_DOXYGEN doxygen)
set(api_reference ${PROJECT_SOURCE_DIR}/build/docs-api)
configure_file(docs/api/Doxyfile.in ${PROJECT_BINARY_DIR}/Doxyfile @ONLY)
add_custom_target(docs_api COMMAND ${stage_headers} COMMAND ${CMAKE_COMMAND} -E make_directory ${api_reference}
  COMMAND ${RG_DOXYGEN} ${PROJECT_BINARY_DIR}/Doxyfile VERBATIM)
