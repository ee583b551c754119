// zlib: its compressor.

#ifndef ASSAY_CLIBZ_SHIM_H
#define ASSAY_CLIBZ_SHIM_H

#include <zlib.h>

#endif
