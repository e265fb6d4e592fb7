package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/idempotent-jobs/terraform-provider-idempotent/generator"
)

// readForward reads what each job starts: a mapping from job to the fields of its target.
func (f *specFile) readForward(node ast.Node) error {
	f.spec.Forward = map[string]generator.Forward{}
	return f.eachField(node, "forward.", func(key string, value ast.Node) error {
		var start generator.Forward
		err := f.readTarget(value, key+".", &start)
		f.spec.Forward[strings.TrimPrefix(key, "forward.")] = start
		return err
	})
}

func (f *specFile) readTarget(node ast.Node, prefix string, start *generator.Forward) error {
	texts := map[string]*string{
		"target": &start.Target, "on_unknown": &start.OnUnknown, "argument": &start.Argument, "container": &start.Container,
		"branch": &start.Branch, "tag": &start.Tag, "commit": &start.Commit,
	}
	return f.eachField(node, prefix, func(key string, value ast.Node) error {
		name := strings.TrimPrefix(key, prefix)
		if text, ok := texts[name]; ok {
			return f.readText(key, value, text)
		}
		switch name {
		case "args":
			return f.readTexts(key, value, &start.Args)
		case "env":
			return f.readMap(key, value, &start.Env)
		case "substitutions":
			return f.readMap(key, value, &start.Substitutions)
		case "tasks":
			var text string
			err := f.readText(key, value, &text)
			if start.Tasks, err = orNumber(text, err); err != nil {
				return f.errorAt(value, key+": it must be a number")
			}
			return nil
		case "timeout":
			var text string
			err := f.readText(key, value, &text)
			if start.Timeout, err = orDuration(text, err); err != nil {
				return f.errorAt(value, key+": it must be a time such as 600s")
			}
			return nil
		default:
			return f.errorAt(f.fields[key], key+": there is no such field; a target has target, on_unknown, argument, container, args, env, tasks, "+
				"timeout, branch, tag, commit and substitutions")
		}
	})
}

func orNumber(text string, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}

func orDuration(text string, err error) (time.Duration, error) {
	if err != nil {
		return 0, err
	}
	return time.ParseDuration(text)
}

func (f *specFile) readTexts(field string, node ast.Node, into *[]string) error {
	sequence, ok := node.(*ast.SequenceNode)
	if !ok {
		return f.errorAt(node, field+": it must be a list of texts")
	}
	var errs []error
	for i, value := range sequence.Values {
		var text string
		f.fields[fmt.Sprintf("%s[%d]", field, i)] = value
		errs = append(errs, f.readText(fmt.Sprintf("%s[%d]", field, i), value, &text))
		*into = append(*into, text)
	}
	return errors.Join(errs...)
}

func (f *specFile) readMap(field string, node ast.Node, into *map[string]string) error {
	*into = map[string]string{}
	return f.eachField(node, field+".", func(key string, value ast.Node) error {
		var text string
		err := f.readText(key, value, &text)
		(*into)[strings.TrimPrefix(key, field+".")] = text
		return err
	})
}

// parseForwardFlags reads JOB=TARGET pairs.
func parseForwardFlags(pairs []string) (map[string]generator.Forward, error) {
	if len(pairs) == 0 {
		return nil, nil
	}
	all := map[string]generator.Forward{}
	for _, pair := range pairs {
		job, target, found := strings.Cut(pair, "=")
		if _, twice := all[job]; !found || job == "" || target == "" || twice {
			return nil, fmt.Errorf("--forward %q: it must be of the form JOB=TARGET, once for each job; a --spec file takes arguments too", pair)
		}
		all[job] = generator.Forward{Target: target}
	}
	return all, nil
}
