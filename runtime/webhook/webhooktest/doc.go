// Package webhooktest delivers webhooks to a receiver, and lets its worker do them, in memory and as senders and crashes do it at their
// worst: for tests of works.
//
//	d := webhooktest.New(t, func(inbox webhook.Inbox) (http.Handler, *webhook.Worker) { … })
//	d.Send("msg_1", `{"type": "invoice.paid"}`)
//	d.Send("msg_1", `{"type": "invoice.paid"}`)
//	d.Work()
//	// Check what must have been done once.
package webhooktest
