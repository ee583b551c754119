internal import AssayCore
internal import CLibPQ

/// Sorts the results of a pipeline by segment and step.
///
/// For each step libpq gives its result and then nil, and after the steps of a segment the mark of its end. A step that
/// fails has the rest of its segment skipped. An answer without an error has one table for each step.
struct PipelineReader {
    struct Answer {
        let segment: Int
        let result: Result<[Table], ServerError>
    }

    private let counts: [Int]
    private var segment = 0
    private var ended = 0
    private var tables: [Table] = []
    private var error: ServerError?

    /// - `counts`: the number of steps of each segment.
    init(_ counts: [Int]) {
        self.counts = counts
    }

    var isDone: Bool { segment >= counts.count }

    /// The server, or what stands between, answers what was not asked.
    static let unexpected = ConnectionLost(reason: "unexpected answers of the server")

    /// Takes what libpq returned last; returns the answer of a segment that is complete with it.
    ///
    /// - Throws: when the server answers what was not asked.
    mutating func take(_ result: OpaquePointer?) throws(ConnectionLost) -> Answer? {
        guard let count = counts.dropFirst(segment).first else { throw Self.unexpected }
        guard let result else {
            ended += 1
            // Were libpq and this reader not of one mind, no result would ever come.
            guard ended <= count + 1 else { throw Self.unexpected }
            return nil
        }
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            defer { (ended, tables, error) = (0, [], nil) }
            defer { segment += 1 }
            if let error { return Answer(segment: segment, result: .failure(error)) }
            guard tables.count == count else { throw Self.unexpected }
            return Answer(segment: segment, result: .success(tables))
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            tables.append(try Table(result))
        case PGRES_PIPELINE_ABORTED:
            break
        default:
            let state = assay_pq_sqlstate(result).map { String(cString: $0) } ?? ""
            let given = assay_pq_message(result).map { String(cString: $0) }
            let message = given ?? String(cString: PQresultErrorMessage(result))
            error = error ?? ServerError(state: state, message: message.bounded)
        }
        return nil
    }
}
