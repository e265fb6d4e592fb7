package planlint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Document is what is kept of a plan or state.
type Document struct {
	resources []*resource
	config    *configModule
	providers map[string]providerConfig
	variables map[string]variable
	total     int
	state     bool
}

// variable is a variable of the root module. Only a plan has them.
type variable struct {
	Value any `json:"value"`
}

// Read reads the output of terraform show -json or tofu show -json, of a plan or a state. The error is one line that says what the
// input is instead, and what to do.
func Read(r io.Reader) (*Document, error) {
	head := make([]byte, 4)
	n, err := io.ReadFull(r, head)
	switch {
	case n == 0:
		return nil, errors.New("it is empty: write it by `terraform show -json PLAN`")
	case err != nil && !errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fmt.Errorf("it cannot be read: %w", err)
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return nil, errors.New("it is a plan in Terraform's own format: write it as JSON by `terraform show -json PLAN`")
	}
	head = bytes.TrimPrefix(head[:n], []byte("\xef\xbb\xbf"))
	reading := reader{stream: newStream(io.MultiReader(bytes.NewReader(head), r)), document: &Document{}}
	if err := reading.read(); err != nil {
		return nil, reading.explain(err)
	}
	reading.document.link()
	return reading.document, nil
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

	document *Document
	format   string
	foreign  string // what else the document is, if its keys tell
	found    bool   // values or changes
}

func (r *reader) read() error {
	if err := r.object(r.part); err != nil {
		return err
	}
	if _, err := r.decoder.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the document")
	}
	switch {
	case r.foreign != "":
		return errors.New(r.foreign)
	case r.format == "":
		return errors.New("it has no format_version")
	case !strings.HasPrefix(r.format, "0.") && !strings.HasPrefix(r.format, "1."):
		return fmt.Errorf("its format_version is %.20q, and this program reads 1.x: use a newer version of it", r.format)
	case !r.found:
		return errors.New("it holds no plan and no state: nothing was applied yet")
	}
	return nil
}

// explain makes one line of an error.
func (r *reader) explain(err error) error {
	var syntax *json.SyntaxError
	var shape *shapeError
	var kind *json.UnmarshalTypeError
	const remedy = "write it by `terraform show -json PLAN`"
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not JSON (%s at byte %d): %s", syntax.Error(), syntax.Offset, remedy)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("it ends in the middle: %s again", remedy)
	case errors.As(err, &shape), errors.As(err, &kind):
		return fmt.Errorf("it is JSON, but no output of terraform show -json (%s near byte %d): %s", firstLine(err), r.decoder.InputOffset(), remedy)
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
		return r.decode(&r.format)
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
		return r.decode(&d.variables)
	case "configuration":
		return r.configuration()
	case "lineage", "serial":
		r.foreign = "it is a state file in Terraform's own format: write it as JSON by `terraform show -json`"
	case "provider_schemas":
		r.foreign = "it holds the schemas of providers, not a plan"
	}
	return r.skip()
}

// changeJSON is an element of resource_changes.
type changeJSON struct {
	Address         string          `json:"address"`
	PreviousAddress string          `json:"previous_address"`
	ModuleAddress   string          `json:"module_address"`
	Mode            string          `json:"mode"`
	Type            string          `json:"type"`
	Name            string          `json:"name"`
	Index           json.RawMessage `json:"index"`
	Deposed         string          `json:"deposed"`
	Change          struct {
		Actions         []string        `json:"actions"`
		Before          json.RawMessage `json:"before"`
		After           json.RawMessage `json:"after"`
		AfterUnknown    json.RawMessage `json:"after_unknown"`
		BeforeSensitive json.RawMessage `json:"before_sensitive"`
		AfterSensitive  json.RawMessage `json:"after_sensitive"`
	} `json:"change"`
}

func (r *reader) change() error {
	var c changeJSON
	if err := r.decode(&c); err != nil {
		return err
	}
	d := r.document
	d.total++
	if c.Mode != managedResources || c.Deposed != "" || !relevant(c.Type) {
		return nil
	}
	if len(c.Change.Actions) == 1 && c.Change.Actions[0] == "no-op" { // then both are the same
		c.Change.Before, c.Change.BeforeSensitive = nil, nil
	}
	d.resources = append(d.resources, &resource{
		address: c.Address, previous: c.PreviousAddress, module: c.ModuleAddress, kind: c.Type, name: c.Name, index: string(c.Index),
		actions: c.Change.Actions, place: len(d.resources), before: c.Change.Before, after: c.Change.After, unknown: c.Change.AfterUnknown,
		beforeSensitive: c.Change.BeforeSensitive, afterSensitive: c.Change.AfterSensitive,
		hasBefore: given(c.Change.Before), hasAfter: given(c.Change.After),
	})
	return nil
}

// valueJSON is a resource of a state.
type valueJSON struct {
	Address   string          `json:"address"`
	Mode      string          `json:"mode"`
	Type      string          `json:"type"`
	Name      string          `json:"name"`
	Index     json.RawMessage `json:"index"`
	Values    json.RawMessage `json:"values"`
	Sensitive json.RawMessage `json:"sensitive_values"`
}

func (r *reader) value() error {
	var v valueJSON
	if err := r.decode(&v); err != nil {
		return err
	}
	d := r.document
	d.total++
	if v.Mode != managedResources || !relevant(v.Type) {
		return nil
	}
	module, _, _ := cutLast(v.Address, v.Type+"."+v.Name)
	d.resources = append(d.resources, &resource{
		address: v.Address, module: strings.TrimSuffix(module, "."), kind: v.Type, name: v.Name, index: string(v.Index),
		place: len(d.resources), after: v.Values, afterSensitive: v.Sensitive, hasAfter: given(v.Values),
	})
	return nil
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}
