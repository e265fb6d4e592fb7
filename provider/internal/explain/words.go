package explain

import (
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"
)

// Words is an attribute's path as messages write it, retry_config.min_backoff_duration: a block that is there once needs no index.
func Words(at path.Path) string {
	var words []string
	for _, step := range at.Steps() {
		switch step := step.(type) {
		case path.PathStepAttributeName:
			words = append(words, string(step))
		case path.PathStepElementKeyString:
			words = append(words, string(step))
		}
	}
	return strings.Join(words, ".")
}
