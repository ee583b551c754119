// OpenSSL's signatures without anything around them: the limit that Assay's operations are held against.
//
// Keys are parsed, contexts set up and messages digested beforehand; what is repeated is one call of the EVP interface.

#ifndef ASSAY_CBARECRYPTO_H
#define ASSAY_CBARECRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bare_key bare_key;

/// A key from PEM, ready to verify one signature over one SHA-256 digest; null when it cannot be made.
bare_key *bare_verification(
    const uint8_t *pem, size_t pem_count, const uint8_t *digest, const uint8_t *signature, size_t signature_count);

/// A private key from PEM, ready to sign one SHA-256 digest; null when it cannot be made.
bare_key *bare_signing(const uint8_t *pem, size_t pem_count, const uint8_t *digest);

/// Verifies or signs that many times; false when one of them fails.
bool bare_repeat(bare_key *key, long count);

#endif
