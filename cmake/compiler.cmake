# How every file of the product and its tests is compiled.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")

# -g1 keeps line numbers in traces and halves the objects of full debug information.
add_compile_options(-g1 -ffunction-sections -fdata-sections -fstack-protector-strong)
# mold links in a tenth of a second. lld is the choice where a distribution has no mold, and for sanitized programs: there
# mold takes members of an archive that nothing refers to, and then misses what those need.
find_program(OUTHAUL_MOLD mold)
if(OUTHAUL_MOLD AND NOT OUTHAUL_SANITIZE)
  set(OUTHAUL_LINKER mold)
else()
  set(OUTHAUL_LINKER lld-19)
endif()
add_link_options(-fuse-ld=${OUTHAUL_LINKER} -Wl,--gc-sections -Wl,-z,relro -Wl,-z,now)

if(OUTHAUL_SANITIZE STREQUAL "address")
  # fuzzer-no-link: the coverage that tests/fuzz needs, for all code below it.
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fsanitize=fuzzer-no-link)
elseif(OUTHAUL_SANITIZE STREQUAL "thread")
  set(sanitizers -fsanitize=thread)
endif()
if(OUTHAUL_SANITIZE)
  add_compile_options(${sanitizers} -fno-omit-frame-pointer)
  add_link_options(${sanitizers})
endif()

# Only where a fault is planted, so that the compiler cache serves all the rest from a build without them.
function(outhaul_plant_faults)
  if(NOT OUTHAUL_PLANTED_FAULTS)
    return()
  endif()
  foreach(source IN LISTS ARGN)
    file(STRINGS "${source}" plants REGEX "base/planted_fault.h" LIMIT_COUNT 1)
    if(plants)
      set_property(SOURCE "${source}" APPEND PROPERTY COMPILE_DEFINITIONS OUTHAUL_PLANTED_FAULTS)
    endif()
  endforeach()
endfunction()

# Warnings are errors in our own code; generated and outside code is compiled without them.
add_library(outhaul_warnings INTERFACE)
target_compile_options(outhaul_warnings INTERFACE -Wall -Wextra -Wconversion -Wshadow -Werror)
# clang reports what std::stable_sort of libstdc++ 12 does inside. What outside libraries deprecate is not even declared
# (dependencies.cmake).
target_compile_options(outhaul_warnings INTERFACE -Wno-deprecated-declarations)
