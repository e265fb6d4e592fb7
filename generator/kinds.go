package generator

import "strings"

// kind is one way to run a handler. Its files are those of its template folders; where two hold the same path, the later wins.
type kind struct {
	name    string
	folders []string
}

// kinds lists the kinds in the order in which messages name them.
func kinds() []kind {
	return []kind{
		{name: "http", folders: []string{"module", "http"}},
	}
}

// Kinds returns the names of the kinds of handler.
func Kinds() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

func findKind(name string) (kind, *SpecError) {
	if name == "" {
		name = "http"
	}
	for _, k := range kinds() {
		if k.name == name {
			return k, nil
		}
	}
	return kind{}, &SpecError{Field: "kind", Value: name, Reason: "it must be one of " + strings.Join(Kinds(), ", ")}
}
