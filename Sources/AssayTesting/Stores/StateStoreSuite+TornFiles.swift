internal import AssayCore
internal import AssayKit

extension StateStoreSuite {
    @Sendable func tornFiles(_ run: Run) async throws {
        guard let appendedFiles else {
            guard run.descriptor.map({ $0.survival != .nothing }) ?? isReopened else {
                return run.skip("the store keeps nothing")
            }
            return run.overlook("the suite was not told which files the store appends to (`appendedFiles`)")
        }
        guard let location = run.place.location, let copies = try StoreFiles(location) else {
            return run.expect(false, "there is no file at the location, although `appendedFiles` names some")
        }
        defer { copies.remove() }
        let history = History(clock: run.clock)
        // The length of each file after each operation.
        var lengths: [[Int]] = []
        for operation in 0..<history.count {
            try await history.perform(operation, on: run.store)
            lengths.append(try appendedFiles.map { try copies.length($0) })
        }
        let whole = try copies.copy()
        let source = try StoreFiles(whole)
        defer { source?.remove() }
        for (index, file) in appendedFiles.enumerated() {
            let ends = lengths.map { $0[index] }
            run.expect(
                (ends.last ?? 0) > 0, "the file\(file.isEmpty ? "" : " with `\(file)`") is empty, or is not there")
            try await tear(file, ends, history, source, run)
        }
    }

    /// Cuts a file at many lengths, and opens what remains.
    ///
    /// - Parameter ends: the length after each operation.
    private func tear(
        _ file: String, _ ends: [Int], _ history: History, _ source: StoreFiles?, _ run: Run
    ) async throws {
        guard let source, let end = ends.last, let before = ends.dropLast().last else { return }
        // In a file that only grows, an operation is within the length that it left.
        let grows = zip(ends, ends.dropFirst()).allSatisfy { $0 < $1 }
        let start = ContinuousClock.now
        for cut in cuts(ends, run.effort) where ContinuousClock.now - start < .seconds(15) {
            let location = try source.copy()
            try source.cut(file, of: location, to: cut)
            let kept = grows ? ends.count { $0 <= cut } : 0
            let what = "the file\(file.isEmpty ? "" : " with `\(file)`"), cut off after \(cut) of \(end) bytes"
            do {
                guard let store = try await opened(location, run) else { return }
                let found = try await history.operations(in: store)
                if let found {
                    run.expect(
                        found >= kept,
                        "\(what): \(found) operations are found, and \(kept) had ended within these bytes")
                } else {
                    run.expect(false, "\(what): a part of an operation is taken for a whole one")
                }
                await run.place.closeLast()
            } catch {
                // What is damaged before its last operation may be refused; what a crash leaves must be opened.
                run.expect(
                    !grows || cut < before, "\(what), within the last operation, and the store refuses it: \(error)")
            }
            source.forget(location)
        }
    }

    /// Where a file is cut: at each byte of the last operations, as far as there is time, and at some before.
    private func cuts(_ ends: [Int], _ effort: ConformanceEffort) -> [Int] {
        guard let end = ends.last else { return [] }
        let most = effort == .full ? 600 : 80
        let recent = ends.dropLast(3).last ?? 0
        func some(_ range: Range<Int>, _ most: Int) -> [Int] {
            guard range.count > most else { return Array(range) }
            return (0..<most).map { range.lowerBound + $0 * range.count / most }
        }
        let edges = ends.flatMap { [$0 - 1, $0, $0 + 1] }.filter { (0..<end).contains($0) }
        return Set(edges + some(recent..<end, most) + some(0..<recent, most / 2)).sorted(by: >)
    }
}
