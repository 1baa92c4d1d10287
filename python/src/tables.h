/* SPDX-License-Identifier: MIT */
/* Tables in files, as far as they need C: garner/_table.py makes a class of it. */
#ifndef GARNER_PYTHON_TABLES_H
#define GARNER_PYTHON_TABLES_H

#include "functions.h"

extern fast_function table_open, table_about, table_report, table_gather;

#endif
