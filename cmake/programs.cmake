# The programs, in build/<preset>/bin. Each links the archives of `main` and keeps only what it reaches.
add_custom_target(programs)

function(outhaul_add_program name source)
  if(NOT EXISTS "${CMAKE_SOURCE_DIR}/src/main/${source}")
    return()
  endif()
  add_executable(${name} "src/main/${source}")
  target_link_libraries(${name} PRIVATE outhaul_warnings ${ARGN})
  add_dependencies(programs ${name})
  if(NOT OUTHAUL_SANITIZE)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# Noticed when one of the four appears.
file(GLOB outhaul_program_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/main/outhaul*.cc")

if(TARGET outhaul_library_jemalloc)
  set(allocator outhaul_library_jemalloc)
endif()
outhaul_add_program(outhaul-hub outhaul_hub.cc ${allocator} outhaul_main)
outhaul_add_program(outhaul-node outhaul_node.cc ${allocator} outhaul_main)
outhaul_add_program(outhaul outhaul.cc outhaul_main)
outhaul_add_program(outhaul-launcher outhaul_launcher.cc outhaul_launcher)

# The launcher also runs as PID 1 of a sandbox, where no shared library can be counted on.
if(TARGET outhaul-launcher AND NOT OUTHAUL_SANITIZE)
  target_link_options(outhaul-launcher PRIVATE -static)
endif()
