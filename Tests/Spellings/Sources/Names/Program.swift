@main @MainActor
struct Program {
    static func main() {
        var names = Names()
        names.opening()
        names.openingOnTheMainActor()
        names.writing()
        names.writingOnTheMainActor()
        names.objects()
        names.observing()
        names.observingOnActors()
        names.handover()
        names.configurations()
        names.migrations()
        names.models()
        names.lists()
        names.maps()
        names.collections()
        names.values()
        names.numbers()
        names.ownTypes()
        names.queries()
        names.texts()
        names.formerNames()
        #if swift(>=6)
        print("\(names.count) names of RealmSwift compile in the language mode of Swift 6.")
        #else
        print("\(names.count) names of RealmSwift compile in the language mode of Swift 5.")
        #endif
    }
}
