// What several commands of outhaul-hub need.
#pragma once

#include "crypto/data_directory.h"
#include "hub/hub_config.h"
#include "main/hub_program.h"
#include "store/sqlite_database.h"

namespace outhaul {

// On standard error, with its details and what to do about it; gives the exit status.
int report_fault(const Error& error);
// An Error of opening the data directory, with what to do when there is no hub in it yet.
Error before_init(Error error, const std::string& data);
Result<hub::HubConfig> load_hub_config(const HubOptions& options);
store::SqliteLocation hub_database(const crypto::DataDirectory& data, const std::string& deployment);

}  // namespace outhaul
