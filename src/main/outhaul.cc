// outhaul: a person's terminal.
#include "cli/cli.h"

int main(int argc, char** argv) { return outhaul::cli::run_command_line(argc, argv); }
