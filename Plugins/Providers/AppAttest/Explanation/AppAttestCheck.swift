internal import AssayCore

/// One thing that is checked of evidence.
///
/// The raw values do not change; an explanation names checks by them.
public enum AppAttestCheck: String, Sendable, Hashable, CaseIterable {
    case evidenceSize = "evidence_size"
    case evidenceForm = "evidence_form"
    case authenticatorData = "authenticator_data"
    case appID = "app_id"

    case counterZero = "counter_zero"
    case authenticator = "authenticator"
    case environment = "environment"
    case leaf = "leaf"
    case keyIdentifier = "key_identifier"
    case credentialIdentifier = "credential_identifier"
    case credentialKey = "credential_key"
    case nonce = "nonce"
    case leafPoint = "leaf_point"
    case certificatePath = "certificate_path"

    case assertionKey = "assertion_key"
    case counterAdvanced = "counter_advanced"
    case assertionSignature = "assertion_signature"

    case receiptForm = "receipt_form"
    case receiptFields = "receipt_fields"
    case receiptAppID = "receipt_app_id"
    case receiptEnvironment = "receipt_environment"
    case receiptType = "receipt_type"
    case receiptKey = "receipt_key"
    case receiptClientDataHash = "receipt_client_data_hash"
    case receiptLeafValidity = "receipt_leaf_validity"
    case receiptNotFuture = "receipt_not_future"
    case receiptAge = "receipt_age"
    case receiptExpiry = "receipt_expiry"
    case receiptSigner = "receipt_signer"
    case receiptSignature = "receipt_signature"
    case receiptSignedAttributes = "receipt_signed_attributes"

    /// A short description of the check.
    public var summary: String {
        switch self {
        case .evidenceSize: "the evidence is not too large"
        case .evidenceForm: "the evidence is CBOR of the expected form"
        case .authenticatorData: "the authenticator data has the expected form"
        case .appID: "the authenticator data is for the app"
        case .counterZero: "the counter of a new key is zero"
        case .authenticator: "the authenticator is App Attest"
        case .environment: "the key is from an allowed environment"
        case .leaf: "the leaf is a certificate as App Attest makes it"
        case .keyIdentifier: "the key identifier is the digest of the certified key"
        case .credentialIdentifier: "the credential identifier is the key identifier"
        case .credentialKey: "the credential key is the certified key"
        case .nonce: "the key was certified for this authenticator data and client data hash"
        case .leafPoint: "the certified key is a point of its curve"
        case .certificatePath: "the certificates lead to a trusted root, and are valid"
        case .assertionKey: "the public key is on P-256"
        case .counterAdvanced: "the counter is above the previous one"
        case .assertionSignature: "the attested key signed this authenticator data and client data hash"
        case .receiptForm: "the receipt is a signed message of the expected form"
        case .receiptFields: "the receipt has the expected fields"
        case .receiptAppID: "the receipt is for the app"
        case .receiptEnvironment: "the receipt is from the environment of the key"
        case .receiptType: "the receipt was made with an attestation"
        case .receiptKey: "the receipt is for the attested key"
        case .receiptClientDataHash: "the receipt is for the client data hash"
        case .receiptLeafValidity: "the receipt was made within the validity of the leaf"
        case .receiptNotFuture: "the receipt was not made in the future"
        case .receiptAge: "the receipt is not too old"
        case .receiptExpiry: "the receipt has not expired"
        case .receiptSigner: "the signer of the receipt is Apple's, under a trusted root"
        case .receiptSignature: "the signer signed the receipt"
        case .receiptSignedAttributes: "the signature is not of the faulty kind of 2020"
        }
    }
}
