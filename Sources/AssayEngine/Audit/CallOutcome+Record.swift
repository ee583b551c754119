internal import AssayKit

extension CallOutcome {
    /// What stands behind the record of a call that ended so.
    func basis(isCallerKnown: Bool, isResourceKnown: Bool) -> DecisionRecord.Basis {
        if case .issued = outcome { return .verified }
        var isVerified = isCallerKnown
        switch tokenUse?.category {
        case .verified?, .reused?: isVerified = true
        case .outdatedClient?, .unknownOrigin?, .invalid?, nil: break
        }
        if isVerified, isDecided { return .verified }
        return isVerified || isResourceKnown ? .known : .unknown
    }

    /// The detail as records keep it while they wait to be written: whatever it was made of, it is short.
    func safeDetail(isAnswered: Bool) -> String? {
        let all = [isAnswered ? waived?.words : nil, detail].compactMap(\.self)
        return all.isEmpty ? nil : SafeText.of(all.joined(separator: "; "), limit: 1000)
    }
}
