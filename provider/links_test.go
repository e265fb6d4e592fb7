package provider_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced   = regexp.MustCompile("(?ms)^```.*?^```$")
	inline   = regexp.MustCompile("`[^`\n]*`")
	link     = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading  = regexp.MustCompile(`(?m)^#+ (.*)$`)
	anchored = regexp.MustCompile(`<a id="([^"]+)"`)
	noSlug   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// markdown is every page for people in the repository, path to content, without blocks of code.
func markdown(t *testing.T, root string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "build" || entry.Name() == "testdata"):
			return filepath.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		content, err := os.ReadFile(path)
		found[path] = fenced.ReplaceAllString(string(content), "")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// anchors are the places of a page that a link can name, as GitHub calls them.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, at := range anchored.FindAllStringSubmatch(page, -1) {
		found[at[1]] = true
	}
	for _, title := range heading.FindAllStringSubmatch(page, -1) {
		found[strings.ReplaceAll(noSlug.ReplaceAllString(strings.ToLower(title[1]), ""), " ", "-")] = true
	}
	return found
}

func TestEachLinkInTheRepositoryLeadsSomewhere(t *testing.T) {
	t.Parallel()
	pages := markdown(t, "..")
	checked := 0
	for path, page := range pages {
		for _, to := range link.FindAllStringSubmatch(inline.ReplaceAllString(page, ""), -1) {
			file, anchor, _ := strings.Cut(to[1], "#")
			if strings.Contains(file, ":") {
				continue // elsewhere
			}
			checked++
			target := path
			if file != "" {
				target = filepath.Join(filepath.Dir(path), filepath.FromSlash(file))
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s is dead: %v", path, to[1], err)
			} else if anchor != "" && !anchors(pages[target])[anchor] {
				t.Errorf("%s: the link %s names no heading of %s", path, to[1], target)
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d links are checked, which cannot be all", checked)
	}
}

func TestTheReadmeListsEachGuide(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	guides, err := filepath.Glob("../docs/guides/*.md")
	if err != nil || len(guides) == 0 {
		t.Fatalf("guides %v, %v", guides, err)
	}
	for _, guide := range guides {
		if !strings.Contains(string(readme), "(docs/guides/"+filepath.Base(guide)+")") {
			t.Errorf("README.md does not list %s", guide)
		}
	}
}
