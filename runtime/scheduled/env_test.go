package scheduled_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/memclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/scheduled"
)

type variables map[string]string

func (v variables) get(name string) string { return v[name] }

// good is an environment that FromEnv accepts.
func good() variables {
	return variables{
		run.EnvProject: project, run.EnvRegion: region, run.EnvAudiences: "https://a.example.com, https://b.example.com",
		run.EnvCallers: account + ",*@acme-prod.iam.gserviceaccount.com", run.EnvRequestTimeout: "300s", run.EnvShutdownGrace: "5s",
		run.EnvPort: "8081", run.EnvLocalCloud: "true", run.EnvIssuer: "https://issuer.example.com",
		run.EnvJWKS: "https://issuer.example.com/keys", run.EnvCaller: "verify",
	}
}

func refusedVariables() []struct{ name, value, want string } {
	const variable = "environment variable "
	return []struct{ name, value, want string }{
		{run.EnvProject, "a/b", variable + `IDEMPOTENT_PROJECT is "a/b": set it to a text that matches [A-Za-z0-9:.-]{1,300}`},
		{run.EnvRegion, "Europe", variable + `IDEMPOTENT_REGION is "Europe": set it to a text that matches [a-z0-9-]{1,63}`},
		{run.EnvCaller, "open", variable + `IDEMPOTENT_CALLER is "open": set it to verify, cloud_run_iam, app_engine or insecure`},
		{run.EnvCaller, "cloud_run_iam", variable + "IDEMPOTENT_CALLER cannot be cloud_run_iam: this is not Cloud Run, where K_SERVICE is set: nobody has checked the tokens here; verify them instead"},
		{run.EnvCaller, "app_engine", variable + "IDEMPOTENT_CALLER cannot be app_engine: this is not App Engine standard, where GAE_ENV is standard and GAE_SERVICE is set: nobody strips forged headers here; verify tokens instead"},
		{run.EnvAudiences, "", variable + "IDEMPOTENT_AUDIENCES is not set: set it to the audience of the job's oidc_token, such as the service's URL; several are separated by commas"},
		{run.EnvAudiences, "a,,b", variable + "IDEMPOTENT_AUDIENCES has an empty entry: separate the entries by single commas"},
		{run.EnvCallers, "scheduler", variable + `IDEMPOTENT_CALLERS cannot be used: "scheduler" is not the address of an account: write it like NAME@PROJECT.iam.gserviceaccount.com`},
		{run.EnvCallers, ",", variable + "IDEMPOTENT_CALLERS has an empty entry: separate the entries by single commas"},
		{run.EnvIssuer, "accounts", variable + `IDEMPOTENT_ISSUER is "accounts": set it to the https URL that the tokens name as their issuer, or leave it out for Google`},
		{run.EnvJWKS, "", variable + "IDEMPOTENT_JWKS is not set: set it to the URL of the keys of the issuer in IDEMPOTENT_ISSUER"},
		{run.EnvJWKS, "http://keys.example.com", variable + `IDEMPOTENT_JWKS cannot be used: the keys at "keys.example.com" would come in clear text, so that anybody on the way could replace them: use https`},
		{run.EnvPrevious, "format=sample", variable + `IDEMPOTENT_PREVIOUS cannot be read: policy key "until" is missing: give the time from which no run under the previous name is delivered`},
		{run.EnvPreviousStore, "sqlite:claims.db", variable + "IDEMPOTENT_PREVIOUS is not set beside IDEMPOTENT_PREVIOUS_STORE: set it to the time until which that store counts, such as until=2027-01-31T00:00:00Z"},
		{run.EnvRequestTimeout, "300", variable + `IDEMPOTENT_REQUEST_TIMEOUT is "300": set it to a duration such as 300s, above zero and at most 24h0m15s`},
		{run.EnvRequestTimeout, "24h0m16s", variable + `IDEMPOTENT_REQUEST_TIMEOUT is "24h0m16s": set it to a duration such as 300s, above zero and at most 24h0m15s`},
		{run.EnvShutdownGrace, "-1s", variable + `IDEMPOTENT_SHUTDOWN_GRACE is "-1s": set it to a duration such as 300s, above zero and at most 1h0m0s`},
		{run.EnvLocalCloud, "yes", variable + `IDEMPOTENT_LOCAL_CLOUD is "yes": set it to true or false`},
		{run.EnvPort, "http", variable + `PORT is "http": set it to a TCP port from 1 to 65535`},
		{run.EnvPort, "0", variable + `PORT is "0": set it to a TCP port from 1 to 65535`},
	}
}

func TestFromEnvNamesTheVariableAndTheMend(t *testing.T) {
	t.Parallel()
	for _, test := range refusedVariables() {
		env := good()
		env[test.name] = test.value
		if _, err := scheduled.FromEnv(env.get); err == nil || err.Error() != test.want {
			t.Errorf("%s=%q: got %v; want %s", test.name, test.value, err, test.want)
		}
	}
}

func TestEveryVariableHasARefusedValue(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{run.EnvStore: true} // read by the store's own Open
	for _, test := range refusedVariables() {
		covered[test.name] = true
	}
	for name, value := range constantsOf(t, "Env") {
		if !covered[value] {
			t.Errorf("no refused value of %s (%s) is tested", name, value)
		}
	}
}

