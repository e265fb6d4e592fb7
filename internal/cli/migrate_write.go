package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// migration writes the configuration that takes jobs over.
type migration struct {
	enforce bool
}

// group is the instances of one resource, which one block declares.
type group struct {
	module, name string
	jobs         []incumbentJob
}

// write is the whole configuration.
func (m migration) write(jobs []incumbentJob) []byte {
	file := hclwrite.NewEmptyFile()
	body := file.Body()
	var staying []incumbentJob
	var groups []*group
	for _, job := range jobs {
		if job.stays() != "" {
			staying = append(staying, job)
			continue
		}
		i := slices.IndexFunc(groups, func(g *group) bool { return g.module == job.module && g.name == job.name })
		if i < 0 {
			i, groups = len(groups), append(groups, &group{module: job.module, name: job.name})
		}
		groups[i].jobs = append(groups[i].jobs, job)
	}
	module := ""
	for _, g := range groups {
		if g.module != module {
			module = g.module
			comment(body, "What follows belongs into the configuration of "+module+".")
			body.AppendNewline()
		}
		m.resource(body, g)
	}
	m.stays(body, staying)
	return hclwrite.Format(file.Bytes())
}

// resource writes the block and the moves of a group.
func (m migration) resource(body *hclwrite.Body, g *group) {
	keyed := g.jobs[0].key != nil
	columns, same := columnsOf(g.jobs)
	switch {
	case !same:
		comment(body, "The instances of google_cloud_scheduler_job."+g.name+" differ in their blocks: change the type's name in their own block",
			"instead of copying one from here.")
	default:
		m.block(body, g, columns, keyed)
	}
	var moved []string
	for _, job := range g.jobs {
		from := job.address()
		if slices.Contains(moved, from) {
			continue // another instance of the module
		}
		moved = append(moved, from)
		to := "idempotent_scheduled_job." + g.name + keyText(job.key)
		if same && keyed {
			to = "idempotent_scheduled_job." + g.name + keyText(fmt.Sprint(job.key))
		}
		block := body.AppendNewBlock("moved", nil).Body()
		block.SetAttributeRaw("from", raw(from))
		block.SetAttributeRaw("to", raw(to))
		body.AppendNewline()
	}
}

// column is one attribute of all instances of a group.
type column struct {
	path   string
	values []leaf // one an instance; a leaf without path: the instance leaves it out
}

func (c column) constant() bool {
	for _, l := range c.values {
		if l.path == "" || !l.value.RawEquals(c.values[0].value) {
			return false
		}
	}
	return true
}

// columnsOf puts the attributes of all instances beside each other. False: they differ in which blocks they have, or one key is there
// twice with different values, so that no one block declares them all.
func columnsOf(jobs []incumbentJob) ([]column, bool) {
	var columns []column
	blocks := ""
	for i, job := range jobs {
		leaves, hidden := job.leaves()
		if i == 0 {
			blocks = blocksOf(leaves, hidden)
		} else if blocksOf(leaves, hidden) != blocks {
			return nil, false
		}
		at := 0
		for _, l := range leaves {
			found := slices.IndexFunc(columns, func(c column) bool { return c.path == l.path })
			if found < 0 {
				columns = slices.Insert(columns, at, column{path: l.path, values: make([]leaf, len(jobs))})
				found = at
			}
			columns[found].values[i] = l
			at = found + 1
		}
	}
	for i, job := range jobs {
		for k := range jobs[:i] {
			if jobs[k].key == job.key && slices.ContainsFunc(columns, func(c column) bool {
				return c.values[i].path != c.values[k].path || c.values[i].path != "" && !c.values[i].value.RawEquals(c.values[k].value)
			}) {
				return nil, false
			}
		}
	}
	return columns, true
}

// blocksOf lists the blocks that hold the leaves, and the hidden headers.
func blocksOf(leaves []leaf, hidden []string) string {
	blocks := slices.Clone(hidden)
	for _, l := range leaves {
		if end := strings.LastIndex(l.path, "."); end > 0 && !slices.Contains(blocks, l.path[:end]) {
			blocks = append(blocks, l.path[:end])
		}
	}
	slices.Sort(blocks)
	return strings.Join(blocks, " ")
}

