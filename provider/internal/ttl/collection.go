// Package ttl keeps the expiry policy of Firestore collections: claim records carry the time at which they may go, and a policy
// on that field removes them. A policy is set, never removed, and nothing else of the field's configuration is touched.
package ttl

import (
	"net/url"
	"strings"
)

// Field is the field of a claim record that the policy is set on.
const Field = "expire_at"

// Collection is a collection group of a Firestore database.
type Collection struct{ Project, Database, Group string }

// ParseStore reads a store URL, firestore://{project}/{database}/{collection}. False: the store is no Firestore collection.
func ParseStore(store string) (Collection, bool) {
	u, err := url.Parse(store)
	if err != nil || u.Scheme != "firestore" {
		return Collection{}, false
	}
	database, group, ok := strings.Cut(strings.TrimPrefix(u.Path, "/"), "/")
	if !ok || u.Host == "" || database == "" || group == "" || strings.Contains(group, "/") {
		return Collection{}, false
	}
	return Collection{Project: u.Host, Database: database, Group: group}, true
}

// FieldName is the resource name of the policy's field.
func (c Collection) FieldName() string {
	return c.GroupName() + "/fields/" + Field
}

// GroupName is the resource name of the collection group.
func (c Collection) GroupName() string {
	return "projects/" + c.Project + "/databases/" + c.Database + "/collectionGroups/" + c.Group
}

// String is the collection as its store URL.
func (c Collection) String() string {
	return "firestore://" + c.Project + "/" + c.Database + "/" + c.Group
}
