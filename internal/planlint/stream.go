package planlint

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Bounds of what one document may ask for. They are far above what Terraform writes, and keep a hostile file from taking the memory.
const (
	maxElement = 64 << 20 // bytes of one resource, variable or expression tree
	maxDepth   = 200      // nesting of modules
)

// stream walks a JSON document element by element: what is not asked for is never held as a whole.
type stream struct {
	decoder *json.Decoder
	input   *meter
}

func newStream(r io.Reader) *stream {
	input := &meter{from: r, left: maxElement}
	return &stream{decoder: json.NewDecoder(input), input: input}
}

// meter fails when one element takes more than its share.
type meter struct {
	from io.Reader
	left int
	read int64
}

var errTooLarge = fmt.Errorf("one value is larger than %d MiB", maxElement>>20)

func (m *meter) Read(p []byte) (int, error) {
	if m.left <= 0 {
		return 0, errTooLarge
	}
	n, err := m.from.Read(p[:min(len(p), m.left)])
	m.left -= n
	m.read += int64(n)
	return n, err
}

// object calls do for each key of an object, which must consume the value. Null is an empty object.
func (s *stream) object(do func(key string) error) error {
	if open, err := s.open('{'); err != nil || !open {
		return err
	}
	for s.decoder.More() {
		s.input.left = maxElement
		token, err := s.decoder.Token()
		if err != nil {
			return err
		}
		key, ok := token.(string)
		if !ok {
			return fmt.Errorf("a key was expected, not %v", token)
		}
		if err := do(key); err != nil {
			return err
		}
	}
	_, err := s.decoder.Token()
	return err
}

// array calls do for each element of an array, which must consume it. Null is an empty array.
func (s *stream) array(do func() error) error {
	if open, err := s.open('['); err != nil || !open {
		return err
	}
	for s.decoder.More() {
		if err := do(); err != nil {
			return err
		}
	}
	_, err := s.decoder.Token()
	return err
}

func (s *stream) open(delimiter json.Delim) (bool, error) {
	s.input.left = maxElement
	token, err := s.decoder.Token()
	if err != nil {
		return false, err
	}
	if token == nil {
		return false, nil
	}
	if token != delimiter {
		return false, &shapeError{want: delimiter.String(), got: token}
	}
	return true, nil
}

// decode reads one element.
func (s *stream) decode(v any) error {
	s.input.left = maxElement
	return s.decoder.Decode(v)
}

// skip passes over one element.
func (s *stream) skip() error {
	var nothing ignored
	return s.decode(&nothing)
}

// ignored takes any JSON value and keeps nothing of it.
type ignored struct{}

// UnmarshalJSON keeps nothing.
func (*ignored) UnmarshalJSON([]byte) error { return nil }

// shapeError is JSON of another shape than Terraform's.
type shapeError struct {
	want string
	got  json.Token
}

func (e *shapeError) Error() string {
	kind := map[string]string{"{": "an object", "[": "a list"}[e.want]
	return fmt.Sprintf("%s was expected", kind)
}

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

var errTooDeep = errors.New("its modules are nested too deeply")
