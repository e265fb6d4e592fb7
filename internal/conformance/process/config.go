package process

import (
	"encoding/json"
	"fmt"
	"time"
)

// envConfig tells a process of the test binary that it is to serve, and how.
const envConfig = "IDEMPOTENT_PROCESS"

// Config is what a process is told when it starts.
type Config struct {
	// Store is the URL of the store, Effects the table that the transactions of works write to.
	Store, Effects string
	// Grace is how long running work may take to end after SIGTERM. Zero: the handler's default.
	Grace time.Duration
	// LoseReplies is how likely it is, from 0 to 1, that a write to the store is applied and answered with an error.
	LoseReplies float64
	// Unfenced makes the store accept a swap whatever the version: a store that is broken, to see that somebody notices.
	Unfenced bool
}

// Project, Region and Job are those of every delivery.
const (
	Project = "acme-prod"
	Region  = "europe-west1"
	Job     = "nightly-report"
)

// EventKind names an event. Kinds that are not listed here are those of claim.EventKind.
type EventKind string

// The events that are not the Claimer's.
const (
	EventListening EventKind = "listening"  // Text is the address
	EventBegan     EventKind = "began"      // the work began
	EventEnded     EventKind = "ended"      // the work's context ended, Text is the cause
	EventLostReply EventKind = "lost_reply" // a write to the store was applied and answered with an error
	EventStopped   EventKind = "stopped"    // the server has ended, Text is what went wrong, if anything
)

// Event is one thing that happened in a process.
type Event struct {
	Kind      EventKind `json:"kind"`
	Run       string    `json:"run,omitempty"`
	Attempt   int       `json:"attempt,omitempty"`
	AttemptID string    `json:"attempt_id,omitempty"`
	Text      string    `json:"text,omitempty"`
}

func (c Config) encode() (string, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encode the configuration of a process: %w", err)
	}
	return string(text), nil
}
