package google

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/auth/credentials/impersonate"
	"google.golang.org/api/option"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// Options are the client options for an API at the endpoint. Nothing goes over the network here, but credentials are read.
// Errors name the provider attribute that mends them and never repeat a secret.
func (s Settings) Options(endpoint Endpoint) ([]option.ClientOption, error) {
	options := []option.ClientOption{option.WithUserAgent(s.UserAgent), option.WithTelemetryDisabled()}
	if endpoint.Address != "" {
		options = append(options, option.WithEndpoint(endpoint.Address))
	}
	if endpoint.Loopback {
		return append(options, option.WithoutAuthentication(),
			option.WithGRPCDialOption(grpc.WithTransportCredentials(insecure.NewCredentials()))), nil
	}
	if s.UniverseDomain != "" {
		options = append(options, option.WithUniverseDomain(s.UniverseDomain))
	}
	if project := s.quotaProject(); project != "" {
		options = append(options, option.WithQuotaProject(project))
	}
	creds, err := s.credentials()
	if err != nil {
		return nil, err
	}
	return append(options, option.WithAuthCredentials(creds)), nil
}

// credentials are the ones asked for, those of the impersonated account last.
func (s Settings) credentials() (*auth.Credentials, error) {
	base, err := s.baseCredentials()
	if err != nil || s.Impersonate == "" {
		return base, err
	}
	creds, err := impersonate.NewCredentials(&impersonate.CredentialsOptions{
		TargetPrincipal: s.Impersonate, Delegates: s.Delegates, Scopes: s.scopes(), Credentials: base, UniverseDomain: s.UniverseDomain,
	})
	if err != nil {
		return nil, fmt.Errorf("impersonate_service_account %s: %w", s.Impersonate, err)
	}
	return creds, nil
}

func (s Settings) baseCredentials() (*auth.Credentials, error) {
	if s.AccessToken != "" {
		return auth.NewCredentials(&auth.CredentialsOptions{TokenProvider: fixedToken(s.AccessToken)}), nil
	}
	content, err := s.credentialsContent()
	if err != nil {
		return nil, err
	}
	creds, err := credentials.DetectDefault(&credentials.DetectOptions{
		Scopes: s.scopes(), UniverseDomain: s.UniverseDomain,
		CredentialsJSON: content, //nolint:staticcheck // of any type, and the user's own
	})
	if err != nil {
		return nil, fmt.Errorf("no usable credentials (set credentials or access_token in the provider block, or run "+
			"`gcloud auth application-default login`): %w", err)
	}
	return creds, nil
}

// CheckCredentials says whether credentials can be read; what is in them is checked when they are first used.
func (s Settings) CheckCredentials() error {
	if s.AccessToken != "" {
		return nil
	}
	_, err := s.credentialsContent()
	return err
}

// credentialsContent is the JSON of the credentials, nil when there are none. An error does not repeat the text: it may be a key that
// somebody pasted without its braces.
func (s Settings) credentialsContent() ([]byte, error) {
	if s.Credentials == "" || strings.HasPrefix(strings.TrimSpace(s.Credentials), "{") {
		return []byte(s.Credentials), nil
	}
	content, err := os.ReadFile(s.Credentials)
	if err != nil {
		return nil, errors.New("credentials is neither a JSON key nor the path of a readable file: pass the file's content or its path")
	}
	return content, nil
}

// fixedToken is an access token that the user obtained; when it ends, so does the run.
type fixedToken string

// Token returns the token as it was given.
func (t fixedToken) Token(context.Context) (*auth.Token, error) {
	return &auth.Token{Value: string(t), Type: "Bearer"}, nil
}
