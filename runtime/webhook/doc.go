// Package webhook receives webhooks that are delivered at least once, and gives each event one effect.
//
// A [Receiver] verifies a delivery by the Standard Webhooks scheme ([Verifier]) and stores the event in an [Inbox], in one
// transaction under a uniqueness constraint; only then does it answer 2xx. A delivery of an event that is stored already is answered
// 2xx and changes nothing. A [Worker] then claims each stored event, runs its work, and tries again what failed, later and later, until
// it gives the event up into a dead list, from which an operator can requeue it.
//
//	receiver, err := webhook.NewReceiver(webhook.ReceiverConfig{Inbox: inbox, Source: "acme", Verifier: verifier, Notify: worker.Wake})
//	worker, err := webhook.NewWorker(webhook.WorkerConfig{Inbox: inbox, Work: apply})
//	mux.Handle("POST /webhooks/acme", receiver)
//	err = worker.Run(ctx) // or, where nothing runs between requests, worker.DrainRun as the work of a scheduled job
//
// The name of an event is its sender's id of it (webhook-id) under the name of the source: replays of a failed delivery are the same
// event, and separate events with equal content are separate.
//
// What the record protects: an event that was answered 2xx is never lost and its work is completed once; a work that writes to the
// database of the inbox has its effect exactly once, by the CompleteTx of the store's claim package. What it does not protect: an
// effect elsewhere, of a work whose process dies between the effect and the completion, is repeated by the next attempt, under the
// same event id. It does not order events either: that is what the guards in the store packages (Later, Once) are for.
package webhook
