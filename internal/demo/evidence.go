package demo

import (
	"time"
)

// Evidence is everything that the demo saw, in plain values, so that the verdict can be tested without running anything.
type Evidence struct {
	Store string
	CLI   string
	// Runs holds each run that the scheduler delivered.
	Runs []RunSeen
	// KilledPID is the handler process that was killed in the middle of the work; 0 if none was.
	KilledPID int
	// WrongAudience is the status that a token for another audience was answered.
	WrongAudience int
	// Took is the time from the first delivery to the last.
	Took time.Duration
}

// RunSeen is one run: what was delivered, and what the claim store and the table of effects hold of it afterwards.
type RunSeen struct {
	Scenario   Scenario
	Name       string
	Forced     bool
	Deliveries []DeliverySeen
	// Attempts is the number of the last attempt in the claim record, 0 if there is none.
	Attempts int
	// Status is the claim record's.
	Status string
	// Effects counts the rows that attempts of this run wrote in the transactions that completed their claims.
	Effects int
}

// DeliverySeen is one request and its answer.
type DeliverySeen struct {
	Started, Ended time.Time
	// Outcome is the Idempotent-Run header of the answer; a dash when no answer came.
	Outcome string
	// Fault names what was injected, if anything.
	Fault string
}

// Scenario is a way in which one run is delivered more than once.
type Scenario string

// The scenarios, by the names that the table and the configuration's jobs use.
const (
	LostReply  Scenario = "lost-reply"
	Duplicates Scenario = "duplicates"
	Killed     Scenario = "killed"
	Forced     Scenario = "forced"
)
