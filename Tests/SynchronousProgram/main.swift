// A program without a task, as command-line tools and the synchronous tests of XCTest are: its main thread runs a loop, or
// hands itself over with `dispatchMain()`.

import Foundation

guard CommandLine.arguments.count == 3 else {
    print("usage: synchronous-program run-loop|dispatch-main FILE")
    exit(64)
}
let program = SynchronousProgram(path: CommandLine.arguments[2])
switch CommandLine.arguments[1] {
case "run-loop":
    program.runLoop()
    print("done")
case "dispatch-main":
    program.dispatchMain()
default:
    exit(64)
}
