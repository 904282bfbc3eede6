// Items that are copied as they are, whatever their dtype: AGOG_ITEM is a type of their size.
#pragma once
#include "device.cuh"

struct item16_t { u64 first, second; };  // complex128

#ifndef AGOG_ITEM
#define AGOG_ITEM u32
#endif