// block writes one resource block, and the variables that stand for its secrets.
func (m migration) block(body *hclwrite.Body, g *group, columns []column, keyed bool) {
	resource := hclwrite.NewBlock("resource", []string{"idempotent_scheduled_job", g.name})
	var variables []string
	if keyed {
		resource.Body().SetAttributeRaw("for_each", table(g.jobs, columns))
		resource.Body().AppendNewline()
	}
	reference := func(suffix string) string {
		name := g.name + "_" + identifier(suffix)
		variables = append(variables, name)
		if keyed {
			return "var." + name + "[each.key]"
		}
		return "var." + name
	}
	for _, c := range columns {
		steps := strings.Split(c.path, ".")
		at, name := blockAt(resource.Body(), steps[:len(steps)-1]), steps[len(steps)-1]
		switch {
		case slices.ContainsFunc(c.values, func(l leaf) bool { return l.secret }):
			at.SetAttributeRaw(name, raw(reference(strings.Join(steps, "_"))))
		case keyed && !c.constant():
			at.SetAttributeRaw(name, raw("each.value."+strings.Join(steps, "_")))
		default:
			at.SetAttributeValue(name, c.values[0].value)
		}
	}
	shown := len(variables)
	m.hidden(resource.Body(), g, reference)
	if !m.enforce {
		resource.Body().AppendNewline()
		resource.Body().AppendNewBlock("deduplication", nil).Body().SetAttributeValue("mode", cty.StringVal("observe"))
	}
	for i, name := range variables {
		variable(body, name, keyed, i >= shown)
	}
	body.AppendBlock(resource)
	body.AppendNewline()
}

// hidden writes the write-only headers.
func (migration) hidden(resource *hclwrite.Body, g *group, reference func(string) string) {
	_, names := g.jobs[0].leaves()
	if len(names) == 0 {
		return
	}
	block := "http_target"
	if only(g.jobs[0].values[block]) == nil {
		block = "app_engine_http_target"
	}
	var items []hclwrite.ObjectAttrTokens
	for _, name := range names {
		items = append(items, hclwrite.ObjectAttrTokens{Name: hclwrite.TokensForValue(cty.StringVal(name)), Value: raw(reference(name))})
	}
	target := blockAt(resource, []string{block})
	target.SetAttributeRaw("headers_wo", hclwrite.TokensForObject(items))
	target.SetAttributeValue("headers_wo_version", cty.StringVal("1"))
}

// variable declares a variable for a secret. What ends in write-only headers need not be kept anywhere.
func variable(body *hclwrite.Body, name string, keyed, ephemeral bool) {
	block := body.AppendNewBlock("variable", []string{name}).Body()
	kind := "string"
	if keyed {
		kind = "map(string)"
	}
	block.SetAttributeRaw("type", raw(kind))
	block.SetAttributeValue("sensitive", cty.True)
	if ephemeral {
		block.SetAttributeValue("ephemeral", cty.True)
	}
	body.AppendNewline()
}

// table is the value of for_each: each instance with what is not the same for all.
func table(jobs []incumbentJob, columns []column) hclwrite.Tokens {
	var rows []hclwrite.ObjectAttrTokens
	written := map[string]bool{}
	for i, job := range jobs {
		key := fmt.Sprint(job.key)
		if written[key] {
			continue
		}
		written[key] = true
		var fields []hclwrite.ObjectAttrTokens
		for _, c := range columns {
			if c.constant() || slices.ContainsFunc(c.values, func(l leaf) bool { return l.secret }) {
				continue
			}
			value := cty.NullVal(cty.DynamicPseudoType)
			if c.values[i].path != "" {
				value = c.values[i].value
			}
			fields = append(fields, hclwrite.ObjectAttrTokens{
				Name: hclwrite.TokensForIdentifier(strings.ReplaceAll(c.path, ".", "_")), Value: hclwrite.TokensForValue(value),
			})
		}
		rows = append(rows, hclwrite.ObjectAttrTokens{
			Name: hclwrite.TokensForValue(cty.StringVal(key)), Value: hclwrite.TokensForObject(fields),
		})
	}
	return hclwrite.TokensForObject(rows)
}

// stays lists what is left with the incumbent.
func (migration) stays(body *hclwrite.Body, jobs []incumbentJob) {
	if len(jobs) == 0 {
		return
	}
	comment(body, "These stay with google_cloud_scheduler_job. Keep their blocks; where one block declares others too, take the keys of those",
		"out of it.")
	for _, job := range jobs {
		address := job.address()
		if job.module != "" {
			address = job.module + "." + address
		}
		comment(body, "  "+address+": "+job.stays()+".")
	}
}

// blockAt is the nested block at a path, made when it is not there.
func blockAt(body *hclwrite.Body, path []string) *hclwrite.Body {
	for _, name := range path {
		block := body.FirstMatchingBlock(name, nil)
		if block == nil {
			body.AppendNewline()
			block = body.AppendNewBlock(name, nil)
		}
		body = block.Body()
	}
	return body
}

// raw is an expression as it is written.
func raw(text string) hclwrite.Tokens {
	return hclwrite.Tokens{{Type: hclsyntax.TokenIdent, Bytes: []byte(text)}}
}

func comment(body *hclwrite.Body, lines ...string) {
	var tokens hclwrite.Tokens
	for _, line := range lines {
		tokens = append(tokens, &hclwrite.Token{Type: hclsyntax.TokenComment, Bytes: []byte("# " + line + "\n")})
	}
	body.AppendUnstructuredTokens(tokens)
}

var notIdentifier = regexp.MustCompile(`[^a-z0-9_]+`)

// identifier is a text as part of a name.
func identifier(text string) string {
	return notIdentifier.ReplaceAllString(strings.ToLower(text), "_")
}
