#include "stream/crc32c.h"

#include <array>
#include <cstring>

#include "stream/little_endian.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#endif

namespace outhaul::stream {
namespace {

using Table = std::array<std::uint32_t, 256>;
constexpr std::uint32_t polynomial = 0x82f63b78;  // Castagnoli's, bits reversed

// tables[k][b]: the checksum's change for byte b followed by k zero bytes.
constexpr std::array<Table, 8> make_tables() {
  std::array<Table, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1U) != 0 ? crc >> 1U ^ polynomial : crc >> 1U;
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t crc = tables[k - 1][byte];
      tables[k][byte] = crc >> 8U ^ tables[0][crc & 255U];
    }
  }
  return tables;
}
constexpr auto tables = make_tables();

std::uint32_t update_by_table(std::uint32_t crc, ByteView bytes) {
  while (bytes.size() >= 8) {
    const std::uint64_t word = get_le<std::uint64_t>(bytes, 0) ^ crc;
    crc = 0;
    for (unsigned k = 0; k < 8; ++k) crc ^= tables[7 - k][word >> 8U * k & 255U];
    bytes.remove_prefix(8);
  }
  for (const char c : bytes) crc = crc >> 8U ^ tables[0][(crc ^ static_cast<std::uint8_t>(c)) & 255U];
  return crc;
}

#if defined(__x86_64__)
// One instruction has a latency of three cycles and a throughput of one: three independent lanes keep
// the unit busy. Their checksums are joined by a table that appends lane_bytes zero bytes.
constexpr std::size_t lane_bytes = 2048;

using Matrix = std::array<std::uint32_t, 32>;  // column i: the image of bit i
constexpr std::uint32_t times(const Matrix& matrix, std::uint32_t vector) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; vector != 0; ++i, vector >>= 1U) sum ^= (vector & 1U) != 0 ? matrix[i] : 0U;
  return sum;
}
constexpr std::array<Table, 4> make_lane_shift() {
  Matrix zeros{};  // appends one zero byte, then two, four, ...
  for (std::size_t i = 0; i < 32; ++i) zeros[i] = (1U << i) >> 8U ^ tables[0][(1U << i) & 255U];
  for (std::size_t bytes = 1; bytes < lane_bytes; bytes *= 2) {
    Matrix twice{};
    for (std::size_t i = 0; i < 32; ++i) twice[i] = times(zeros, zeros[i]);
    zeros = twice;
  }
  std::array<Table, 4> shift{};
  for (std::size_t k = 0; k < 4; ++k) {
    for (std::uint32_t byte = 0; byte < 256; ++byte) shift[k][byte] = times(zeros, byte << 8U * k);
  }
  return shift;
}
constexpr auto lane_shift = make_lane_shift();

std::uint64_t append_lane(std::uint64_t crc, std::uint64_t lane) {
  return lane_shift[0][crc & 255U] ^ lane_shift[1][crc >> 8U & 255U] ^ lane_shift[2][crc >> 16U & 255U] ^
         lane_shift[3][crc >> 24U & 255U] ^ lane;
}

[[gnu::target("sse4.2")]] std::uint32_t update_by_instruction(std::uint32_t start, ByteView bytes) {
  std::uint64_t crc = start;
  while (bytes.size() >= 3 * lane_bytes) {
    std::uint64_t second = 0;
    std::uint64_t third = 0;
    for (const char *at = bytes.data(), *end = at + lane_bytes; at != end; at += 8) {
      crc = _mm_crc32_u64(crc, get_le<std::uint64_t>(at));
      second = _mm_crc32_u64(second, get_le<std::uint64_t>(at + lane_bytes));
      third = _mm_crc32_u64(third, get_le<std::uint64_t>(at + 2 * lane_bytes));
    }
    crc = append_lane(append_lane(crc, second), third);
    bytes.remove_prefix(3 * lane_bytes);
  }
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) crc = _mm_crc32_u64(crc, get_le<std::uint64_t>(bytes, 0));
  auto rest = static_cast<std::uint32_t>(crc);
  for (const char c : bytes) rest = _mm_crc32_u8(rest, static_cast<std::uint8_t>(c));
  return rest;
}
const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
#elif defined(__ARM_FEATURE_CRC32)
std::uint32_t update_by_instruction(std::uint32_t crc, ByteView bytes) {
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) crc = __crc32cd(crc, get_le<std::uint64_t>(bytes, 0));
  for (const char c : bytes) crc = __crc32cb(crc, static_cast<std::uint8_t>(c));
  return crc;
}
constexpr bool has_instruction = true;
#else
std::uint32_t update_by_instruction(std::uint32_t crc, ByteView bytes) { return update_by_table(crc, bytes); }
constexpr bool has_instruction = false;
#endif

}  // namespace

std::uint32_t crc32c(ByteView bytes, std::uint32_t before) {
  return ~(has_instruction ? update_by_instruction(~before, bytes) : update_by_table(~before, bytes));
}

std::uint32_t crc32c_by_table(ByteView bytes, std::uint32_t before) {
  return ~update_by_table(~before, bytes);
}

}  // namespace outhaul::stream
