// libcbor: its streaming decoder and its encoder.

#ifndef ASSAY_CLIBCBOR_SHIM_H
#define ASSAY_CLIBCBOR_SHIM_H

#include <cbor.h>

#endif
