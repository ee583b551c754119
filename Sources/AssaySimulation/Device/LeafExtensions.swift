/// The extensions of a device's leaf certificate, in Apple's order and with the values of a real device.
enum LeafExtensions {
    static func all(nonce: [UInt8], appID: String, system: SimulatedSystem) -> [ExtensionTemplate] {
        [
            .endEntity,
            .keyUsage(0xF0, unusedBits: 4),
            .extendedKeyUsage([ObjectIdentifiers.appAttestPurpose]),
            keyProperties(appID: appID, keyClass: system.keyClass),
            .appAttestSystem(system),
            .appAttestNonce(nonce),
            .appAttestKeyPolicy(system.keyPolicy),
        ]
    }

    /// 8.5: the key's properties, of which Apple has explained none but the app's identifier is plain to see (1204).
    private static func keyProperties(appID: String, keyClass: UInt64) -> ExtensionTemplate {
        let before: [(UInt64, UInt64)] = [(4, keyClass), (1200, 0), (1201, 0), (1202, 0), (1203, 0)]
        let after: [(UInt64, UInt64)] = [(1206, 4), (1207, 0), (1209, 0), (1210, 0), (1211, 0), (10, 0)]
        return ExtensionTemplate(
            type: ObjectIdentifiers.appAttestKeyProperties,
            value: DERWriter.sequence(
                before.flatMap(number),
                DERWriter.context(1204, DERWriter.octetString(Array(appID.utf8))),
                after.flatMap(number)))
    }

    static func number(_ tag: UInt64, _ value: UInt64) -> [UInt8] {
        DERWriter.context(tag, DERWriter.integer(value))
    }

    static func text(_ tag: UInt64, _ value: String) -> [UInt8] {
        DERWriter.context(tag, DERWriter.octetString(Array(value.utf8)))
    }
}

extension ExtensionTemplate {
    /// 8.2: the nonce that ties the leaf to authenticator data and challenge.
    public static func appAttestNonce(_ nonce: [UInt8]) -> Self {
        Self(
            type: ObjectIdentifiers.appAttestNonce,
            value: DERWriter.sequence(DERWriter.context(1, DERWriter.octetString(nonce))))
    }

    /// 8.6: the access-control policy of the key; the octets are those of ``SimulatedSystem/keyPolicy``.
    public static func appAttestKeyPolicy(_ policy: [UInt8]) -> Self {
        Self(
            type: ObjectIdentifiers.appAttestKeyPolicy,
            value: DERWriter.sequence(DERWriter.context(3, DERWriter.octetString(policy))))
    }

    /// 8.7: the device's operating system.
    public static func appAttestSystem(_ system: SimulatedSystem) -> Self {
        let zeros: [UInt64] = [1406, 1407, 1408, 1409, 1410, 1411]
        return Self(
            type: ObjectIdentifiers.appAttestSystem,
            value: DERWriter.sequence(
                LeafExtensions.text(1400, system.version),
                LeafExtensions.number(1104, 2),
                LeafExtensions.text(1401, "1.0.248"),
                LeafExtensions.text(1403, system.build),
                LeafExtensions.text(1404, system.version),
                LeafExtensions.text(1405, system.version),
                zeros.flatMap { LeafExtensions.number($0, 0) },
                LeafExtensions.number(1412, 1),
                LeafExtensions.number(1413, 0),
                [1418, 1419, 1420].flatMap { LeafExtensions.text($0, system.buildVersion) },
                LeafExtensions.text(1026, system.family)))
    }
}
