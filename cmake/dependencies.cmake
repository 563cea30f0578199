# Outside libraries under the names that src/LAYERS uses: outhaul_library_<name>. All are linked
# statically, so that a program needs nothing but the C library of the machine it is copied to.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
set(Boost_USE_STATIC_LIBS ON)
find_package(Boost 1.81.0 EXACT CONFIG REQUIRED COMPONENTS headers json container)
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(OpenSSL 3.0 REQUIRED)
find_program(OUTHAUL_PROTOC protoc REQUIRED)

function(outhaul_static_library name)
  find_library(OUTHAUL_${name}_ARCHIVE ${ARGV1} REQUIRED)
  add_library(outhaul_library_${name} INTERFACE)
  target_link_libraries(outhaul_library_${name} INTERFACE ${OUTHAUL_${name}_ARCHIVE} Threads::Threads)
endfunction()

outhaul_static_library(protobuf protobuf-lite)
outhaul_static_library(sodium sodium)
outhaul_static_library(sqlite sqlite3)
outhaul_static_library(yaml yaml-cpp)
outhaul_static_library(re2 re2)
outhaul_static_library(gtest gtest)

# The allocator of the hub and the node: what must become position independent, and how it is set up. Sanitizers
# bring their own.
if(NOT OUTHAUL_SANITIZE)
  outhaul_static_library(jemalloc jemalloc_pic)
  target_sources(outhaul_library_jemalloc INTERFACE "${CMAKE_SOURCE_DIR}/cmake/src/jemalloc.cc")
endif()

add_library(outhaul_library_openssl INTERFACE)
target_link_libraries(outhaul_library_openssl INTERFACE OpenSSL::SSL OpenSSL::Crypto)
target_compile_definitions(outhaul_library_openssl INTERFACE OPENSSL_NO_DEPRECATED OPENSSL_API_COMPAT=30000)

add_library(outhaul_library_json INTERFACE)
target_link_libraries(outhaul_library_json INTERFACE Boost::json)

add_library(outhaul_library_cli11 INTERFACE)

# Asio and the Beast parsers are compiled once each; everybody else reads declarations only.
add_library(outhaul_asio STATIC cmake/src/asio.cc)
target_compile_definitions(outhaul_asio PUBLIC BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED)
target_link_libraries(outhaul_asio PUBLIC Boost::headers Threads::Threads)
add_library(outhaul_library_asio ALIAS outhaul_asio)

add_library(outhaul_beast STATIC EXCLUDE_FROM_ALL cmake/src/beast.cc)
target_compile_definitions(outhaul_beast PUBLIC BOOST_BEAST_SEPARATE_COMPILATION)
target_link_libraries(outhaul_beast PUBLIC outhaul_asio)
add_library(outhaul_library_beast ALIAS outhaul_beast)

# Debian has fmt as a shared library only.
add_library(outhaul_fmt STATIC cmake/src/fmt.cc)
add_library(outhaul_library_fmt ALIAS outhaul_fmt)
