import ActorRealm
import Foundation

extension Names {
    /// Section 1.6: observing with blocks, and what they are given (1.8).
    mutating func observing() {
        var realm: Realm { value() }
        var dog: Dog { value() }
        var owner: Owner { value() }
        var queue: DispatchQueue { value() }
        group(
            "Realm.observe(_:)",
            "NotificationBlock",
            "Realm.Notification.didChange",
            "Realm.Notification.refreshRequired"
        ) {
            let block: NotificationBlock = { notification, realm in
                switch notification {
                case .didChange: realm.refresh()
                case .refreshRequired: print(notification.rawValue)
                }
            }
            let token: NotificationToken = realm.observe(block)
            let other = realm.observe { notification, realm in print(notification, realm) }
            token.invalidate()
            expect(Bool.self, other.invalidate())
        }
        group(
            "Object.observe(_:)",
            "Object.observe(keyPaths: [String]?, on:, _:)",
            "Object.observe(keyPaths: [PartialKeyPath], on:, _:)"
        ) {
            _ = dog.observe(keyPaths: ["name"], on: queue) { (_: ObjectChange<Dog>) in }
            _ = dog.observe(on: nil) { (_: ObjectChange<Dog>) in }
            _ = dog.observe { (change: ObjectChange<Dog>) in print(change) }
            _ = dog.observe { change in
                switch change {
                case .change(let object, let properties): self_print(object, properties)
                case .deleted: break
                case .error(let error): self_print(error, [])
                }
            }
            _ = dog.observe(keyPaths: ["name"]) { (_: ObjectChange<Dog>) in }
            _ = dog.observe(keyPaths: nil, on: queue) { (_: ObjectChange<Dog>) in }
            _ = dog.observe(keyPaths: [\Dog.name, \Dog.age]) { (_: ObjectChange<Dog>) in }
            _ = dog.observe(keyPaths: [\Dog.name], on: queue) { (_: ObjectChange<Dog>) in }
            _ = dog.observe(on: queue) { (_: ObjectChange<Dog>) in }
        }
        group("EmbeddedObject.observe(on:_:)", "ObjectChange.error(NSError)") {
            _ = dog.observe { (change: ObjectChange<Dog>) in
                if case .error(let error) = change { expect(NSError.self, error) }
            }
            _ = owner.address!.observe { (_: ObjectChange<Address>) in }
            _ = owner.address!.observe(on: queue) { (_: ObjectChange<Address>) in }
        }
        group(
            "Results.observe",
            "List.observe",
            "MutableSet.observe",
            "LinkingObjects.observe",
            "AnyRealmCollection.observe",
            "RealmCollection.observe(keyPaths:on:_:)"
        ) {
            func observed<Elements: RealmCollection>(_ elements: Elements) -> [NotificationToken] {
                [
                    elements.observe { (_: RealmCollectionChange<Elements>) in },
                    elements.observe(on: queue) { _ in },
                    elements.observe(keyPaths: ["name"]) { _ in },
                    elements.observe(keyPaths: nil, on: nil) { _ in },
                    elements.observe(keyPaths: ["name"], on: queue) { _ in },
                ]
            }
            _ = observed(realm.objects(Dog.self)) + observed(owner.dogs) + observed(owner.pack) + observed(dog.owners)
            _ = observed(AnyRealmCollection(owner.dogs)) + observed(owner.weights)
            let results = realm.objects(Dog.self)
            _ = results.observe { (change: RealmCollectionChange<Results<Dog>>) in
                switch change {
                case .initial(let dogs): print(dogs.count)
                case .update(
                    let dogs,
                    deletions: let deletions,
                    insertions: let insertions,
                    modifications: let modifications
                ):
                    print(dogs, deletions as [Int], insertions as [Int], modifications as [Int])
                case .error(let error): print(error)
                }
            }
            _ = results.observe { change in
                if case .update(_, let deletions, let insertions, let modifications) = change {
                    print(deletions, insertions, modifications)
                }
            }
            _ = results.observe(keyPaths: ["name", "owners.note"]) { _ in }
            _ = results.observe(keyPaths: ["name"], on: queue) { _ in }
            _ = results.observe(keyPaths: [\Dog.name]) { _ in }
            _ = results.observe(keyPaths: [\Dog.name], on: queue) { _ in }
            _ = results.observe(on: queue) { _ in }
            _ = owner.dogs.observe { (_: RealmCollectionChange<List<Dog>>) in }
            _ = owner.dogs.observe(keyPaths: [\Dog.name], on: queue) { _ in }
            _ = owner.pack.observe(keyPaths: [\Dog.name]) { _ in }
            _ = dog.owners.observe(keyPaths: [\Owner.note, \Owner.best?.name], on: queue) { _ in }
            _ = AnyRealmCollection(owner.dogs).observe(keyPaths: [\Dog.name], on: queue) { _ in }
            _ = owner.pack.observe(keyPaths: ["name"]) { (_: RealmCollectionChange<MutableSet<Dog>>) in }
            _ = dog.owners.observe(on: queue) { (_: RealmCollectionChange<LinkingObjects<Owner>>) in }
            _ = AnyRealmCollection(results).observe { (_: RealmCollectionChange<AnyRealmCollection<Dog>>) in }
        }
        group(
            "Map.observe(keyPaths: [String]?, on:, _:)",
            "Map.observe(keyPaths: [PartialKeyPath], on:, _:)",
            "RealmMapChange"
        ) {
            _ = owner.scores.observe { (change: RealmMapChange<Map<String, Int>>) in
                switch change {
                case .initial(let map): print(map.count)
                case .update(
                    let map,
                    deletions: let deletions,
                    insertions: let insertions,
                    modifications: let modifications
                ):
                    print(map, deletions as [String], insertions as [String], modifications as [String])
                case .error(let error): print(error)
                }
            }
            _ = owner.scores.observe(on: queue) { _ in }
            _ = owner.named.observe(keyPaths: ["name"]) { _ in }
            _ = owner.named.observe(keyPaths: ["name"], on: queue) { _ in }
            _ = owner.named.observe(keyPaths: [\Dog.name]) { _ in }
            _ = owner.named.observe(keyPaths: [\Dog.name], on: queue) { _ in }
        }
        group("Projection.observe", "ProjectedCollection.observe", "ProjectionObservable") {
            let projection = PersonProjection(projecting: owner)
            _ = projection.observe { (_: ObjectChange<PersonProjection>) in }
            _ = projection.observe(keyPaths: ["note"], on: queue) { (_: ObjectChange<PersonProjection>) in }
            _ = projection.observe(keyPaths: [\PersonProjection.note]) { (_: ObjectChange<PersonProjection>) in }
            _ = projection.observe(on: queue) { (_: ObjectChange<PersonProjection>) in }
            _ = projection.observe(keyPaths: [\PersonProjection.note], on: queue) {
                (_: ObjectChange<PersonProjection>) in
            }
            _ = projection.dogs.observe { (_: RealmCollectionChange<ProjectedCollection<String>>) in }
            _ = projection.dogs.observe(on: queue) { _ in }
            _ = projection.dogs.observe(keyPaths: ["name"], on: queue) { _ in }
            func observable<P: ProjectionObservable>(_: P) {}
            observable(projection)
            _ = realm.objects(PersonProjection.self)
                .observe { (_: RealmCollectionChange<Results<PersonProjection>>) in }
        }
        group(
            "SectionedResults.observe",
            "ResultsSection.observe",
            "SectionedResultsChange.initial",
            "SectionedResultsChange.update"
        ) {
            let sections = realm.objects(Dog.self).sectioned(by: \.age)
            _ = sections.observe { (change: SectionedResultsChange<SectionedResults<Int, Dog>>) in
                switch change {
                case .initial(let sections): print(sections.count)
                case .update(
                    let sections,
                    deletions: let deletions,
                    insertions: let insertions,
                    modifications: let modifications,
                    sectionsToInsert: let inserted,
                    sectionsToDelete: let deleted
                ):
                    print(sections, deletions as [IndexPath], insertions, modifications, inserted as IndexSet, deleted)
                }
            }
            _ = sections.observe(keyPaths: ["name"], on: queue) { _ in }
            _ = sections.observe(on: queue) { _ in }
            _ = sections.observe(keyPaths: [\Dog.name]) { _ in }
            _ = sections.observe(keyPaths: [\Dog.name], on: queue) { _ in }
            _ = sections[0].observe { (_: SectionedResultsChange<ResultsSection<Int, Dog>>) in }
            _ = sections[0].observe(keyPaths: ["name"], on: queue) { _ in }
            _ = sections[0].observe(keyPaths: [\Dog.name], on: queue) { _ in }
        }
        group("PropertyChange.name", "PropertyChange.oldValue", "PropertyChange.newValue") {
            let change: PropertyChange = value()
            expect(String.self, change.name)
            expect(Any?.self, change.oldValue)
            expect(Any?.self, change.newValue)
        }
        group("NotificationToken.init()", "NotificationToken.invalidate()") {
            let token: NotificationToken = NotificationToken()
            let sent: any Sendable = token
            token.invalidate()
            print(sent, token.invalidate() as Bool)
        }
    }

