@_spi(Tools) import ActorRealm
import Foundation
import Glibc

/// Writes a line to standard output, all of it.
func send(_ line: String) {
    var bytes = Array(line.utf8)[...]
    bytes.append(0x0A)
    while !bytes.isEmpty {
        let written = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        if written < 0 {
            if errno == EINTR { continue }
            exit(1)
        }
        bytes = bytes.dropFirst(written)
    }
}

/// How long each request took, in microseconds; noted where `--times FILE` asks for them, and written there when the input
/// ends, one a line in the order of the requests.
var times: [UInt32]?
var timesPath = ""

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--times" {
    times = []
    timesPath = CommandLine.arguments[2]
} else if CommandLine.arguments.count > 1 {
    FileHandle.standardError.write(Data("usage: realm-torture [--times FILE]\n".utf8))
    exit(64)
}

do throws(Realm.Error) {
    _ = try Realm.logMode()
} catch {
    FileHandle.standardError.write(Data("realm-torture: \(error.localizedDescription)\n".utf8))
    exit(64)
}

var input = LineReader()
let driver = Driver()
while let line = input.next() {
    let began = ContinuousClock.now
    let reply = driver.reply(to: line)
    times?.append(UInt32(clamping: Int64((ContinuousClock.now - began) / .microseconds(1))))
    send(reply)
}
driver.close()

if let times {
    do {
        try Data(times.map { "\($0)\n" }.joined().utf8).write(to: URL(fileURLWithPath: timesPath))
    } catch {
        FileHandle.standardError.write(Data("the times were not written: \(error)\n".utf8))
        exit(1)
    }
}
