package generator

import "encoding/json"

// AddFile adds a file of ours to a plan, as an earlier or later version of the templates would have it.
func AddFile(files []File, f File) ([]File, error) {
	var m manifest
	var all []File
	for _, file := range files {
		if file.Path != ManifestPath {
			all = append(all, file)
		} else if err := json.Unmarshal(file.Content, &m); err != nil {
			return nil, err
		}
	}
	all = append(all, f)
	changed, err := newManifest(data{Name: m.Handler, Kind: m.Kind}, all).file()
	return append(all, changed), err
}
