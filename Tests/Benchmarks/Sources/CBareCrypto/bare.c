#include "CBareCrypto.h"

#include <limits.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>

enum { digest_count = 32, signature_limit = 512 };

struct bare_key {
    EVP_PKEY_CTX *context;
    bool signs;
    unsigned char digest[digest_count];
    unsigned char signature[signature_limit];
    size_t signature_count;
};

static bare_key *make(EVP_PKEY *key, bool signs, const uint8_t *digest) {
    bare_key *made = calloc(1, sizeof *made);
    if (key == NULL || made == NULL) return NULL;
    made->signs = signs;
    memcpy(made->digest, digest, digest_count);
    made->context = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    if (made->context == NULL) return NULL;
    if ((signs ? EVP_PKEY_sign_init(made->context) : EVP_PKEY_verify_init(made->context)) != 1) return NULL;
    if (EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA) {
        if (EVP_PKEY_CTX_set_rsa_padding(made->context, RSA_PKCS1_PADDING) != 1) return NULL;
        if (EVP_PKEY_CTX_set_signature_md(made->context, EVP_sha256()) != 1) return NULL;
    }
    return made;
}

bare_key *bare_verification(
    const uint8_t *pem, size_t pem_count, const uint8_t *digest, const uint8_t *signature, size_t signature_count) {
    if (pem_count > INT_MAX || signature_count > signature_limit) return NULL;
    BIO *text = BIO_new_mem_buf(pem, (int)pem_count);
    bare_key *made = make(PEM_read_bio_PUBKEY(text, NULL, NULL, NULL), false, digest);
    BIO_free(text);
    if (made == NULL) return NULL;
    memcpy(made->signature, signature, signature_count);
    made->signature_count = signature_count;
    return made;
}

bare_key *bare_signing(const uint8_t *pem, size_t pem_count, const uint8_t *digest) {
    if (pem_count > INT_MAX) return NULL;
    BIO *text = BIO_new_mem_buf(pem, (int)pem_count);
    bare_key *made = make(PEM_read_bio_PrivateKey(text, NULL, NULL, NULL), true, digest);
    BIO_free(text);
    return made;
}

bool bare_repeat(bare_key *key, long count) {
    for (long done = 0; done < count; done++) {
        if (key->signs) {
            key->signature_count = signature_limit;
            if (EVP_PKEY_sign(key->context, key->signature, &key->signature_count, key->digest, digest_count) != 1) {
                return false;
            }
        } else if (
            EVP_PKEY_verify(key->context, key->signature, key->signature_count, key->digest, digest_count) != 1) {
            return false;
        }
    }
    return true;
}
