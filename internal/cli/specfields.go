package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// fieldSet are the fields of a part of a spec by their names, and where their values go.
type fieldSet struct {
	part      string // the name of the part, such as api
	texts     map[string]*string
	durations map[string]*time.Duration
	booleans  map[string]func(bool)
	lists     map[string]*[]string
	pairs     map[string]*map[string]string
	numbers   map[string]*map[string]int
}

func webhookFields(w *generator.Webhook) fieldSet {
	return fieldSet{
		part:      "webhook",
		texts:     map[string]*string{"source": &w.Source, "on_conflict": &w.OnConflict},
		durations: map[string]*time.Duration{"retry_horizon": &w.RetryHorizon, "tolerance": &w.Tolerance},
		lists:     map[string]*[]string{"events": &w.Events, "secrets": &w.Secrets},
	}
}

func apiFields(a *generator.API) fieldSet {
	return fieldSet{
		part:      "api",
		texts:     map[string]*string{"tenant_header": &a.TenantHeader, "code_member": &a.CodeMember, "lapse": &a.Lapse},
		durations: map[string]*time.Duration{"window": &a.Window},
		booleans: map[string]func(bool){
			"key_required":         func(v bool) { a.KeyOptional = !v },
			"accept_failover_loss": func(v bool) { a.AcceptFailoverLoss = v },
		},
		pairs:   map[string]*map[string]string{"codes": &a.Codes},
		numbers: map[string]*map[string]int{"statuses": &a.Statuses},
	}
}

// names are those of all fields, in order.
func (s fieldSet) names() []string {
	names := slices.Concat(slices.Collect(maps.Keys(s.texts)), slices.Collect(maps.Keys(s.durations)), slices.Collect(maps.Keys(s.booleans)),
		slices.Collect(maps.Keys(s.lists)), slices.Collect(maps.Keys(s.pairs)), slices.Collect(maps.Keys(s.numbers)))
	slices.Sort(names)
	return names
}

// set gives the field of that name a single value: a list one more element, and of a map, with the name MAP.KEY, one key. The error
// says what the value must be.
func (s fieldSet) set(name, value string) error {
	if text, ok := s.texts[name]; ok {
		*text = value
		return nil
	}
	if list, ok := s.lists[name]; ok {
		*list = append(*list, value)
		return nil
	}
	if d, ok := s.durations[name]; ok {
		var err error
		if *d, err = time.ParseDuration(value); err != nil {
			return errors.New("it must be a time such as 600s")
		}
		return nil
	}
	if set, ok := s.booleans[name]; ok {
		switch value {
		case "true", "false":
			set(value == "true")
			return nil
		}
		return errors.New("it must be true or false")
	}
	parent, key, _ := strings.Cut(name, ".")
	if pairs, ok := s.pairs[parent]; ok && key != "" {
		put(pairs, key, value)
		return nil
	}
	if numbers, ok := s.numbers[parent]; ok && key != "" {
		number, err := strconv.Atoi(value)
		if err != nil {
			return errors.New("it must be a number")
		}
		put(numbers, key, number)
		return nil
	}
	return fmt.Errorf("there is no such field; %s has %s", s.part, strings.Join(s.names(), ", "))
}

func put[V any](into *map[string]V, key string, value V) {
	if *into == nil {
		*into = map[string]V{}
	}
	(*into)[key] = value
}

// readPart reads a part of a spec file into its fields.
func (f *specFile) readPart(node ast.Node, s fieldSet) error {
	prefix := s.part + "."
	return f.eachField(node, prefix, func(key string, value ast.Node) error {
		name := strings.TrimPrefix(key, prefix)
		if list, ok := s.lists[name]; ok {
			return f.readTexts(key, value, list)
		}
		_, pairs := s.pairs[name]
		_, numbers := s.numbers[name]
		if !pairs && !numbers {
			return f.readField(key, value, s, name)
		}
		return f.eachField(value, key+".", func(inner string, value ast.Node) error {
			return f.readField(inner, value, s, strings.TrimPrefix(inner, prefix))
		})
	})
}

// readField reads a field with a single value.
func (f *specFile) readField(key string, value ast.Node, s fieldSet, name string) error {
	at := f.fields[key]
	if slices.Contains(s.names(), strings.Split(name, ".")[0]) {
		at = value
	}
	var text string
	if at == value {
		if err := f.readText(key, value, &text); err != nil {
			return err
		}
	}
	if err := s.set(name, text); err != nil {
		return f.errorAt(at, key+": "+err.Error())
	}
	return nil
}

// parsePartFlags reads KEY=VALUE pairs into the fields of a part. A list takes several values with commas between them.
func parsePartFlags(pairs []string, s fieldSet) error {
	for _, pair := range pairs {
		key, value, found := strings.Cut(pair, "=")
		if !found || key == "" {
			return fmt.Errorf("--%s %q: it must be of the form KEY=VALUE; the keys are %s", s.part, pair, strings.Join(s.names(), ", "))
		}
		values := []string{value}
		if _, list := s.lists[key]; list {
			values = strings.Split(value, ",")
		}
		for _, value := range values {
			if err := s.set(key, value); err != nil {
				return fmt.Errorf("--%s %s: %w", s.part, key, err)
			}
		}
	}
	return nil
}
