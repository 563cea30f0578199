#include "outhaul_precompiled_tests.h"
