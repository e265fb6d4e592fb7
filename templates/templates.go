// Package templates holds the texts that generated handlers are made of.
//
// A folder below kinds/ is a set of files that belong together; a kind of handler is made of one or more of them. A template's path
// is that of the file it becomes, without the ending .tmpl, with which even a go.mod can be embedded. Templates below parts/ are
// shared pieces. The folder docs/ holds the templates of the registry's pages, which are not part of any program.
package templates

import (
	"embed"
	"io/fs"
)

//go:embed all:kinds all:parts
var files embed.FS

// FS returns the templates of generated files: kinds/{folder}/{path}.tmpl and parts/{name}.tmpl.
func FS() fs.FS { return files }