    /// Section 1.6: observing on actors.
    @MainActor mutating func observingOnActors() {
        var dog: Dog { value() }
        var owner: Owner { value() }
        var results: Results<Dog> { value() }
        group(
            "Object.observe(keyPaths: [String]?, on: Actor, _:)",
            "Object.observe(keyPaths: [PartialKeyPath], on: Actor, _:)"
        ) {
            let token: NotificationToken = await dog.observe(on: Background.shared) {
                (_: isolated Background, change: ObjectChange<Dog>) in
                print(change)
            }
            let tokens = await [
                dog.observe(keyPaths: ["name"], on: Background.shared) { (_, _: ObjectChange<Dog>) in },
                dog.observe(keyPaths: [\Dog.name], on: MainActor.shared) { (_, _: ObjectChange<Dog>) in },
            ]
            print(tokens)
            token.invalidate()
        }
        group(
            "Results.observe(keyPaths:on: Actor, _:)",
            "List.observe(keyPaths:on: Actor, _:)",
            "Map.observe(keyPaths:on: Actor, _:)"
        ) {
            _ = await results.observe(on: MainActor.shared) { _, change in
                if case .initial(let dogs) = change { print(dogs.count) }
            }
            _ = await results.observe(keyPaths: ["name"], on: Background.shared) { _, _ in }
            _ = await results.observe(keyPaths: [\Dog.name], on: Background.shared) { _, _ in }
            _ = await owner.dogs.observe(on: Background.shared) { _, _ in }
            _ = await owner.dogs.observe(keyPaths: ["name"], on: Background.shared) { _, _ in }
            _ = await owner.dogs.observe(keyPaths: [\Dog.name], on: Background.shared) { _, _ in }
            _ = await owner.named.observe(keyPaths: ["name"], on: Background.shared) { _, _ in }
            _ = await owner.scores.observe(on: Background.shared) { _, _ in }
            _ = await owner.named.observe(keyPaths: [\Dog.name], on: Background.shared) { _, _ in }
        }
        group(
            "MutableSet.observe(keyPaths:on: Actor, _:)",
            "LinkingObjects.observe(keyPaths:on: Actor, _:)",
            "AnyRealmCollection.observe(keyPaths:on: Actor, _:)",
            "EmbeddedObject.observe(keyPaths:on: Actor, _:)",
            "ResultsSection.observe(keyPaths:on: Actor, _:)",
            "observe(keyPaths:on: Actor, _isolation:, _:)"
        ) {
            _ = await owner.pack.observe(keyPaths: [\Dog.name], on: Background.shared) { _, _ in }
            _ = await dog.owners.observe(keyPaths: ["note"], on: Background.shared) { _, _ in }
            _ = await AnyRealmCollection(owner.dogs).observe(keyPaths: [\Dog.name], on: Background.shared) { _, _ in }
            _ = await owner.address!.observe(on: Background.shared) { (_, _: ObjectChange<Address>) in }
            _ = await owner.address!
                .observe(keyPaths: [\Address.city], on: Background.shared) { (_, _: ObjectChange<Address>) in }
            let sections = results.sectioned(by: \.age)
            _ = await sections.observe(keyPaths: [\Dog.name], on: Background.shared) { _, _ in }
            _ = await sections.observe(keyPaths: ["name"], on: Background.shared) { _, _ in }
            _ = await sections[0].observe(keyPaths: [\Dog.name], on: Background.shared) { _, _ in }
            _ = await sections[0].observe(keyPaths: ["name"], on: Background.shared) { _, _ in }
            _ = await dog.observe(keyPaths: nil, on: Background.shared, _isolation: #isolation) {
                (_, _: ObjectChange<Dog>) in
            }
            _ = await owner.dogs.observe(keyPaths: nil, on: Background.shared, _isolation: #isolation) { _, _ in }
        }
        group("Projection.observe(keyPaths:on: Actor, _:)", "SectionedResults.observe(keyPaths:on: Actor, _:)") {
            let projection = PersonProjection(projecting: owner)
            _ = await projection.observe(keyPaths: ["note"], on: Background.shared) {
                (_, _: ObjectChange<PersonProjection>) in
            }
            _ = await projection.observe(keyPaths: [\PersonProjection.note], on: Background.shared) {
                (_: isolated Background, _: ObjectChange<PersonProjection>) in
            }
            _ = await projection.observe(on: MainActor.shared) { (_, _: ObjectChange<PersonProjection>) in }
            _ = await results.sectioned(by: \.age).observe(on: MainActor.shared) { _, _ in }
        }
    }
}

private func self_print(_ value: Any, _ properties: [PropertyChange]) {}
