package planlint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Document is what is kept of a plan or state.
type Document struct {
	resources []*resource
	config    *configModule
	providers map[string]object // the expressions of a provider block, by its key
	variables map[string]string // of the root module, those that are text; only a plan has them
	total     int
	state     bool
}

// Read reads the output of terraform show -json or tofu show -json, of a plan or a state. The error is one line that says what the
// input is instead, and what to do.
func Read(r io.Reader) (*Document, error) {
	head := make([]byte, 4)
	n, err := io.ReadFull(r, head)
	switch {
	case errors.Is(err, io.EOF):
		return nil, errors.New("it is empty: write it by `terraform show -json PLAN`")
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("it cannot be read: %w", err)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return nil, errors.New("it is a plan in Terraform's own format: write it as JSON by `terraform show -json PLAN`")
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return nil, errors.New("it is compressed: give it as `gunzip -c FILE | terraform-provider-idempotent check -`")
	}
	reading := reader{
		stream: newStream(asUTF8(head[:n], r)), inner: &stream{decoder: &jsontext.Decoder{}},
		document: &Document{providers: map[string]object{}, variables: map[string]string{}},
	}
	if err := reading.read(); err != nil {
		return nil, reading.explain(err)
	}
	reading.document.link()
	return reading.document, nil
}

// asUTF8 is text that begins with head as UTF-8 without a byte order mark. PowerShell writes what is redirected into a file as UTF-16.
func asUTF8(head []byte, rest io.Reader) io.Reader {
	whole := io.MultiReader(bytes.NewReader(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))), rest)
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return transform.NewReader(whole, unicode.BOMOverride(transform.Nop))
	}
	return whole
}

// copied is a copy of a document whose resources can let go of what they hold.
func (d *Document) copied() *Document {
	c := *d
	c.resources = make([]*resource, len(d.resources))
	for i, r := range d.resources {
		own := *r
		c.resources[i] = &own
	}
	return &c
}

// reader reads the parts of a document.
type reader struct {
	*stream

	inner    *stream // over the element that was read last
	document *Document
	format   string
	foreign  string // what else the document is, if its keys tell
	found    bool   // values or changes
}

func (r *reader) read() error {
	if err := r.object(r.part); err != nil {
		return err
	}
	if _, err := r.decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	switch {
	case r.foreign != "":
		return &foreignError{r.foreign}
	case r.format == "":
		return errors.New("it has no format_version")
	case !strings.HasPrefix(r.format, "0.") && !strings.HasPrefix(r.format, "1."):
		return fmt.Errorf("its format_version is %.20q, and this program reads 1.x: use a newer version of it", r.format)
	case !r.found:
		return errors.New("it holds no plan and no state: nothing was applied yet")
	}
	return nil
}

// foreignError is another document that is known by its keys.
type foreignError struct{ what string }

// Error says which, and what to do.
func (e *foreignError) Error() string { return e.what }

