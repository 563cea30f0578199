# The outside headers that most files read, parsed once a build: Asio's coroutines alone cost a file a second.
# outhaul_precompiled is for folders that use Asio, outhaul_precompiled_tests also has GoogleTest.
function(outhaul_add_precompiled name position)
  add_library(${name} STATIC cmake/src/${name}.cc)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_link_libraries(${name} PRIVATE outhaul_library_asio outhaul_library_fmt)
  target_precompile_headers(${name} PRIVATE cmake/src/${name}.h)
  # Without times in it the file does not depend on when and where it was made.
  target_compile_options(${name} PRIVATE ${position} -Xclang -fno-pch-timestamp)
  # What the compiler cache reads in its place (CCACHE_PCH_EXTSUM), equal in every checkout: the file holds absolute paths.
  file(GLOB lists "${CMAKE_SOURCE_DIR}/cmake/src/outhaul_precompiled*.h")
  set(sums "")
  foreach(list IN LISTS lists)
    file(SHA256 "${list}" sum)
    string(APPEND sums "${sum} ")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lists})
  file(WRITE "${CMAKE_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch.sum"
    "${name} ${sums} ${CMAKE_CXX_COMPILER_VERSION} ${Boost_VERSION}\n")
endfunction()

# By hand and not with REUSE_FROM, which writes an absolute path into the flags: the compiler cache would not share objects
# between checkouts.
function(outhaul_precompile target name)
  set(file CMakeFiles/${name}.dir/cmake_pch.hxx.pch)
  target_compile_options(${target} PRIVATE "SHELL:-include-pch ${file}")
  get_target_property(sources ${target} SOURCES)
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS "${CMAKE_BINARY_DIR}/${file}")
endfunction()

# Compiled for libraries and for programs, as CMake compiles what reads them.
outhaul_add_precompiled(outhaul_precompiled -fPIC)
outhaul_add_precompiled(outhaul_precompiled_tests -fPIE)
