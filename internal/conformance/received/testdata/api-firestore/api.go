package main

import (
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"sync"
	"time"

	"cloud.google.com/go/firestore"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/firestoreclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

// API notes each order.
type API struct{}

var client = sync.OnceValues(func() (*firestore.Client, error) { return firestore.NewClient(context.Background(), "local-project") })

// Configure bears with a store on a busy machine.
func (*API) Configure(cfg *idempotencykey.Config) {
	cfg.ClaimOptions = append(cfg.ClaimOptions, claim.WithStoreTimeout(10*time.Second))
}

func (a *API) Routes(guard func(http.Handler) http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", a.CreateOrder)
	return guard(mux)
}

func (*API) CreateOrder(w http.ResponseWriter, r *http.Request) {
	db, err := client()
	if err != nil {
		http.Error(w, "nothing was done", http.StatusInternalServerError)
		return
	}
	work := func(_ context.Context, tx *firestore.Transaction) (idempotencykey.Response, error) {
		id := rand.Text()
		key := r.Header.Get(TenantHeader) + "/" + r.Header.Get("Idempotency-Key")
		if err := tx.Create(db.Collection(os.Getenv("EFFECTS")+"effects").NewDoc(), map[string]any{"key": key, "id": id}); err != nil {
			return idempotencykey.Response{}, err
		}
		return idempotencykey.JSON(http.StatusCreated, id)
	}
	if err := idempotencykey.CompleteContextTx(r.Context(), firestoreclaim.CompleteTx, work); err != nil {
		http.Error(w, "nothing was done", http.StatusInternalServerError)
	}
}
