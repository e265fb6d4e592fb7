package planlint

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of what one document may ask for. They are far above what Terraform writes, and keep a hostile file from taking the memory.
const (
	maxElement = 64 << 20 // bytes of one resource, variable or expression tree
	maxDepth   = 200      // nesting of modules
	maxMembers = 1 << 20  // members of one object that is walked
)

// stream walks a JSON document element by element: what is not asked for is never held as a whole. Keys that are there twice are an
// error, since two readers could take different ones of them.
type stream struct {
	decoder *jsontext.Decoder
	input   *meter // nil: the text is in memory already
}

func newStream(r io.Reader) *stream {
	input := &meter{from: r, left: maxElement}
	return &stream{decoder: jsontext.NewDecoder(input), input: input}
}

// within is a stream over a part of a document that was read already.
func (s *stream) within(text []byte) *stream {
	s.decoder.Reset(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true)) // those of the whole document have been looked for
	return s
}

// nothing is an object without members. It is never written to.
var nothing = []byte("{}")

// meter fails when one element takes more than its share, and keeps the error of the input.
type meter struct {
	from io.Reader
	left int
	err  error
}

var (
	errTooLarge = fmt.Errorf("one value is larger than %d MiB", maxElement>>20)
	errTooMany  = fmt.Errorf("one object has more than %d members", maxMembers)
	errTooDeep  = errors.New("its modules are nested too deeply")
)

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		m.err = errTooLarge
		return 0, m.err
	}
	n, err := m.from.Read(p[:min(len(p), m.left)])
	m.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		m.err = err
	}
	return n, err
}

// refill gives the next element its share.
func (s *stream) refill() {
	if s.input != nil {
		s.input.left = maxElement
	}
}

// object calls do for each key of an object, which must consume the value. Null is an empty object.
func (s *stream) object(do func(key string) error) error {
	if open, err := s.open('{', "an object"); err != nil || !open {
		return err
	}
	for n := 0; s.decoder.PeekKind() != '}'; n++ {
		if n == maxMembers {
			return errTooMany
		}
		s.refill()
		token, err := s.decoder.ReadToken()
		if err != nil {
			return err
		}
		if err := do(token.String()); err != nil {
			return err
		}
		s.refill()
	}
	_, err := s.decoder.ReadToken()
	return err
}

// array calls do for each element of an array, which must consume it. Null is an empty array.
func (s *stream) array(do func() error) error {
	if open, err := s.open('[', "a list"); err != nil || !open {
		return err
	}
	for s.decoder.PeekKind() != ']' {
		s.refill()
		if err := do(); err != nil {
			return err
		}
		s.refill()
	}
	_, err := s.decoder.ReadToken()
	return err
}

func (s *stream) open(delimiter jsontext.Kind, want string) (bool, error) {
	s.refill()
	token, err := s.decoder.ReadToken()
	switch {
	case err != nil:
		return false, err
	case token.Kind() == 'n':
		return false, nil
	case token.Kind() != delimiter:
		return false, &shapeError{want: want}
	}
	return true, nil
}

// text reads a string. Null is "".
func (s *stream) text(to *string) error {
	s.refill()
	token, err := s.decoder.ReadToken()
	switch {
	case err != nil:
		return err
	case token.Kind() == 'n':
	case token.Kind() != '"':
		return &shapeError{want: "a text"}
	default:
		*to = token.String()
	}
	return nil
}

// texts reads a list of strings.
func (s *stream) texts(to *[]string) error {
	return s.array(func() error {
		var text string
		err := s.text(&text)
		*to = append(*to, text)
		return err
	})
}

// element reads a value as it is written, which stays as it is until the stream is read on.
func (s *stream) element() ([]byte, error) {
	s.refill()
	return s.decoder.ReadValue()
}

// keep reads a value as it is written. Null is nil.
func (s *stream) keep(to *[]byte) error {
	value, err := s.element()
	switch {
	case err != nil:
		return err
	case string(value) == "null":
		*to = nil
	case string(value) == "{}": // most marks of what is unknown or sensitive are
		*to = nothing
	default:
		*to = bytes.Clone(value)
	}
	return nil
}

// skip passes over one element.
func (s *stream) skip() error {
	s.refill()
	return s.decoder.SkipValue()
}

// shapeError is JSON of another shape than Terraform's.
type shapeError struct{ want string }

func (e *shapeError) Error() string { return e.want + " was expected" }

// modules calls do for each resource of a module tree, as values have it: root_module with resources and child_modules.
func (s *stream) modules(do func() error) error {
	return s.object(func(key string) error {
		if key != "root_module" {
			return s.skip()
		}
		return s.module(0, do)
	})
}

func (s *stream) module(depth int, do func() error) error {
	if depth > maxDepth {
		return errTooDeep
	}
	return s.object(func(key string) error {
		switch key {
		case "resources":
			return s.array(do)
		case "child_modules":
			return s.array(func() error { return s.module(depth+1, do) })
		}
		return s.skip()
	})
}
