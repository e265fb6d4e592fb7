// Package orders takes orders, one for each Idempotency-Key.
package orders

import (
	"crypto/rand"
	"encoding/json"
	"net/http"

	"github.com/jackc/pgx/v5"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim/postgresclaim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/idempotencykey"
)

// Tables are where the orders are: in the database that the keys are in.
const Tables = "CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, item TEXT NOT NULL)"

// API is the service.
type API struct{}

// Order is what a client orders, and is answered.
type Order struct {
	ID   string `json:"id,omitempty"`
	Item string `json:"item"`
}

// Routes returns the operations.
func (a *API) Routes(guard func(http.Handler) http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", a.CreateOrder)
	return guard(mux)
}

// CreateOrder stores an order, its answer and the completion of its key together.
func (*API) CreateOrder(w http.ResponseWriter, r *http.Request) {
	var order Order
	if err := json.NewDecoder(r.Body).Decode(&order); err != nil || order.Item == "" {
		http.Error(w, `the body has to be like {"item": "book"}`, http.StatusBadRequest)
		return
	}
	order.ID = rand.Text()
	err := idempotencykey.CompleteTx(r.Context(), postgresclaim.CompleteTx, func(tx pgx.Tx) (idempotencykey.Response, error) {
		if _, err := tx.Exec(r.Context(), "INSERT INTO orders VALUES ($1, $2)", order.ID, order.Item); err != nil {
			return idempotencykey.Response{}, err
		}
		return idempotencykey.JSON(http.StatusCreated, order)
	})
	if err != nil { // nothing was stored; the client may repeat it
		http.Error(w, "the order could not be taken", http.StatusInternalServerError)
	}
}
