import Foundation
import Synchronization
import Testing

@testable import ActorRealm

/// What locks hold, read from the symbols of the running program, where the compiler has written down the type of every
/// property, aliases resolved and types inferred.
///
/// A lock, as anything generic, that holds a function itself wraps it once more each time that it lends it out: after a
/// million accesses a call is a million calls deep (`CallDepthTests`).
@Suite("No lock of the library holds a bare function")
struct HeldFunctionTests {
    /// What the search must find.
    final class Holder {
        typealias Hook = @Sendable () -> Void
        let bare = Mutex<Hook?>(nil)
        let inTuple = Mutex<(count: Int, call: Hook)>((0, {}))
        let inferred = Mutex({ (number: Int) in number + 1 } as @Sendable (Int) -> Int)
        let generic = ThreadGate<Hook>()
        let wrapped = Mutex<ObservationHub.Hook>(ObservationHub.Hook())
        let listed = Mutex<[Hook]>([])
        let result = ThreadGate<Int>()
    }

    private static let modules = ["RealmStorage", "RealmModel", "RealmQuery", "ActorRealm"]

    /// The demangled symbols of the running program that have one of some parts in their mangled names.
    private static func symbols(naming parts: [String]) throws -> [String] {
        let image = try Data(contentsOf: URL(fileURLWithPath: "/proc/self/exe"), options: .alwaysMapped)
        var names: Set<String> = []
        image.withUnsafeBytes { bytes in
            func word<Value: FixedWidthInteger>(_ offset: Int, _: Value.Type) -> Int {
                Int(truncatingIfNeeded: bytes.loadUnaligned(fromByteOffset: offset, as: Value.self))
            }
            // ELF of 64 bits: the section headers, among them that of the symbol table, which names that of the strings.
            let headers = word(0x28, UInt64.self)
            let size = word(0x3A, UInt16.self)
            for index in 0..<word(0x3C, UInt16.self) {
                let header = headers + index * size
                guard word(header + 4, UInt32.self) == 2 else { continue }
                let strings = word(headers + word(header + 0x28, UInt32.self) * size + 0x18, UInt64.self)
                let start = word(header + 0x18, UInt64.self)
                for entry in stride(from: start, to: start + word(header + 0x20, UInt64.self), by: 24) {
                    let text = bytes.baseAddress! + strings + word(entry, UInt32.self)
                    let name = text.assumingMemoryBound(to: CChar.self)
                    guard parts.contains(where: { strstr(name, $0) != nil }) else { continue }
                    names.insert(String(cString: name))
                }
            }
        }
        return names.compactMap(demangled)
    }

    private static func demangled(_ name: String) -> String? {
        guard name.hasPrefix("$s"), let text = swiftDemangle(name, UInt(name.utf8.count), nil, nil, 0) else {
            return nil
        }
        defer { free(text) }
        return String(cString: text)
    }

    /// The arguments of a generic type, wherever it is named in a symbol.
    private static func arguments(of type: String, in symbol: String) -> [Substring] {
        var found: [Substring] = []
        var rest = symbol[...]
        while let range = rest.range(of: type + "<") {
            rest = rest[range.upperBound...]
            var depth = 1
            var last: Character = " "
            let end = rest.firstIndex { character in
                defer { last = character }
                if character == "<" { depth += 1 }
                if character == ">", last != "-" { depth -= 1 }
                return depth == 0
            }
            if let end { found.append(rest[..<end]) }
        }
        return found
    }

    /// Whether a type is a function, or an optional or a tuple with one: other types keep functions as they were put in.
    private static func isBareFunction(_ type: Substring) -> Bool {
        var opaque: [Bool] = []
        var last: Character = " "
        for index in type.indices {
            let character = type[index]
            switch character {
            case "<": opaque.append(!type[..<index].hasSuffix("Swift.Optional"))
            case ">" where last == "-": if !opaque.contains(true) { return true }
            case ">": opaque.removeLast()
            default: break
            }
            last = character
        }
        return false
    }

    /// The symbols of properties and functions in which a lock holds a bare function.
    private static func offenses() throws -> [String] {
        let named = try symbols(naming: ["5MutexV", "10ThreadGateC"])
        return named.filter { symbol in
            ["Synchronization.Mutex", "ActorRealm.ThreadGate"]
                .contains { arguments(of: $0, in: symbol).contains(where: isBareFunction) }
        }
    }

    @Test("what locks hold is found, and which of it is a function")
    func search() throws {
        let own = try Self.offenses().filter { $0.contains("HeldFunctionTests.Holder") }
        for name in ["bare", "inTuple", "inferred", "generic"] {
            #expect(own.contains { $0.contains("Holder.\(name)") }, "\(name)")
        }
        for name in ["wrapped", "listed", "result"] {
            #expect(!own.contains { $0.contains("Holder.\(name)") }, "\(name)")
        }
        withExtendedLifetime(Holder()) {}
        // The one whose depth grew, as it is now.
        let locks = try Self.symbols(naming: ["5MutexV"])
        #expect(locks.contains { $0.contains("ObservationHub.didProcess") })
        // Generic types of the library that hold what they are given in a lock are searched for, too: this one alone.
        let holders = locks.filter { symbol in
            Self.modules.contains { symbol.contains("\($0).") }
                && Self.arguments(of: "Synchronization.Mutex", in: symbol)
                    .contains { ["A", "Swift.Optional<A>"].contains($0) }
        }
        #expect(!holders.isEmpty)
        #expect(holders.allSatisfy { $0.contains("ActorRealm.ThreadGate") }, "\(holders)")
    }

    @Test("no property of the library is such a lock")
    func library() throws {
        let found = try Self.offenses()
            .filter { symbol in
                Self.modules.contains { symbol.contains("\($0).") && !symbol.contains("HeldFunctionTests") }
                    && !symbol.contains("type metadata") && !symbol.contains("specialized")
            }
        #expect(found == [])
    }
}

@_silgen_name("swift_demangle")
private func swiftDemangle(
    _ name: UnsafePointer<CChar>,
    _ length: UInt,
    _ buffer: UnsafeMutablePointer<CChar>?,
    _ size: UnsafeMutablePointer<UInt>?,
    _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
