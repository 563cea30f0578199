// outhaul: a person's terminal.
#include "cli/cli.h"
#include "main/standard_descriptors.h"

int main(int argc, char** argv) {
  outhaul::settle_standard_descriptors();
  return outhaul::cli::run_command_line(argc, argv);
}
