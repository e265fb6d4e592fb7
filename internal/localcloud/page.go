package localcloud

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"strconv"

	"google.golang.org/grpc/codes"
)

// pageFiles is the page on which people watch their runs. It is served as it lies there: nothing builds it and it loads nothing from
// elsewhere.
//
//go:embed page
var pageFiles embed.FS

// pagePolicy lets the page load its own files alone, and nobody frame it.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
	"form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

// handlePage serves the page and what it asks for.
func (c *Cloud) handlePage(mux *http.ServeMux) error {
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		return err
	}

	index, err := template.ParseFS(files, "index.html")
	if err != nil {
		return err
	}

	assets := http.StripPrefix(controlPrefix+"page/", http.FileServerFS(files))

	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { c.servePage(w, index) })
	mux.HandleFunc("GET "+controlPrefix+"page/{file}", func(w http.ResponseWriter, r *http.Request) {
		secure(w)
		assets.ServeHTTP(w, r)
	})
	mux.HandleFunc("GET "+controlPrefix+"events", c.serveEvents)
	mux.HandleFunc("GET "+controlPrefix+"deliveries/{id}", c.serveDelivery)

	return nil
}

func (c *Cloud) servePage(w http.ResponseWriter, index *template.Template) {
	var page bytes.Buffer

	err := index.Execute(&page, map[string]any{
		"URL": c.URL(), "Addr": c.Addr(), "Store": c.cfg.Store != nil, "Running": c.cfg.Clock.Running(), "Faults": deliveryFaults(),
	})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)

		return
	}

	secure(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = page.WriteTo(w) // a client that went away is no concern of the server
}

func secure(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-cache")
}

// deliveryDetails is a delivery with all that is known about it.
type deliveryDetails struct {
	Delivery

	// Name and RunID are how handlers call the run; empty: they cannot know it.
	Name  string `json:"name,omitempty"`
	RunID string `json:"runId,omitempty"`
	// Text is the body of the answer where it is text.
	Text string `json:"text,omitempty"`
	// Record is what the store holds about the run now; nil: nothing, or no store is known.
	Record *recordView `json:"record,omitempty"`
	// RecordProblem says why there is no record to show.
	RecordProblem string `json:"recordProblem,omitempty"`
}

func (c *Cloud) serveDelivery(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)

	d, found := c.scheduler.deliveries.get(id)
	if err != nil || !found {
		writeError(w, http.StatusNotFound, codes.NotFound.String(), "Delivery "+strconv.Quote(r.PathValue("id"))+
			" is not, or no longer, remembered.", nil)

		return
	}

	named := nameRun(d)
	out := deliveryDetails{Delivery: d, Name: named.name, RunID: named.id, Text: string(d.Body)}
	out.Record, out.RecordProblem = c.watcher.record(r.Context(), named)

	writeJSON(w, http.StatusOK, out)
}
