package idempotencykey

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/dunglas/httpsfv"
)

// DefaultHeader is the request header that carries the key.
const DefaultHeader = "Idempotency-Key"

// MaxKeyLength is the greatest length of a key in characters, without the quotes and escapes of a structured field.
const MaxKeyLength = 255

// Errors of [ParseKey], to match with errors.Is.
var (
	// ErrNoKey: the header is not there.
	ErrNoKey = errors.New("no idempotency key")
	// ErrInvalidKey: the header is repeated, empty or not a key.
	ErrInvalidKey = errors.New("invalid idempotency key")
	// ErrKeyTooLong: the key has more than MaxKeyLength characters.
	ErrKeyTooLong = errors.New("idempotency key too long")
)

// ParseKey reads the key from the values of its header: 1 to 255 characters of printable ASCII, bare or as the quoted string of RFC
// 8941. The two spellings are one key: `"a b"` and `a b`. Parameters after a quoted string are allowed and ignored, as RFC 8941
// asks of those that nobody defined.
func ParseKey(values []string) (string, error) {
	switch len(values) {
	case 0:
		return "", ErrNoKey
	case 1:
	default:
		return "", fmt.Errorf("%w: the header is given %d times", ErrInvalidKey, len(values))
	}
	key := strings.Trim(values[0], " \t")
	if strings.HasPrefix(key, `"`) {
		item, err := httpsfv.UnmarshalItem([]string{key})
		if err != nil {
			return "", fmt.Errorf("%w: it begins with a quote and is not a quoted string of RFC 8941", ErrInvalidKey)
		}
		key, _ = item.Value.(string) // what begins with a quote is a string, or an error
	}
	return key, CheckKey(key)
}

// CheckKey holds a key, free of its spelling, to the rules: 1 to 255 characters of printable ASCII.
func CheckKey(key string) error {
	if key == "" {
		return fmt.Errorf("%w: it is empty", ErrInvalidKey)
	}
	for i := range len(key) {
		if c := key[i]; c < ' ' || c > '~' {
			return fmt.Errorf("%w: character %d is not printable ASCII", ErrInvalidKey, i+1)
		}
	}
	if len(key) > MaxKeyLength {
		return fmt.Errorf("%w: %d characters, at most %d are allowed", ErrKeyTooLong, len(key), MaxKeyLength)
	}
	return nil
}

// spellKey writes a key as a header value: bare where that reads back as the same key, unless a quoted string is asked for.
func spellKey(key string, quoted bool) string {
	if quoted || key[0] == '"' || key[0] == ' ' || key[len(key)-1] == ' ' {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
	}
	return key
}

// Mutating reports whether the method is one that keys apply to: POST, PATCH, PUT, DELETE.
func Mutating(method string) bool {
	switch method {
	case http.MethodPost, http.MethodPatch, http.MethodPut, http.MethodDelete:
		return true
	default:
		return false
	}
}
