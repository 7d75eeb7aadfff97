import Foundation

/// What a child process that reads files from strangers may use.
enum Limits {
    /// Limits this process, from here on: its address space beyond what it has, and the length of its files.
    static func bound(addressSpace: Int = 6 << 30, fileByteCount: Int = 256 << 20) {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").first
        let used = (pages.flatMap { Int($0) } ?? 0) * 4096
        set(RLIMIT_AS, to: used + addressSpace)
        // A write beyond the length is an error then, and no signal.
        signal(SIGXFSZ, SIG_IGN)
        set(RLIMIT_FSIZE, to: fileByteCount)
    }

    /// Ends this process when it has used some more seconds of processor time: what a busy machine adds does not count.
    static func allow(processorSeconds seconds: Int) {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        set(RLIMIT_CPU, to: Int(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + seconds)
    }

    /// Has a file hold what this process says about its end.
    static func sendErrors(to path: String) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        dup2(descriptor, STDERR_FILENO)
        close(descriptor)
    }

    private static func set(_ resource: __rlimit_resource, to value: Int) {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(resource.rawValue), &limit)
        limit.rlim_cur = min(rlim_t(value), limit.rlim_max)
        setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
    }
}
