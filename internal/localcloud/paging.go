package localcloud

import (
	"encoding/base64"
	"sort"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	largestPage     = 500
	pageTokenPrefix = "after:"
)

// page returns the half-open range of the page that a token names and the token of the one after it. A token holds the last name seen,
// so that what is created or deleted between two pages neither repeats nor hides anything else. A size of zero or beyond 500 means 500.
func page(size int32, token string, sorted []string) (int, int, string, error) {
	if size < 0 {
		return 0, 0, "", status.Error(codes.InvalidArgument, "The page size must not be negative.")
	}

	if size == 0 || size > largestPage {
		size = largestPage
	}

	from := 0

	if token != "" {
		raw, err := base64.RawURLEncoding.DecodeString(token)
		last, found := strings.CutPrefix(string(raw), pageTokenPrefix)

		if err != nil || !found {
			return 0, 0, "", status.Error(codes.InvalidArgument, "The page token is invalid.")
		}

		from = sort.Search(len(sorted), func(i int) bool { return sorted[i] > last })
	}

	to := min(from+int(size), len(sorted))
	if to == len(sorted) {
		return from, to, "", nil
	}

	return from, to, base64.RawURLEncoding.EncodeToString([]byte(pageTokenPrefix + sorted[to-1])), nil
}
