package planlint

import (
	"bytes"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object. Its members are few, so that looking at each is faster than a map, and takes less memory.
type object []member

type member struct {
	name  string
	value any
}

// get is the value of a member, nil when there is none.
func (o object) get(name string) any {
	for i := range o {
		if o[i].name == name {
			return o[i].value
		}
	}
	return nil
}

// index is an object with many members, for looking up each.
type index map[string]any

// indexed is an object with an index, if that is worth it.
func indexed(value any) any {
	o, ok := value.(object)
	if !ok || len(o) <= 16 {
		return value
	}
	all := make(index, len(o))
	for _, m := range o {
		all[m.name] = m.value
	}
	return all
}

// parsed is JSON as plain values: object, []any, string, float64, bool or nil. The text is part of a document that was read, so it is
// valid; what is not is nil.
func parsed(text []byte) any {
	switch string(text) {
	case "", "{}", "null", "false":
		return nil
	case "true":
		return true
	}
	p := parsers.Get().(*parser) //nolint:forcetypeassert // the pool holds nothing else
	defer parsers.Put(p)
	p.decoder.Reset(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	value, err := p.value()
	p.members, p.items = p.members[:0], p.items[:0]
	if err != nil {
		return nil
	}
	return value
}

// parsers are for use again, since most of what a parser needs is room.
var parsers = sync.Pool{New: func() any { return &parser{names: map[string]string{}} }}

// parser makes plain values.
type parser struct {
	decoder jsontext.Decoder
	members []member // of the objects that are not complete
	items   []any    // of the lists that are not complete
	names   map[string]string
	scratch []byte
}

func (p *parser) value() (any, error) {
	switch p.decoder.PeekKind() {
	case '{':
		return p.object()
	case '[':
		return p.list()
	case '"':
		text, err := p.text()
		return string(text), err
	}
	token, err := p.decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case 't', 'f':
		return token.Bool(), nil
	case '0':
		return token.Float(), nil
	default:
		return nil, nil
	}
}

func (p *parser) object() (any, error) {
	if _, err := p.decoder.ReadToken(); err != nil {
		return nil, err
	}
	begin := len(p.members)
	for p.decoder.PeekKind() != '}' {
		name, err := p.name()
		if err != nil {
			return nil, err
		}
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		p.members = append(p.members, member{name, value})
	}
	own := append(object{}, p.members[begin:]...)
	clear(p.members[begin:])
	p.members = p.members[:begin]
	_, err := p.decoder.ReadToken()
	return own, err
}

func (p *parser) list() (any, error) {
	if _, err := p.decoder.ReadToken(); err != nil {
		return nil, err
	}
	begin := len(p.items)
	for p.decoder.PeekKind() != ']' {
		value, err := p.value()
		if err != nil {
			return nil, err
		}
		p.items = append(p.items, value)
	}
	own := append([]any{}, p.items[begin:]...)
	clear(p.items[begin:])
	p.items = p.items[:begin]
	_, err := p.decoder.ReadToken()
	return own, err
}

// text reads a string, which stays as it is until the next is read.
func (p *parser) text() ([]byte, error) {
	quoted, err := p.decoder.ReadValue()
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1], nil
	}
	p.scratch, err = jsontext.AppendUnquote(p.scratch[:0], quoted)
	return p.scratch, err
}

// maxNames is how many names a parser remembers.
const maxNames = 4096

// name reads a member's name. Resources of a type have the same, so each is kept once.
func (p *parser) name() (string, error) {
	text, err := p.text()
	if err != nil {
		return "", err
	}
	name, known := p.names[string(text)]
	if !known {
		name = string(text)
		if len(p.names) < maxNames {
			p.names[name] = name
		}
	}
	return name, nil
}
