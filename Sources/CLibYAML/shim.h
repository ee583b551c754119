// libyaml: its event parser.

#ifndef ASSAY_CLIBYAML_SHIM_H
#define ASSAY_CLIBYAML_SHIM_H

#include <yaml.h>

#endif
