public import AssayKit

extension AppAttestConfiguration: DescribedConfiguration {
    public static let keys: [ExactText: PolicyKey] = [
        "environments": PolicyKey(
            """
            The environments that keys may be from: `production` for the App Store and TestFlight, `development` for builds \
            that Xcode installs.
            """, .notEmpty, standard: ["production"], development: .words(["development"])),
        "receipts": PolicyKey(
            """
            What is done about the receipt of an attestation: a bad one refuses it (`required`), is put on record \
            (`recorded`), or is not looked at (`ignored`).
            """, standard: "recorded"),
        "validation_categories": PolicyKey(
            "How the system may have come to trust the app (iOS 27 and macOS 27); anyhow when absent.", .notEmpty,
            examples: [["app_store", "test_flight"]], development: .words(["development"])),
        "unreported_validation_category": PolicyKey(
            "What is done about devices that do not report a category, as all did before iOS 27.", standard: "allowed"),
        "trust_anchor": PolicyKey(
            "A certificate in PEM to trust in place of Apple's App Attest root: for simulated devices only.",
            development: .anyValue),
        "receipt_trust_anchor": PolicyKey(
            "A certificate in PEM to trust in place of Apple's root of receipts: for simulated devices only.",
            development: .anyValue),
        "risk_metric":
            "Keeps receipts and exchanges them at Apple's servers for newer ones with a risk metric; not done when absent.",
    ]
}
