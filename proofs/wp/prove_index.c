/* SPDX-License-Identifier: MIT */
/* The functions of index.h keep their promises. */
#include "index_contracts.h"
