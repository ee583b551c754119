// OpenSSL's libcrypto, and functions for those of its macros that Swift cannot see.

#ifndef ASSAY_CLIBCRYPTO_SHIM_H
#define ASSAY_CLIBCRYPTO_SHIM_H

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#endif
