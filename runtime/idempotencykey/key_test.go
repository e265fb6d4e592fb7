package idempotencykey_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/dunglas/httpsfv"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

func TestKeysAreReadBareAndQuoted(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 255)
	for header, want := range map[string]string{
		`8e03978e-40d5-43dd-bc93-6894a57f9324`:   "8e03978e-40d5-43dd-bc93-6894a57f9324",
		`"8e03978e-40d5-43dd-bc93-6894a57f9324"`: "8e03978e-40d5-43dd-bc93-6894a57f9324",
		`k`:                                      "k",
		` k	`:                                    "k",
		`"k";version=2`:                          "k",
		`"a \"b\" \\"`:                           `a "b" \`,
		`a "b" \`:                                `a "b" \`,
		`welcome-user/usr_abc123`:                "welcome-user/usr_abc123",
		`"  "`:                                   "  ",
		long:                                     long,
		`"` + long + `"`:                         long,
	} {
		if got, err := idempotencykey.ParseKey([]string{header}); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", header, got, err, want)
		}
	}
}

func TestWhatIsNoKeyIsRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		values []string
		want   error
	}{
		"none":                   {nil, idempotencykey.ErrNoKey},
		"repeated":               {[]string{"k", "k"}, idempotencykey.ErrInvalidKey},
		"empty":                  {[]string{""}, idempotencykey.ErrInvalidKey},
		"blank":                  {[]string{" \t"}, idempotencykey.ErrInvalidKey},
		"quoted empty":           {[]string{`""`}, idempotencykey.ErrInvalidKey},
		"no closing quote":       {[]string{`"k`}, idempotencykey.ErrInvalidKey},
		"text after the quotes":  {[]string{`"k"k`}, idempotencykey.ErrInvalidKey},
		"unknown escape":         {[]string{`"\k"`}, idempotencykey.ErrInvalidKey},
		"two strings":            {[]string{`"a", "b"`}, idempotencykey.ErrInvalidKey},
		"control character":      {[]string{"a\x00b"}, idempotencykey.ErrInvalidKey},
		"not ASCII":              {[]string{"ключ"}, idempotencykey.ErrInvalidKey},
		"256 characters":         {[]string{strings.Repeat("k", 256)}, idempotencykey.ErrKeyTooLong},
		"256 characters, quoted": {[]string{`"` + strings.Repeat("k", 256) + `"`}, idempotencykey.ErrKeyTooLong},
		"256 of them escaped":    {[]string{`"` + strings.Repeat(`\"`, 256) + `"`}, idempotencykey.ErrKeyTooLong},
		"too long and not ASCII": {[]string{strings.Repeat("é", 256)}, idempotencykey.ErrInvalidKey},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := idempotencykey.ParseKey(tt.values); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
	if _, err := idempotencykey.ParseKey([]string{`"` + strings.Repeat(`\"`, 255) + `"`}); err != nil {
		t.Errorf("255 escaped characters: %v", err)
	}
}

func TestMalformedAndLongKeysAreAnswered(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.want(request(withKey(strings.Repeat("k", 256))), 422, "key_too_long")
		f.want(request(withKey("")), 400, "key_invalid")
		f.want(request(func(r *http.Request) { r.Header.Add("Idempotency-Key", "k2") }), 400, "key_invalid")
		f.wantCalls(0)
	})
}

func TestTheTwoSpellingsAreOneKey(t *testing.T) {
	inBubble(t, nil, func(f *fixture) {
		f.want(request(), 201, "")
		if w := f.want(request(withKey(`"k1"`)), 201, ""); w.Header().Get("Idempotency-Replay") != "true" {
			t.Error("the quoted spelling is another key")
		}
		f.wantCalls(1)
	})
}

// FuzzParseKey holds every header to the rules, by an independent writer of structured fields.
func FuzzParseKey(f *testing.F) {
	for _, seed := range []string{"k", `"k"`, `"k";a=1`, `"a\"b"`, `"`, `"\`, " k ", "\x7f", strings.Repeat("k", 256)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		key, err := idempotencykey.ParseKey([]string{header})
		if err != nil {
			if errors.Is(err, idempotencykey.ErrInvalidKey) == errors.Is(err, idempotencykey.ErrKeyTooLong) {
				t.Fatalf("%q: error %v is not exactly one of the two", header, err)
			}
			return
		}
		if len(key) < 1 || len(key) > 255 || strings.Trim(key, "\x20\x21\x22\x23\x24\x25\x26\x27\x28\x29\x2a\x2b\x2c\x2d\x2e\x2f0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~") != "" {
			t.Fatalf("%q: key %q is outside the rules", header, key)
		}
		quoted, err := httpsfv.Marshal(httpsfv.NewItem(key))
		if err != nil {
			t.Fatalf("%q: key %q cannot be written as a string: %v", header, key, err)
		}
		if again, err := idempotencykey.ParseKey([]string{quoted}); err != nil || again != key {
			t.Fatalf("%q: key %q, written as %s, reads as %q, %v", header, key, quoted, again, err)
		}
	})
}
