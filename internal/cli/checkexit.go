package cli

import (
	"errors"

	"github.com/spf13/cobra"
)

// The exit statuses of check besides 0.
const (
	exitFindings   = 1
	exitUnreadable = 2
)

// exitError is an error with an exit status of its own.
type exitError struct {
	status int
	err    error
}

// Error is the text of the error inside.
func (e *exitError) Error() string { return e.err.Error() }

// Unwrap is the error inside.
func (e *exitError) Unwrap() error { return e.err }

// ExitStatus is the exit status that an error of a command asks for: 0 for none, 1 unless the command says otherwise.
func ExitStatus(err error) int {
	if err == nil {
		return 0
	}
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.status
	}
	return 1
}

func unreadable(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitUnreadable, err}
}

// usage gives errors about arguments the exit status of what cannot be read.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error { return unreadable(check(cmd, args)) }
}
