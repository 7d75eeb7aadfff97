import RealmModel
