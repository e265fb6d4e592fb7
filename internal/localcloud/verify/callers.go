package verify

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// callers are deliveries that nobody who may call would make.
func callers() []check {
	refused := func(id, title string, token func(context.Context, *verifier) (string, error)) check {
		return check{id: id, title: title, callers: true, run: func(ctx context.Context, v *verifier) (finding, error) {
			text, err := token(ctx, v)
			if err != nil {
				return finding{}, fmt.Errorf("make a token: %w", err)
			}

			return v.refused(ctx, delivery{at: v.past(), token: text}, http.StatusUnauthorized, http.StatusForbidden)
		}}
	}
	changed := func(change func(parts []string) error) func(context.Context, *verifier) (string, error) {
		return func(ctx context.Context, v *verifier) (string, error) {
			good, err := v.cfg.Token(ctx, v.cfg.Account, v.cfg.Audience)
			if err != nil {
				return "", err
			}

			parts := strings.Split(good, ".")
			if len(parts) != 3 {
				return "", errors.New("it is no JWT")
			}

			err = change(parts)

			return strings.Join(parts, "."), err
		}
	}

	return []check{
		refused("no-token", "a delivery without a token is refused", func(context.Context, *verifier) (string, error) { return noToken, nil }),
		refused("no-jwt", "a token that is no JWT is refused", func(context.Context, *verifier) (string, error) { return "ya29.opaque", nil }),
		refused("other-audience", "a token for another audience is refused", func(ctx context.Context, v *verifier) (string, error) {
			return v.cfg.Token(ctx, v.cfg.Account, "https://somewhere-else.example/")
		}),
		refused("other-account", "a token of another project's account is refused", func(ctx context.Context, v *verifier) (string, error) {
			return v.cfg.Token(ctx, "stranger@some-other-project.iam.gserviceaccount.com", v.cfg.Audience)
		}),
		refused("changed-claims", "a token whose claims were changed is refused", changed(func(parts []string) error {
			return edit(parts, 1, "sub", "1")
		})),
		refused("unsigned", "a token with the algorithm none is refused", changed(func(parts []string) error {
			parts[2] = ""

			return edit(parts, 0, "alg", "none")
		})),
		refused("removed-signature", "a token whose signature was removed is refused", changed(func(parts []string) error {
			parts[2] = "SIGNATURE_REMOVED_BY_GOOGLE"

			return nil
		})),
		{id: "other-project", title: "a delivery for another project than its token's is refused", callers: true, run: func(ctx context.Context, v *verifier) (finding, error) {
			d := delivery{at: v.past(), header: map[string][]string{run.HeaderProject: {"some-other-project"}}}

			return v.refused(ctx, d, http.StatusForbidden, http.StatusUnauthorized)
		}},
	}
}

// edit changes one field of a part of a token.
func edit(parts []string, part int, field, value string) error {
	text, err := base64.RawURLEncoding.DecodeString(parts[part])
	if err != nil {
		return err
	}

	var fields map[string]any

	err = json.Unmarshal(text, &fields)
	if err != nil {
		return err
	}

	fields[field] = value

	text, err = json.Marshal(fields)
	if err != nil {
		return err
	}

	parts[part] = base64.RawURLEncoding.EncodeToString(text)

	return nil
}
