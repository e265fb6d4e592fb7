package conformance

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
)

// modelStore is what a store is, in one page: a map, and versions that are only compared.
type modelStore map[string]modelEntry

type modelEntry struct {
	record  claim.Record
	version claim.Version
}

// insert says whether the write gets through, and what is there afterwards.
func (m modelStore) insert(id string, r claim.Record) (claim.Record, bool) {
	if there, ok := m[id]; ok {
		return there.record, false
	}

	m[id] = modelEntry{record: r}

	return r, true
}

func (m modelStore) swap(id string, old claim.Version, r claim.Record) (claim.Record, bool) {
	there, ok := m[id]
	if !ok {
		return claim.Record{}, false
	}

	if there.version != old {
		return there.record, false
	}

	m[id] = modelEntry{record: r}

	return r, true
}

// model drives the store and the model with the same calls, from several clients, and compares every answer.
func (s *suite) model(t *testing.T) { //nolint:gocognit // one state machine
	rapid.Check(t, func(rt *rapid.T) {
		model := modelStore{}
		ids := []string{newID(), newID(), newID()}
		known := map[string][]claim.Version{} // every version that an id ever had

		client := rapid.IntRange(0, processes-1)
		id := rapid.SampledFrom(ids)
		statuses := rapid.SampledFrom([]claim.Status{
			claim.StatusInProgress, claim.StatusCompleted, claim.StatusReleased, claim.StatusFailed, claim.StatusUnknown,
		})

		compare := func(rt *rapid.T, verb, id string, snap claim.Snapshot, ok bool, want claim.Record, wantOK bool) {
			rt.Helper()

			if ok != wantOK {
				rt.Fatalf("%s: %v, the model says %v; found %+v", verb, ok, wantOK, snap)
			}

			if diff := cmp.Diff(kept(want), kept(snap.Record)); diff != "" {
				rt.Fatalf("%s: (-model +store):\n%s", verb, diff)
			}

			entry, there := model[id]
			if there != (snap.Version != "") {
				rt.Fatalf("%s: version %q, in the model there is %v", verb, snap.Version, there)
			}

			if !there {
				return
			}

			if wantOK { // a new version: one that was never seen
				if slices.Contains(known[id], snap.Version) {
					rt.Fatalf("%s: version %q repeats", verb, snap.Version)
				}

				known[id] = append(known[id], snap.Version)
				model[id] = modelEntry{record: entry.record, version: snap.Version}
			} else if entry.version != snap.Version {
				rt.Fatalf("%s: version %q, the model says %q", verb, snap.Version, entry.version)
			}
		}

		rt.Repeat(map[string]func(*rapid.T){
			"insert": func(rt *rapid.T) {
				id, r := id.Draw(rt, "id"), next(newAttempt(), statuses.Draw(rt, "status"))
				snap, ok := s.insert(rt, client.Draw(rt, "client"), id, r)
				want, wantOK := model.insert(id, r)
				compare(rt, "insert", id, snap, ok, want, wantOK)
			},
			"swap": func(rt *rapid.T) {
				id, r := id.Draw(rt, "id"), next(newAttempt(), statuses.Draw(rt, "status"))

				old := model[id].version
				if old == "" || rapid.IntRange(0, 2).Draw(rt, "stale") == 0 {
					if len(known[id]) == 0 {
						rt.Skip("it had no version yet")
					}

					old = rapid.SampledFrom(known[id]).Draw(rt, "old")
				}

				snap, ok := s.swap(rt, client.Draw(rt, "client"), id, old, r)
				want, wantOK := model.swap(id, old, r)
				compare(rt, "swap", id, snap, ok, want, wantOK)
			},
			"delete": func(rt *rapid.T) {
				if s.del == nil {
					rt.Skip("not deletable from here")
				}

				id := id.Draw(rt, "id")
				if err := s.del(rt.Context(), id); err != nil {
					rt.Fatal(err)
				}

				delete(model, id)
			},
			"get": func(rt *rapid.T) {
				id := id.Draw(rt, "id")
				compare(rt, "get", id, s.get(rt, client.Draw(rt, "client"), id), false, model[id].record, false)
			},
		})
	})
}
