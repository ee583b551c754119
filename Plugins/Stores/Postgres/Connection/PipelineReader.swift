internal import AssayCore
internal import CLibPQ

/// Sorts the results of a pipeline by segment and step.
///
/// For each step libpq gives its result and then nil, and after the steps of a segment the mark of its end. A step that
/// fails has the rest of its segment skipped.
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

    /// Takes what libpq returned last; returns the answer of a segment that is complete with it.
    ///
    /// - Throws: when the server answers what was not asked.
    mutating func take(_ result: OpaquePointer?) throws(ConnectionLost) -> Answer? {
        guard let result else {
            ended += 1
            // Were libpq and this reader not of one mind, no result would ever come.
            guard ended <= counts[segment] + 1 else { throw ConnectionLost(reason: "unexpected answers of the server") }
            return nil
        }
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_PIPELINE_SYNC:
            defer { (ended, tables, error) = (0, [], nil) }
            defer { segment += 1 }
            if let error { return Answer(segment: segment, result: .failure(error)) }
            return Answer(segment: segment, result: .success(tables))
        case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
            tables.append(Table(result))
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

extension Table {
    fileprivate init(_ result: OpaquePointer) {
        let columns = PQnfields(result)
        rows = (0..<PQntuples(result)).map { row in
            (0..<columns).map { column in
                guard PQgetisnull(result, row, column) == 0, let start = PQgetvalue(result, row, column) else {
                    return nil
                }
                return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(PQgetlength(result, row, column))))
            }
        }
        changed = Int(String(cString: PQcmdTuples(result))) ?? 0
    }
}
