package jobspec

import (
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

func storeRules() []judgedRule {
	return []judgedRule{
		limit("store-invalid", "The store is not the URL of one", judgeStore),
		acceptableProof("store-password", "The store's URL holds a password", judgePassword),
		acceptableProof("at-most-once-on-redis", "Redis cannot promise at most once", judgeAtMostOnce),
		acceptableProof("sqlite-not-local", "SQLite is one host's, the target is elsewhere", judgeSQLite),
	}
}

func judgeStore(v *judge) {
	store, ok := get(v, v.job.Deduplication.Store)
	if !ok {
		return
	}
	if bad := badStore(store); bad != "" {
		v.fail(dedupPath("store"), "it is not the URL of a store", bad, "Write one of these, or leave it out for "+
			"firestore://PROJECT/"+defaultCollection+".")
	}
}

func judgePassword(v *judge) {
	stores := []struct {
		value Value[string]
		path  Path
	}{{v.job.Deduplication.Store, dedupPath("store")}}
	if previous, ok := get(v, v.job.Deduplication.Previous); ok {
		stores = append(stores, struct {
			value Value[string]
			path  Path
		}{previous.Store, Path{"deduplication", 0, "previous", 0, "store"}})
	}
	for _, s := range stores {
		if store, ok := get(v, s.value); ok && holdsPassword(store) {
			v.fail(s.path, "it holds a password", "The URL becomes part of the plan, of the state and of generated files.",
				"Remove it, and give the handler the whole URL as the environment variable "+run.EnvStore+" from a secret.")
		}
	}
}

// storeInUse is the scheme of the store that holds the job's claims.
func storeInUse(v *judge) (string, bool) {
	store, ok := get(v, v.derived.Deduplication.Store)
	return storeScheme(store), ok
}

func judgeAtMostOnce(v *judge) {
	atMostOnce, ok := get(v, v.derived.Deduplication.AtMostOnce)
	if !ok || !atMostOnce {
		return
	}
	scheme, ok := storeInUse(v)
	if ok && (scheme == "redis" || scheme == "rediss") {
		v.fail(dedupPath("at_most_once"), "Redis cannot promise it", "Redis replicates after it has answered: a failover can lose a claim, "+
			"and the run is then executed again.", "Use a store that survives a failover: firestore, spanner or postgres.")
	}
}

func judgeSQLite(v *judge) {
	scheme, ok := storeInUse(v)
	if !ok || scheme != "sqlite" {
		return
	}
	u, ok := targetURL(v)
	if !ok || isLoopback(u) {
		return
	}
	v.fail(dedupPath("store"), "SQLite is a file of one host, and the target is "+strings.ToLower(u.Hostname()),
		"Instances of a service do not share files: each would keep claims of its own, and one run could have an effect in each.",
		"Use a store that all instances reach: firestore, spanner, postgres or redis.")
}
