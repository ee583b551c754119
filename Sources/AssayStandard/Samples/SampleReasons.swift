#if AppAttest || AndroidKey
internal import AssayCore

/// Why `assay verify` could not verify a sample at all.
enum SampleReasons {
    static let unreadable = Reason(
        "sample_unreadable", "The file of the sample cannot be read.",
        advice: "Check the path and the permissions of the file; `detail` has the system's message.")
    static let malformed = Reason(
        "sample_malformed", "The sample is not JSON, or lacks a required field.",
        advice:
            "Correct what `detail` names; `assay verify app-attest --help`, or that of the other evidence, describes the fields of a sample."
    )
    static let all = [unreadable, malformed]
}
#endif
