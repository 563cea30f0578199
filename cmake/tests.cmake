# Tests: test_<folder> from the *_test.cc beside the sources, test_contract, test_sim, one program a
# fuzz target and a bench. `all_tests` builds what scripts/test runs.
find_library(OUTHAUL_GTEST_MAIN_ARCHIVE gtest_main REQUIRED)
add_custom_target(all_tests)

function(outhaul_add_test name)
  add_executable(${name} EXCLUDE_FROM_ALL ${ARGN})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE OUTHAUL_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE outhaul_warnings outhaul_testing)
  add_dependencies(all_tests ${name})
endfunction()

set(outhaul_all_layers ${outhaul_folders})
list(TRANSFORM outhaul_all_layers PREPEND outhaul_)

foreach(folder IN LISTS outhaul_folders)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${folder}/*_test.cc")
  if(NOT sources)
    continue()
  endif()
  outhaul_add_test(test_${folder} ${sources})
  target_link_libraries(test_${folder} PRIVATE outhaul_${folder} ${OUTHAUL_GTEST_MAIN_ARCHIVE} outhaul_library_gtest)
  if(folder STREQUAL "testing")
    target_link_libraries(test_testing PRIVATE ${outhaul_all_layers})
  endif()
endforeach()

# Ports and their adapters; compositions (hub, node, cli, main) have no place in a contract suite.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/contract/*.cc")
if(sources)
  set(layers ${outhaul_all_layers})
  list(REMOVE_ITEM layers outhaul_hub outhaul_node outhaul_cli outhaul_main)
  outhaul_add_test(test_contract ${sources})
  target_link_libraries(test_contract PRIVATE ${layers} ${OUTHAUL_GTEST_MAIN_ARCHIVE} outhaul_library_gtest)
endif()

# The suite of ProcessLauncher runs the real one too.
if(TARGET test_contract AND TARGET outhaul-launcher)
  target_compile_definitions(test_contract PRIVATE OUTHAUL_LAUNCHER_PROGRAM="$<TARGET_FILE:outhaul-launcher>")
  add_dependencies(test_contract outhaul-launcher)
endif()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/sim/*.cc")
if(sources)
  outhaul_add_test(test_sim ${sources})
  # An archive's main is only taken when no source defines one.
  target_link_libraries(test_sim PRIVATE ${outhaul_all_layers} ${OUTHAUL_GTEST_MAIN_ARCHIVE} outhaul_library_gtest)
endif()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/golden/*.cc")
if(sources)
  outhaul_add_test(test_golden ${sources})
  target_link_libraries(test_golden PRIVATE ${outhaul_all_layers} ${OUTHAUL_GTEST_MAIN_ARCHIVE} outhaul_library_gtest)
endif()

# libFuzzer's own main and the address sanitizer belong together: the asan preset alone has them.
add_custom_target(all_fuzz)
if(OUTHAUL_SANITIZE STREQUAL "address")
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/fuzz/*_fuzz.cc")
  foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME_WE)
    outhaul_add_test(${name} ${source})
    target_link_libraries(${name} PRIVATE ${outhaul_all_layers})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    add_dependencies(all_fuzz ${name})
  endforeach()
endif()

add_custom_target(all_bench)
file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/tests/bench/*.cc")
foreach(source IN LISTS sources)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_include_directories(${name} PRIVATE "${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE outhaul_warnings outhaul_testing ${outhaul_all_layers})
  add_dependencies(all_bench ${name})
endforeach()
