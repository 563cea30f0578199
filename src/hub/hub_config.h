// HubConfig: what hub.yaml may say. Every key has the default of HubSettings; the file may be absent.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_reader.h"
#include "hub/hub_settings.h"

namespace outhaul::hub {

using config::ConfigReader;

struct HubConfig {
  HubSettings settings;  // `deployment` is not read here: the data directory has it
  std::string listen;    // "[::]:443"; empty: the program's default
  // More names and addresses that the people's side certificate holds.
  std::vector<std::string> server_names;
  // The operator's own certificate for the people's side, both or none; paths of PEM files.
  std::string certificate_file;
  std::string key_file;
};

// Fails with `config_invalid` naming every fault at once (ConfigReader::finish).
Result<HubConfig> parse_hub_config(std::string_view text, std::string file_name);
// The same with the caller's list of removed keys.
Result<HubConfig> parse_hub_config(std::string_view text, std::string file_name,
                                   std::span<const config::RemovedKey> removed);

}  // namespace outhaul::hub
