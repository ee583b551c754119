internal import AssayCore
internal import AssayKit
internal import AssayYAML

/// The section `capture`, as JSON Schema.
extension PolicySchema {
    var capture: [JSONMember] {
        let limits = CaptureLimits()
        return [
            JSONMember(
                "description",
                .string(
                    "Which evidence is captured, encrypted for a key of yours, and how long it is kept, for a server with "
                        + "`--capture`. The section may be in one file only."))
        ]
            + ShapeSchema.object(
                [
                    JSONMember(
                        "public_key",
                        [
                            "description": .string(
                                "The public key on P-256 that evidence is encrypted for: `file:PATH` of a PEM file, or its "
                                    + "text. The private key must not be on the server."),
                            "type": "string", "pattern": "^(file:|env:|-----BEGIN PUBLIC KEY-----)",
                            "examples": ["file:/etc/assay/capture.pub.pem"],
                        ]),
                    capturedDecisions(
                        "Which evidence is captured, of apps that do not say it themselves.", key: "decisions",
                        standard: CapturePolicy.Decisions.refused),
                    bytes(
                        "max_evidence",
                        "The largest record, before it is encrypted. The request message of a larger one is left out.",
                        standard: limits.evidence),
                    bytes(
                        "max_size", "The size of all records; the oldest are deleted beyond it.", standard: limits.size),
                    JSONMember(
                        "max_age",
                        .object(
                            ShapeSchema.members(
                                of: .duration,
                                PolicyKey(
                                    "How long records are kept at most; up to an hour less.",
                                    .durations(CapturePolicy.ageLimits),
                                    standard: .string(DurationText.text(limits.age)))))),
                ], required: ["public_key"])
    }

    /// The key that says which evidence is captured.
    func capturedDecisions(
        _ description: String, key: String = CaptureReader.key, standard: CapturePolicy.Decisions? = nil
    ) -> JSONMember {
        var members = [
            JSONMember("description", .string(description)),
            JSONMember("enum", .array(CapturePolicy.Decisions.allCases.map { .string($0.rawValue) })),
        ]
        if let standard { members.append(JSONMember("default", .string(standard.rawValue))) }
        return JSONMember(key, .object(members))
    }

    private func bytes(_ key: String, _ description: String, standard: Int) -> JSONMember {
        JSONMember(
            key,
            [
                "description": .string(description), "type": ["integer", "string"], "minimum": 1,
                "pattern": .string(ByteCount.pattern), "default": .string(ByteCount.text(standard)),
                "examples": [.string(ByteCount.text(standard))],
            ])
    }
}
