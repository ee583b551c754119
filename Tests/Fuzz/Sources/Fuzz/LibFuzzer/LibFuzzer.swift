internal import Dispatch

#if canImport(Glibc)
internal import Glibc
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Which target the process fuzzes, chosen by the environment variable `ASSAY_FUZZ_TARGET`.
private let chosenTarget: FuzzTarget = {
    let name = getenv("ASSAY_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        let known = FuzzTarget.allCases.map(\.rawValue).joined(separator: " ")
        complain("ASSAY_FUZZ_TARGET is '\(name)'; known are \(known)")
        exit(2)
    }
    return target
}()

/// What libFuzzer calls with each input (LLVM, libFuzzer, Fuzz Target).
///
/// A promise that is not kept ends the process, which is how libFuzzer learns of it and keeps the input.
@c(LLVMFuzzerTestOneInput)
public func testOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let target = chosenTarget
    let input = Array(UnsafeBufferPointer(start: bytes, count: count))
    let end = DispatchSemaphore(value: 0)
    // Most targets never wait, and are done when this returns.
    Task.immediate {
        do {
            _ = try await target.judge(input)
        } catch {
            complain("\(target.rawValue): \(error)")
            abort()
        }
        end.signal()
    }
    end.wait()
    return 0
}

private func complain(_ text: String) {
    let line = Array("\(text)\n".utf8)
    _ = write(STDERR_FILENO, line, line.count)
}
