internal import AssayCore

/// Decisions as a table for people, one line each.
enum DecisionTable {
    private static let titles = ["TIME (UTC)", "DECISION", "OUTCOME", "CAUSE", "METHOD", "APP", "PEER"]

    static func lines(of records: [[UInt8]]) -> [String] {
        let rows = records.map { row(try? JSON.parse($0, limits: JSON.Limits(bytes: 1 << 20))) }
        guard !rows.isEmpty else { return [] }
        let table = [titles] + rows
        let widths = titles.indices.map { column in table.map { $0[column].count }.max() ?? 0 }
        return table.map { row in
            zip(row, widths).enumerated().map { index, cell in
                index == row.count - 1 ? cell.0 : cell.0 + String(repeating: " ", count: cell.1 - cell.0.count)
            }.joined(separator: "  ")
        }
    }

    private static func row(_ record: JSON?) -> [String] {
        guard let record else { return ["(a line that is not JSON)"] + titles.dropFirst().map { _ in "" } }
        let resource = record["resource"]?.string ?? ""
        let app = record["token_use"]?["app"]?.string ?? resource.split(onASCII: "/").last.map(String.init) ?? ""
        return [
            record["time"]?.string ?? "", record["decision"]?.string ?? "", record["outcome"]?.string ?? "",
            cause(of: record), record["method"]?.string ?? "", app, record["peer"]?.string ?? "-",
        ].map(shown)
    }

    /// Why it ended so, and what would have refused it.
    private static func cause(of record: JSON) -> String {
        var words = [record["reason"] ?? record["status"]].compactMap { $0?.string }
        if let reason = record["unenforced_reason"]?.string { words.append("unenforced=\(reason)") }
        let names = (record["would_refuse"]?.array ?? []).compactMap(\.string)
        if !names.isEmpty { words.append("would_refuse=\(names.joined(separator: ","))") }
        return words.isEmpty ? "-" : words.joined(separator: " ")
    }

    /// Text that cannot move a cursor: files may come from elsewhere.
    static func shown(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { (0x20..<0x7F).contains($0.value) ? $0 : "?" }))
    }
}
