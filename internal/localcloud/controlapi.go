package localcloud

import "net/http"

// handleControl serves what the control methods do, for other processes.
func (c *Cloud) handleControl(mux *http.ServeMux) {
	mux.HandleFunc("GET /local/deliveries", func(w http.ResponseWriter, r *http.Request) {
		writeJSON(w, http.StatusOK, c.Deliveries(r.URL.Query().Get("job")))
	})
}
