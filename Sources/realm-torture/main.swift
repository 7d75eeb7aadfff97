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

var input = LineReader()
let driver = Driver()
while let line = input.next() { send(driver.reply(to: line)) }
driver.close()
