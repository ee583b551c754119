import AssayCore
import AssayKit
import Testing

@testable import AssayExtAuthz

/// What comes of a call's message in one part each; whether the client then says that this is all; and what becomes of
/// it.
///
/// The largest message has eight bytes.
private let messages: [([[UInt8]], Bool, CallIntake.Action)] = [
    ([[0, 0, 0, 0, 2, 7, 8]], true, .deliver([0, 0, 0, 0, 2, 7, 8])),
    ([[0, 0, 0], [0, 2, 7], [8]], true, .deliver([0, 0, 0, 0, 2, 7, 8])),
    ([[1, 0, 0, 0, 0]], true, .deliver([1, 0, 0, 0, 0])),
    ([[0, 0, 0, 0, 8], [1, 2, 3, 4, 5, 6, 7, 8]], true, .deliver([0, 0, 0, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8])),
    ([[0, 0, 0, 0, 2, 7, 8]], false, .wait),
    ([[0, 0, 0, 0, 2, 7]], false, .wait),
    ([], false, .wait),
    ([], true, .refuse(.notOneMessage)),
    ([[0, 0, 0]], true, .refuse(.notOneMessage)),
    ([[0, 0, 0, 0, 2, 7]], true, .refuse(.notOneMessage)),
    ([[0, 0, 0, 0, 2, 7, 8, 0]], false, .refuse(.notOneMessage)),
    ([[0, 0, 0, 0, 0], [0, 0, 0, 0, 0]], false, .refuse(.notOneMessage)),
    ([[0, 0, 0, 0, 9]], false, .refuse(.tooLarge)),
    ([[0, 255, 255, 255, 255]], false, .refuse(.tooLarge)),
    ([[UInt8](repeating: 0, count: 14)], false, .refuse(.tooLarge)),
]

@Suite("The bytes of a call")
struct CallIntakeTests {
    @Test("only one whole message continues", arguments: messages)
    func wholeMessages(parts: [[UInt8]], ends: Bool, expected: CallIntake.Action) {
        var intake = CallIntake(messageBytes: 8)
        #expect(intake.receive(headBytes: 100, flaw: nil, ends: false) { _ in true } == .wait)
        var action = CallIntake.Action.wait
        for part in parts where action == .wait { action = intake.receive(part, ends: false) { _ in true } }
        if ends { action = intake.receive([], ends: true) { _ in true } }
        #expect(action == expected)
        #expect(intake.isReceiving == (action == .wait))
        #expect(
            intake.release() == 100 + (action == .refuse(.tooLarge) && parts[0].count > 13 ? 0 : parts.joined().count))
    }

    @Test("a head with a flaw is refused for it, and so is a second one that does not end the call")
    func heads() {
        var intake = CallIntake(messageBytes: 8)
        #expect(
            intake.receive(headBytes: 10, flaw: .malformedHead, ends: false) { _ in true } == .refuse(.malformedHead))
        #expect(intake.release() == 0)
        intake = CallIntake(messageBytes: 8)
        _ = intake.receive(headBytes: 10, flaw: nil, ends: false) { _ in true }
        #expect(intake.receive(headBytes: 10, flaw: nil, ends: false) { _ in true } == .refuse(.malformedHead))
        intake = CallIntake(messageBytes: 8)
        #expect(intake.receive(headBytes: 10, flaw: nil, ends: true) { _ in true } == .refuse(.notOneMessage))
    }

    @Test("trailing fields end a call")
    func trailers() {
        var intake = CallIntake(messageBytes: 8)
        _ = intake.receive(headBytes: 10, flaw: nil, ends: false) { _ in true }
        _ = intake.receive([0, 0, 0, 0, 0], ends: false) { _ in true }
        #expect(
            intake.receive(headBytes: 10, flaw: nil, ends: true) { _ in true } == .deliver([0, 0, 0, 0, 0]))
    }

    @Test("what finds no room is refused, and never held")
    func room() {
        var intake = CallIntake(messageBytes: 1 << 20)
        #expect(intake.receive(headBytes: 10, flaw: nil, ends: false) { _ in false } == .refuse(.noBytes))
        #expect(intake.release() == 0)
        intake = CallIntake(messageBytes: 1 << 20)
        var held = 0
        let reserve = { (bytes: Int) in
            guard held + bytes <= 1000 else { return false }
            held += bytes
            return true
        }
        _ = intake.receive(headBytes: 10, flaw: nil, ends: false, reserve: reserve)
        var received = 10
        while case .wait = intake.receive([0, 0, 8, 0, 0, 1, 2], ends: false, reserve: reserve) { received += 7 }
        #expect(received <= held)
        // What was reserved ahead is no more than what has come.
        #expect(held <= 2 * received)
        #expect(intake.release() == held)
    }

    @Test("what is reserved is no more than what is declared")
    func declared() {
        var intake = CallIntake(messageBytes: 1 << 20)
        _ = intake.receive(headBytes: 0, flaw: nil, ends: false) { _ in true }
        _ = intake.receive([0, 0, 0, 4, 0], ends: false) { _ in true }
        for _ in 0..<1024 { _ = intake.receive([7], ends: false) { _ in true } }
        #expect(intake.release() == 1029)
    }

    @Test("a call that is over holds nothing, whatever else comes")
    func over() {
        for last in [CallIntake.Action.refuse(.late), .refuse(.notOneMessage)] {
            var intake = CallIntake(messageBytes: 1 << 20)
            _ = intake.receive(headBytes: 10, flaw: nil, ends: false) { _ in true }
            _ = intake.receive([0, 0, 0, 4, 0], ends: false) { _ in true }
            #expect((last == .refuse(.late) ? intake.expire() : intake.receive([], ends: true) { _ in true }) == last)
            #expect(intake.release() == 15)
            #expect(intake.receive([1], ends: false) { _ in true } == .wait)
            #expect(intake.receive(headBytes: 10, flaw: nil, ends: true) { _ in true } == .wait)
            #expect(intake.expire() == .wait)
            #expect(intake.release() == 0)
        }
    }
}
