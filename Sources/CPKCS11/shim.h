// The few functions of PKCS #11 (version 2.40) that a key in a token needs, called through the list of functions that a module gives.
//
// The module is loaded at run time, so that a server without one depends on nothing.

#ifndef ASSAY_CPKCS11_SHIM_H
#define ASSAY_CPKCS11_SHIM_H

#include <dlfcn.h>
#include <stddef.h>

typedef unsigned long assay_p11_number;

// One attribute of an object, as a template has it.
struct assay_p11_attribute {
    assay_p11_number type;
    void *value;
    assay_p11_number size;
};

struct assay_p11_mechanism {
    assay_p11_number type;
    void *parameter;
    assay_p11_number size;
};

// The parameter of AES-GCM.
struct assay_p11_gcm {
    unsigned char *nonce;
    assay_p11_number nonce_size;
    assay_p11_number nonce_bits;
    unsigned char *associated;
    assay_p11_number associated_size;
    assay_p11_number tag_bits;
};

// How a module is started: with its own locks of the system.
struct assay_p11_start {
    void *locks[4];
    assay_p11_number flags;
    void *reserved;
};

// What a token says of itself; texts are filled with spaces.
struct assay_p11_token {
    unsigned char label[32];
    unsigned char manufacturer[32];
    unsigned char model[16];
    unsigned char serial[16];
    assay_p11_number flags;
    assay_p11_number numbers[10];
    unsigned char versions[4];
    unsigned char time[16];
};

// A version, then all functions in the order of the standard.
struct assay_p11_module {
    unsigned char version[2];
    void (*functions[68])(void);
};

// Places in that order.
enum {
    ASSAY_P11_INITIALIZE = 0,
    ASSAY_P11_SLOTS = 4,
    ASSAY_P11_TOKEN = 6,
    ASSAY_P11_OPEN = 12,
    ASSAY_P11_CLOSE = 13,
    ASSAY_P11_LOGIN = 18,
    ASSAY_P11_FIND_BEGIN = 26,
    ASSAY_P11_FIND = 27,
    ASSAY_P11_FIND_END = 28,
    ASSAY_P11_ENCRYPT_BEGIN = 29,
    ASSAY_P11_ENCRYPT = 30,
    ASSAY_P11_DECRYPT_BEGIN = 33,
    ASSAY_P11_DECRYPT = 34,
    ASSAY_P11_GENERATE = 58,
};

// Loads a module. Returns NULL where it cannot be loaded, with the reason, or is none.
static inline const struct assay_p11_module *assay_p11_load(const char *path, const char **reason) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        *reason = dlerror();
        return NULL;
    }
    union { void *symbol; assay_p11_number (*call)(const struct assay_p11_module **); } list;
    list.symbol = dlsym(library, "C_GetFunctionList");
    const struct assay_p11_module *module = NULL;
    if (list.symbol == NULL || list.call(&module) != 0) {
        *reason = "it is no PKCS #11 module";
        dlclose(library);
        return NULL;
    }
    return module;
}

static inline assay_p11_number assay_p11_initialize(const struct assay_p11_module *module) {
    // CKF_OS_LOCKING_OK
    struct assay_p11_start start = {{NULL, NULL, NULL, NULL}, 2, NULL};
    return ((assay_p11_number (*)(void *))module->functions[ASSAY_P11_INITIALIZE])(&start);
}

// The slots that have a token.
static inline assay_p11_number assay_p11_slots(
    const struct assay_p11_module *module, assay_p11_number *slots, assay_p11_number *count) {
    return ((assay_p11_number (*)(unsigned char, assay_p11_number *, assay_p11_number *))
                module->functions[ASSAY_P11_SLOTS])(1, slots, count);
}

static inline assay_p11_number assay_p11_token_info(
    const struct assay_p11_module *module, assay_p11_number slot, struct assay_p11_token *token) {
    return ((assay_p11_number (*)(assay_p11_number, struct assay_p11_token *))module->functions[ASSAY_P11_TOKEN])(
        slot, token);
}

static inline assay_p11_number assay_p11_open_session(
    const struct assay_p11_module *module, assay_p11_number slot, int writes, assay_p11_number *session) {
    // CKF_SERIAL_SESSION, and CKF_RW_SESSION
    return ((assay_p11_number (*)(assay_p11_number, assay_p11_number, void *, void *, assay_p11_number *))
                module->functions[ASSAY_P11_OPEN])(slot, writes ? 6 : 4, NULL, NULL, session);
}

static inline assay_p11_number assay_p11_close_session(
    const struct assay_p11_module *module, assay_p11_number session) {
    return ((assay_p11_number (*)(assay_p11_number))module->functions[ASSAY_P11_CLOSE])(session);
}

// Logs in as a user; without a PIN the token asks for it by itself.
static inline assay_p11_number assay_p11_login(
    const struct assay_p11_module *module, assay_p11_number session, const unsigned char *pin, assay_p11_number size) {
    return ((assay_p11_number (*)(assay_p11_number, assay_p11_number, const unsigned char *, assay_p11_number))
                module->functions[ASSAY_P11_LOGIN])(session, 1, pin, size);
}

// Up to `*count` objects with all attributes.
static inline assay_p11_number assay_p11_find(
    const struct assay_p11_module *module, assay_p11_number session, struct assay_p11_attribute *attributes,
    assay_p11_number attribute_count, assay_p11_number *objects, assay_p11_number *count) {
    assay_p11_number result =
        ((assay_p11_number (*)(assay_p11_number, struct assay_p11_attribute *, assay_p11_number))
             module->functions[ASSAY_P11_FIND_BEGIN])(session, attributes, attribute_count);
    if (result != 0) return result;
    assay_p11_number limit = *count;
    *count = 0;
    result = ((assay_p11_number (*)(assay_p11_number, assay_p11_number *, assay_p11_number, assay_p11_number *))
                  module->functions[ASSAY_P11_FIND])(session, objects, limit, count);
    ((assay_p11_number (*)(assay_p11_number))module->functions[ASSAY_P11_FIND_END])(session);
    return result;
}

// Encrypts or decrypts in one step.
static inline assay_p11_number assay_p11_crypt(
    const struct assay_p11_module *module, int encrypts, assay_p11_number session,
    struct assay_p11_mechanism *mechanism, assay_p11_number key, const unsigned char *input,
    assay_p11_number input_size, unsigned char *output, assay_p11_number *output_size) {
    assay_p11_number result =
        ((assay_p11_number (*)(assay_p11_number, struct assay_p11_mechanism *, assay_p11_number))
             module->functions[encrypts ? ASSAY_P11_ENCRYPT_BEGIN : ASSAY_P11_DECRYPT_BEGIN])(session, mechanism, key);
    if (result != 0) return result;
    return ((assay_p11_number (*)(
        assay_p11_number, const unsigned char *, assay_p11_number, unsigned char *, assay_p11_number *))
                module->functions[encrypts ? ASSAY_P11_ENCRYPT : ASSAY_P11_DECRYPT])(
        session, input, input_size, output, output_size);
}

static inline assay_p11_number assay_p11_generate(
    const struct assay_p11_module *module, assay_p11_number session, struct assay_p11_mechanism *mechanism,
    struct assay_p11_attribute *attributes, assay_p11_number count, assay_p11_number *key) {
    return ((assay_p11_number (*)(
        assay_p11_number, struct assay_p11_mechanism *, struct assay_p11_attribute *, assay_p11_number,
        assay_p11_number *))module->functions[ASSAY_P11_GENERATE])(session, mechanism, attributes, count, key);
}

#endif
