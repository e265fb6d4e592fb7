package webhook_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/webhook/meminbox"
)

// A sender delivers an event twice. It is stored once, and its work is done once.
func Example() {
	inbox := meminbox.New() // in earnest one of the other inbox packages
	verifier, err := webhook.NewVerifier(webhook.VerifierConfig{Keys: []string{vectorSecret}, Now: vectorClock})
	if err != nil {
		log.Fatal(err)
	}
	receiver, err := webhook.NewReceiver(webhook.ReceiverConfig{Inbox: inbox, Source: "acme", Verifier: verifier})
	if err != nil {
		log.Fatal(err)
	}
	worker, err := webhook.NewWorker(webhook.WorkerConfig{Inbox: inbox, Work: func(_ context.Context, e webhook.Event) error {
		fmt.Printf("doing %s, attempt %d: %s\n", e.WebhookID, e.Attempt, e.Payload)
		return nil
	}})
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		r := httptest.NewRequest(http.MethodPost, "/webhooks/acme", strings.NewReader(vectorBody))
		r.Header = header(vectorID, strconv.Itoa(vectorTime), vectorSignature)
		w := httptest.NewRecorder()
		receiver.ServeHTTP(w, r)
		fmt.Println(w.Code, w.Header().Get("Idempotent-Run"))
	}
	drained, err := worker.Drain(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("completed:", drained.Completed)
	// Output:
	// 200 accepted
	// 200 duplicate
	// doing msg_p5jXN8AQM9LWM0D4loKWxJek, attempt 1: {"test": 2432232314}
	// completed: 1
}