// constantsOf reads package run's constants whose names begin with the prefix.
func constantsOf(t *testing.T, prefix string) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../run/names.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, prefix) {
			return true
		}
		literal, ok := spec.Values[0].(*ast.BasicLit)
		if !ok {
			t.Fatalf("%s is not a literal", spec.Names[0].Name)
		}
		if found[spec.Names[0].Name], err = strconv.Unquote(literal.Value); err != nil {
			t.Fatal(err)
		}
		return true
	})
	if len(found) == 0 {
		t.Fatalf("no constant begins with %s", prefix)
	}
	return found
}

func TestFromEnvSaysEverythingThatIsWrongAtOnce(t *testing.T) {
	t.Parallel()
	_, err := scheduled.FromEnv(variables{}.get)
	const want = "environment variable IDEMPOTENT_CALLERS is not set: set it to the addresses of the service accounts that may call, " +
		"separated by commas, or set IDEMPOTENT_PROJECT to allow those of one project\n" +
		"environment variable IDEMPOTENT_AUDIENCES is not set: set it to the audience of the job's oidc_token, such as the service's URL; " +
		"several are separated by commas"
	if err == nil || err.Error() != want {
		t.Errorf("got %v; want %s", err, want)
	}
}

func TestFromEnvReadsWhatIsSet(t *testing.T) {
	t.Parallel()
	cfg, err := scheduled.FromEnv(good().get)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.Project != project || cfg.Region != region || cfg.RequestTimeout != 5*time.Minute || cfg.ShutdownGrace != 5*time.Second ||
		!cfg.LocalCloud || cfg.Caller == nil || cfg.Logger == nil {
		t.Errorf("got %+v", cfg)
	}
	cfg, err = scheduled.FromEnv(variables{run.EnvProject: " " + project + "\n", run.EnvRegion: region + " ", run.EnvAudiences: "a"}.get)
	if err != nil || cfg.Project != project || cfg.Region != region {
		t.Errorf("with spaces around its values the environment gives %+v, %v", cfg, err)
	}
	cfg, err = scheduled.FromEnv(variables{run.EnvProject: project, run.EnvAudiences: "a"}.get)
	if err != nil || cfg.ShutdownGrace != scheduled.DefaultShutdownGrace || cfg.LocalCloud {
		t.Errorf("the least environment gives %+v, %v", cfg, err)
	}
	for _, env := range []variables{
		{run.EnvCaller: "insecure"},
		{run.EnvCaller: "cloud_run_iam", run.EnvCallers: account, "K_SERVICE": "nightly"},
		{run.EnvCaller: "app_engine", "GAE_ENV": "standard", "GAE_SERVICE": "default"},
	} {
		if cfg, err := scheduled.FromEnv(env.get); err != nil || cfg.Caller == nil {
			t.Errorf("%v gives %+v, %v", env, cfg, err)
		}
	}
}

func TestNewHandlerSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	work := func(context.Context, run.Run) error { return nil }
	complete := func() scheduled.Config {
		return scheduled.Config{Store: memclaim.New(), Caller: checkerFunc(verified), Work: work}
	}
	for want, change := range map[string]func(*scheduled.Config){
		"scheduled handler: store is missing: open one and set Config.Store":                                                       func(c *scheduled.Config) { c.Store = nil },
		"scheduled handler: caller is missing: set Config.Caller to one of package caller's checkers":                              func(c *scheduled.Config) { c.Caller = nil },
		"scheduled handler: work is missing: set Config.Jobs or Config.Work":                                                       func(c *scheduled.Config) { c.Work = nil },
		`scheduled handler: jobs: job of the run is "a b": it must be [A-Za-z0-9_-]{1,500}`:                                        func(c *scheduled.Config) { c.Jobs = map[string]scheduled.Work{"a b": work} },
		`scheduled handler: jobs: job "a" has no work`:                                                                             func(c *scheduled.Config) { c.Jobs = map[string]scheduled.Work{"a": nil} },
		`scheduled handler: project of the run is "a b": it must be [A-Za-z0-9:.-]{1,300}`:                                         func(c *scheduled.Config) { c.Project = "a b" },
		`scheduled handler: region of the run is "A": it must be [a-z0-9-]{1,63}`:                                                  func(c *scheduled.Config) { c.Region = "A" },
		"scheduled handler: request timeout, shutdown grace and largest body must not be negative":                                 func(c *scheduled.Config) { c.MaxBody = -1 },
		`scheduled handler: the handler's own policy: policy key "scope" with value "a/b" does not match [A-Za-z0-9_-]{1,100}`:     func(c *scheduled.Config) { c.Policy.Scope = "a/b" },
		`scheduled handler: the handler's own policy: policy key "lease" with value "-1s" is not a positive duration such as 180s`: func(c *scheduled.Config) { c.Policy.Lease = -time.Second },
	} {
		cfg := complete()
		change(&cfg)
		if _, err := scheduled.NewHandler(cfg); err == nil || err.Error() != want {
			t.Errorf("got %v; want %s", err, want)
		}
	}
}
