package plantest

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
)

// schemaText lists the types, one block each. A name with ~ is computed while it is unset, and what follows ~ is its value once it
// is applied, with {attribute} for another's; = gives a default; ! replaces the resource when it changes; @ is the provider's.
//
//go:embed schema.txt
var schemaText string

// block is the inside of a resource or of one of its blocks.
type block struct {
	attributes map[string]attribute
	blocks     map[string]*block
	order      []string // of attributes
}

type attribute struct {
	computed bool
	applied  string
	fallback *string
	replaces bool
	provider bool
}

func schemas() (map[string]*block, error) {
	words := strings.Fields(schemaText)
	all := map[string]*block{}
	for len(words) > 0 {
		if len(words) < 2 || words[1] != "{" {
			return nil, fmt.Errorf("schema: a block was expected at %q", words[0])
		}
		inside, rest, err := parseBlock(words[2:])
		if err != nil {
			return nil, err
		}
		all[words[0]] = inside
		words = rest
	}
	return all, nil
}

func parseBlock(words []string) (*block, []string, error) {
	b := &block{attributes: map[string]attribute{}, blocks: map[string]*block{}}
	for len(words) > 0 {
		word := words[0]
		switch {
		case word == "}":
			return b, words[1:], nil
		case len(words) > 1 && words[1] == "{":
			inside, rest, err := parseBlock(words[2:])
			if err != nil {
				return nil, nil, err
			}
			b.blocks[word], words = inside, rest
		default:
			name, a := parseAttribute(word)
			b.attributes[name] = a
			b.order = append(b.order, name)
			words = words[1:]
		}
	}
	return nil, nil, errors.New("schema: a block is not closed")
}

func parseAttribute(word string) (string, attribute) {
	var a attribute
	word, fallback, ok := strings.Cut(word, "=")
	if ok {
		a.fallback = &fallback
	}
	word, a.applied, a.computed = strings.Cut(word, "~")
	name := strings.TrimRight(word, "!@")
	a.replaces, a.provider = strings.Contains(word, "!"), strings.Contains(word, "@")
	return name, a
}
