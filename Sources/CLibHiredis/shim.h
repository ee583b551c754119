// hiredis: the reader of replies and the replies it makes.

#ifndef ASSAY_CLIBHIREDIS_SHIM_H
#define ASSAY_CLIBHIREDIS_SHIM_H

#include <sys/time.h>
#include <hiredis/hiredis.h>

#endif
