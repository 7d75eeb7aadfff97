/// What a migration block works with.
public final class Migration {
    init() {}
}

@available(*, unavailable, message: "A migration may be used only inside its block.")
extension Migration: Sendable {}
