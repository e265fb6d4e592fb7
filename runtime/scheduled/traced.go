package scheduled

import "net/http"

// Traced puts the trace that a request's headers name into its context, where [NewLogger]'s lines find it. A [Handler] does so itself;
// this is for the other handlers of a program.
func Traced(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, r.WithContext(withTrace(r.Context(), r.Header)))
	})
}
