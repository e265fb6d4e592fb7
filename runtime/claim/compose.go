package claim

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// The records that are written. Each time in them is the store's, as far as the writer knows it.

// claimed is the record of a new attempt over old. The zero old: there is none.
func (p *Proposal) claimed(old *Record, d decision, id, holder string, now time.Time) Record {
	r := Record{
		Status:       StatusInProgress,
		AttemptID:    id,
		Attempt:      max(d.attempt, p.made),
		Counted:      d.counted,
		Rev:          old.Rev + 1,
		Lease:        p.Lease,
		LeaseExpires: now.Add(p.Lease),
		ClaimedAt:    now,
		Holder:       holder,
		Run:          p.Run,
		Fingerprint:  p.Fingerprint,
	}
	if !d.fresh {
		r.LastError = old.LastError
	}

	r.ExpireAt = p.expireAt(now, r.LeaseExpires)

	return r
}

// renewed is r with its lease begun anew.
func (p *Proposal) renewed(r Record, now time.Time) Record {
	r.Rev++
	r.LeaseExpires = now.Add(r.Lease)
	r.ExpireAt = p.expireAt(now, r.LeaseExpires)

	return r
}

// concluded is r with an end: completed, released, failed or unknown.
func (p *Proposal) concluded(r Record, status Status, counted int, cause error, now time.Time) Record {
	r.Rev++
	r.Status = status
	r.Counted = counted

	if cause != nil {
		r.LastError = clip(cause.Error())
	}

	switch status {
	case StatusReleased:
		r.ExpireAt = p.expireAt(now, time.Time{})
		r.LeaseExpires = time.Unix(0, 0).UTC() // over, for the sample too
	case StatusFailed, StatusUnknown:
		r.ExpireAt = p.doneAt(now, r.LeaseExpires)
		r.LeaseExpires = r.ExpireAt // held to the end, so that the sample does not run it again
	default:
		r.ExpireAt = p.doneAt(now, r.LeaseExpires)
	}

	return r
}

// withdrawn is r given back as if it had never been claimed: nothing was run, so it does not count.
func (p *Proposal) withdrawn(r Record, now time.Time) Record {
	return p.concluded(r, StatusReleased, max(r.Counted-1, 0), nil, now)
}

// marked is the final record of an attempt that died, or of a released run whose attempts are used up.
func (p *Proposal) marked(s *Snapshot, status Status) Record {
	var cause error
	if s.Status != StatusReleased { // a released one has said why itself
		cause = fmt.Errorf("attempt %d ended without a word: its lease lapsed", max(s.Attempt, 1))
	}

	return p.concluded(s.Record, status, s.Counted, cause, s.Now)
}

func (p *Proposal) expireAt(now, leaseEnd time.Time) time.Time {
	if p.Horizon > 0 { // a forced run's schedule time lies ahead, the record must not outlive the retries by as much
		return ExpireAt(now, time.Time{}, leaseEnd, p.Horizon)
	}

	return ExpireAt(now, p.ScheduleTime.UTC(), leaseEnd, p.Retention)
}

// doneAt is expireAt for a record that is done: a forced run's ends at completion + horizon, so that the job can be forced again.
func (p *Proposal) doneAt(now, leaseEnd time.Time) time.Time {
	if p.Horizon > 0 {
		return now.Add(p.Horizon)
	}

	return p.expireAt(now, leaseEnd)
}

// clip makes a text that every store takes: valid UTF-8 without NUL, no longer than MaxLastError.
func clip(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	if len(text) <= MaxLastError {
		return text
	}

	end := MaxLastError
	for !utf8.RuneStart(text[end]) {
		end--
	}

	return text[:end]
}
