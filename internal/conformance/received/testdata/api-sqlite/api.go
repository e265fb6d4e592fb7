package main

import (
	"crypto/rand"
	"database/sql"
	"net/http"
	"time"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/sqliteclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

// API notes each order.
type API struct{}

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
	err := idempotencykey.CompleteTx(r.Context(), sqliteclaim.CompleteTx, func(tx *sql.Tx) (idempotencykey.Response, error) {
		id := rand.Text()
		key := r.Header.Get(TenantHeader) + "/" + r.Header.Get("Idempotency-Key")
		if _, err := tx.ExecContext(r.Context(), "INSERT INTO effects VALUES (?, ?)", key, id); err != nil {
			return idempotencykey.Response{}, err
		}
		return idempotencykey.JSON(http.StatusCreated, id)
	})
	if err != nil {
		http.Error(w, "nothing was done", http.StatusInternalServerError)
	}
}