// explain makes one line of an error.
func (r *reader) explain(err error) error {
	var syntax *jsontext.SyntacticError
	var shape *shapeError
	var foreign *foreignError
	const remedy = "write it by `terraform show -json PLAN`"
	switch {
	case r.input.err != nil:
		return fmt.Errorf("it cannot be read: %w", r.input.err)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("it ends in the middle: %s again", remedy)
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not JSON (%s at byte %d): %s", firstLine(syntax.Err), syntax.ByteOffset, remedy)
	case errors.As(err, &foreign):
		return foreign
	case errors.As(err, &shape):
		return fmt.Errorf("it is JSON, but no output of terraform show -json (%w near byte %d): %s", shape, r.decoder.InputOffset(), remedy)
	default:
		return fmt.Errorf("%s: %s", firstLine(err), remedy)
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

func (r *reader) part(key string) error {
	d := r.document
	switch key {
	case "format_version":
		return r.text(&r.format)
	case "resource_changes":
		r.found = true
		return r.array(r.change)
	case "values":
		r.found, d.state = true, true
		return r.modules(r.value)
	case "planned_values":
		r.found = true
		return r.modules(r.skip)
	case "prior_state":
		return r.object(func(key string) error {
			if key != "values" {
				return r.skip()
			}
			return r.modules(r.skip)
		})
	case "resource_drift":
		return r.array(r.skip)
	case "variables":
		return r.variables()
	case "configuration":
		return r.configuration()
	case "lineage", "serial":
		r.foreign = "it is a state file in Terraform's own format: write it as JSON by `terraform show -json`"
	case "provider_schemas":
		r.foreign = "it holds the schemas of providers, not a plan: write the plan by `terraform show -json PLAN`"
	}
	return r.skip()
}

// change reads an element of resource_changes.
func (r *reader) change() error {
	var found resource
	var deposed string
	wanted, err := r.instance(&found, func(in *stream, key string) error {
		switch key {
		case "previous_address":
			return in.text(&found.previous)
		case "module_address":
			return in.text(&found.module)
		case "deposed":
			return in.text(&deposed)
		case "change":
			if found.kind != "" && !relevant(found.kind) { // Terraform writes the type first
				return in.skip()
			}
			return in.sides(&found)
		}
		return in.skip()
	})
	if err != nil || !wanted || deposed != "" {
		return err
	}
	if found.is("no-op") { // then both are the same
		found.before, found.beforeSensitive = nil, nil
	}
	r.document.add(&found)
	return nil
}

// instance reads an element that is an instance of a resource, and counts it: here what tells it from others, by rest what else there
// is of it. Wanted: it is managed, and of a type that is kept.
func (r *reader) instance(found *resource, rest func(in *stream, key string) error) (wanted bool, err error) {
	whole, err := r.element()
	if err != nil {
		return false, err
	}
	var mode string
	in := r.inner.within(whole)
	if err := in.object(func(key string) error {
		switch key {
		case "address":
			return in.text(&found.address)
		case "mode":
			return in.text(&mode)
		case "type":
			return in.text(&found.kind)
		case "name":
			return in.text(&found.name)
		case "index":
			return in.index(&found.index)
		}
		return rest(in, key)
	}); err != nil {
		return false, err
	}
	r.document.total++
	return mode == managedResources && relevant(found.kind), nil
}

// add keeps a resource that was read.
func (d *Document) add(found *resource) {
	found.hasBefore, found.hasAfter, found.place = found.before != nil, found.after != nil, len(d.resources)
	d.resources = append(d.resources, found)
}

// sides reads what a resource is before and after a change.
func (s *stream) sides(r *resource) error {
	return s.object(func(key string) error {
		switch key {
		case "actions":
			return s.texts(&r.actions)
		case "before":
			return s.keep(&r.before)
		case "after":
			return s.keep(&r.after)
		case "after_unknown":
			return s.keep(&r.unknown)
		case "before_sensitive":
			return s.keep(&r.beforeSensitive)
		case "after_sensitive":
			return s.keep(&r.afterSensitive)
		}
		return s.skip()
	})
}

// index reads an instance key, which stays JSON.
func (s *stream) index(to *string) error {
	value, err := s.element()
	if err == nil && string(value) != "null" {
		*to = string(value)
	}
	return err
}

// value reads a resource of a state.
func (r *reader) value() error {
	var found resource
	wanted, err := r.instance(&found, func(in *stream, key string) error {
		switch key {
		case "values":
			if found.kind != "" && !relevant(found.kind) {
				return in.skip()
			}
			return in.keep(&found.after)
		case "sensitive_values":
			return in.keep(&found.afterSensitive)
		}
		return in.skip()
	})
	if err != nil || !wanted {
		return err
	}
	module, _, _ := cutLast(found.address, found.kind+"."+found.name)
	found.module = strings.TrimSuffix(module, ".")
	r.document.add(&found)
	return nil
}

// variables keeps the values of the root module's variables that are text.
func (r *reader) variables() error {
	return r.object(func(name string) error {
		return r.object(func(key string) error {
			if key != "value" || r.decoder.PeekKind() != '"' {
				return r.skip()
			}
			var text string
			err := r.text(&text)
			r.document.variables[name] = text
			return err
		})
	})
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}
