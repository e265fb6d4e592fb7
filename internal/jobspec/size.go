package jobspec

import (
	"net/http"
	"strings"
)

// Limits of Cloud Scheduler in bytes. It publishes 1 MB and 80 KB, and not how they are counted: [Content.Size] and [HeaderSize] count
// what is written, which is the same for a job that is declared and for one that is stored.
const (
	MaxSize    = 1 << 20  // of a job, inclusive
	MaxHeaders = 80 << 10 // of the names and values of all headers together, exclusive
)

// Content is what of a job has a size that its author decides. What the server fills in or follows from the rest does not count: the
// audience, the scope, the routing, numbers and times.
type Content struct {
	// Texts are the name projects/…/jobs/…, description, schedule, canonical time zone, URI or relative URI, and service account.
	Texts   []string
	Headers map[string]string
	Body    int // bytes
}

// Size is how many bytes count towards [MaxSize].
func (c Content) Size() int {
	total := c.Body + HeaderSize(c.Headers)
	for _, text := range c.Texts {
		total += len(text)
	}
	return total
}

// HeaderSize is how many bytes of names and values count towards [MaxHeaders]: none of a header that the server added.
func HeaderSize(headers map[string]string) int {
	total := 0
	for name, value := range headers {
		if own, ok := written(name, value); ok {
			total += len(name) + len(own)
		}
	}
	return total
}

// written is what of a header's value its author wrote, and false if the whole header is one that the server adds to a stored job.
func written(name, value string) (string, bool) {
	switch http.CanonicalHeaderKey(name) {
	case "User-Agent":
		value = strings.TrimSuffix(strings.TrimSuffix(value, "AppEngine-Google; (+http://code.google.com/appengine)"), " ")
		return value, value != "" && value != "Google-Cloud-Scheduler"
	case "Content-Type":
		return value, value != "application/octet-stream"
	case "Authorization":
		return value, value != ""
	}
	return value, true
}
