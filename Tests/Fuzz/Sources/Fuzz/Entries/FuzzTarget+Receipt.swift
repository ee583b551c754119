internal import AssayAppAttest
internal import AssayCore
internal import AssayKit
internal import AssayTesting

extension FuzzTarget {
    func judgeReceipt(_ input: [UInt8]) throws -> FuzzVerdict {
        let scene = try FuzzScene.shared()
        let outcome = scene.receipts.verify(input, expecting: scene.receiptExpectation, at: FuzzScene.now)
        guard case .refused(let refusal) = outcome else {
            try judge(outcome.receipt)
            return .accepted
        }
        return .refused(refusal.reason.code)
    }

    func judgeReceiptFields(_ input: [UInt8]) throws -> FuzzVerdict {
        let scene = try FuzzScene.shared()
        var template = scene.receipt([])
        template.content = input
        return try judgeReceipt(template.signed())
    }

    private func judge(_ receipt: Receipt?) throws(BrokenPromise) {
        guard let receipt else { throw BrokenPromise("not so: an accepted receipt can be read") }
        try BrokenPromise.unless(receipt.appID == FuzzScene.app.appID, "the receipt is for the app")
        try BrokenPromise.unless(receipt.created <= receipt.expires, "the receipt is made before it expires")
        try BrokenPromise.unless(
            (receipt.riskMetric != nil) == (receipt.kind == .exchange), "exchanged receipts have a risk metric")
    }
}
