#include "outhaul_precompiled.h"
