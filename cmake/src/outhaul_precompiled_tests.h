#pragma once

#include <gtest/gtest.h>

#include "outhaul_precompiled.h"
