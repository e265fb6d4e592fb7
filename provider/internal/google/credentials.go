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
	options := &credentials.DetectOptions{Scopes: s.scopes(), UniverseDomain: s.UniverseDomain}
	switch {
	case s.AccessToken != "":
		return auth.NewCredentials(&auth.CredentialsOptions{TokenProvider: fixedToken(s.AccessToken)}), nil
	case strings.HasPrefix(strings.TrimSpace(s.Credentials), "{"):
		options.CredentialsJSON = []byte(s.Credentials)
	case s.Credentials != "":
		content, err := os.ReadFile(s.Credentials)
		if err != nil {
			// The text may be a key that somebody pasted without its braces, so it is not repeated.
			return nil, errors.New("credentials is neither a JSON key nor the path of a readable file: pass the file's content or its path")
		}
		options.CredentialsJSON = content
	}
	creds, err := credentials.DetectDefault(options)
	if err != nil {
		return nil, fmt.Errorf("no usable credentials (set credentials or access_token in the provider block, or run "+
			"`gcloud auth application-default login`): %w", err)
	}
	return creds, nil
}

// fixedToken is an access token that the user obtained; when it ends, so does the run.
type fixedToken string

// Token returns the token as it was given.
func (t fixedToken) Token(context.Context) (*auth.Token, error) {
	return &auth.Token{Value: string(t), Type: "Bearer"}, nil
}
