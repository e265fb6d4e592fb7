package webhook

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/claim"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/internal/inbound"
	"github.com/idempotent-jobs/terraform-provider-idempotent/runtime/run"
)

// The defaults of ReceiverConfig.
const (
	DefaultMaxBody       = 256 << 10
	DefaultAcceptTimeout = 10 * time.Second
)

// maxSource bounds the name of a source, which is stored with each of its events.
const maxSource = 200

// The values of the header Idempotent-Run in a receiver's answers.
const (
	OutcomeAccepted  = "accepted"  // stored, committed
	OutcomeDuplicate = "duplicate" // stored before; nothing was changed
	OutcomeConflict  = "conflict"  // stored before with another body, and the policy refuses that
)

// ReceiverConfig says what a [Receiver] does. Inbox, Source and Verifier are required.
type ReceiverConfig struct {
	// Inbox is where events are stored. It stays the caller's to close.
	Inbox Inbox
	// Source names the sender and endpoint, at most 200 bytes: events of two sources never share an id. It must stay the same as long
	// as the sender may retry.
	Source string
	// Verifier says which deliveries are genuine.
	Verifier *Verifier
	// MaxBody is the greatest length of a body in bytes. Default: 256 KiB, or what the inbox takes if that is less.
	MaxBody int64
	// ConflictStatus is answered, 409 or 422, to a delivery whose id is that of an event with another body. Zero: such a delivery is
	// answered like a duplicate, logged, and counted in the row where the store can; the event stays the one that came first.
	ConflictStatus int
	// RetryHorizon is for how long after its first delivery of an event the sender may repeat it. Default: DefaultRetryHorizon.
	RetryHorizon time.Duration
	// Retention is how long completed events are kept, as it is set in the worker's configuration, to be checked against the horizon.
	// Zero: the default for the horizon.
	Retention time.Duration
	// Timeout bounds the storing of one event. It is shorter than the sender's own patience. Default: 10 s.
	Timeout time.Duration
	// Notify is called after an event was stored that had not been; it must return at once. [Worker.Wake] makes a worker in the same
	// process look for it now. Nil: nobody is told.
	Notify func()
	// Logger gets what nobody is answered. Default: slog.Default().
	Logger *slog.Logger
}

// Receiver is the http.Handler that deliveries of one source are sent to. It answers 2xx only when the event is stored, by this or an
// earlier delivery, and committed. It is safe for concurrent use.
type Receiver struct{ cfg ReceiverConfig }

// NewReceiver returns a receiver, or an error that names the field of cfg which cannot be as it is.
func NewReceiver(cfg ReceiverConfig) (*Receiver, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultAcceptTimeout
	}
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("webhook receiver: %w", err)
	}
	return &Receiver{cfg: cfg}, nil
}

func (c *ReceiverConfig) check() error {
	if c.Inbox == nil {
		return errors.New("Inbox is missing: open one of the inbox packages")
	}
	most := int64(c.Inbox.MaxPayload())
	if c.MaxBody == 0 {
		c.MaxBody = min(DefaultMaxBody, most)
	}
	_, err := retention(c.Retention, c.RetryHorizon)
	switch {
	case c.Source == "" || len(c.Source) > maxSource || !utf8.ValidString(c.Source) || strings.ContainsFunc(c.Source, unicode.IsControl):
		return fmt.Errorf("Source is %.20q, %d bytes: name the sender, in 1 to %d bytes of printable UTF-8", c.Source, len(c.Source), maxSource)
	case c.Verifier == nil:
		return errors.New("Verifier is missing: without one, anybody can send events")
	case c.MaxBody < 0 || c.Timeout < 0:
		return errors.New("MaxBody and Timeout must not be negative")
	case c.MaxBody > most:
		return fmt.Errorf("MaxBody is %d bytes, the inbox takes %d", c.MaxBody, most)
	case c.ConflictStatus != 0 && c.ConflictStatus != http.StatusConflict && c.ConflictStatus != http.StatusUnprocessableEntity:
		return fmt.Errorf("ConflictStatus is %d: use 409, 422, or 0 to accept and flag such deliveries", c.ConflictStatus)
	default:
		return err
	}
}

// ServeHTTP answers
//
//	200  the event is stored: Idempotent-Run is accepted or duplicate
//	400  a header of the scheme is missing, repeated or unreadable, or the body cannot be read
//	401  no signature matches, or the timestamp is out of tolerance
//	405  the method is not POST
//	409  or 422: the id is that of an event with another body, where ConflictStatus says so: Idempotent-Run is conflict
//	413  the body is too large
//	503  the store did not confirm the event, which may be stored or not: the sender is to repeat the delivery
func (rc *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "webhooks are sent by POST")
		return
	}
	body, err := inbound.Read(w, bodyTimeout, func() ([]byte, error) { return rc.read(w, r) })
	if err != nil {
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			refuse(w, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is larger than %d bytes", rc.cfg.MaxBody))
			return
		}
		refuse(w, http.StatusBadRequest, "the body could not be read to its end")
		return
	}
	id, err := rc.cfg.Verifier.Verify(r.Header, body)
	switch {
	case errors.Is(err, ErrMalformed):
		refuse(w, http.StatusBadRequest, err.Error())
	case err != nil:
		rc.cfg.Logger.WarnContext(r.Context(), "webhook refused", "source", rc.cfg.Source, "error", err)
		refuse(w, http.StatusUnauthorized, err.Error())
	default:
		rc.accept(w, r, NewEntry(rc.cfg.Source, id, r.Header.Get("Content-Type"), body))
	}
}

// bodyTimeout bounds how long anybody may take to send a body: it is read before it is known whose it is.
const bodyTimeout = 10 * time.Second

// read reads the body once, bounded; a length that is told beforehand saves growing.
func (rc *Receiver) read(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > rc.cfg.MaxBody {
		return nil, &http.MaxBytesError{Limit: rc.cfg.MaxBody}
	}
	if r.ContentLength > 0 { // net/http reads no further
		b := make([]byte, r.ContentLength)
		_, err := io.ReadFull(r.Body, b)
		return b, err
	}
	return io.ReadAll(http.MaxBytesReader(w, r.Body, rc.cfg.MaxBody))
}

func (rc *Receiver) accept(w http.ResponseWriter, r *http.Request, e Entry) {
	receipt, err := rc.store(r.Context(), e)
	switch {
	case errors.Is(err, claim.ErrTooLarge):
		refuse(w, http.StatusRequestEntityTooLarge, "the event is larger than the inbox takes")
	case err != nil:
		rc.log(e).ErrorContext(r.Context(), "webhook not stored, the sender is to repeat it", "error", err)
		refuse(w, http.StatusServiceUnavailable, "the event could not be stored")
	case receipt.Differs && rc.cfg.ConflictStatus != 0:
		rc.log(e).WarnContext(r.Context(), "webhook refused: the event is stored with another body")
		w.Header().Set(run.HeaderOutcome, OutcomeConflict)
		refuse(w, rc.cfg.ConflictStatus, "the event with this id was stored with another body")
	case receipt.Duplicate:
		if receipt.Differs {
			rc.log(e).WarnContext(r.Context(), "webhook is a duplicate with another body: the first one stands")
		}
		answer(w, OutcomeDuplicate)
	default:
		if rc.cfg.Notify != nil {
			rc.cfg.Notify()
		}
		answer(w, OutcomeAccepted)
	}
}

func (rc *Receiver) log(e Entry) *slog.Logger {
	return rc.cfg.Logger.With("source", e.Source, "webhook_id", e.WebhookID, "event", e.ID)
}

// store stores the event. A sender that hangs up does not stop it halfway.
func (rc *Receiver) store(ctx context.Context, e Entry) (Receipt, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rc.cfg.Timeout)
	defer cancel()
	return unconflicted(ctx, func() (Receipt, error) { return rc.cfg.Inbox.Accept(ctx, e) })
}

func answer(w http.ResponseWriter, outcome string) {
	w.Header()[run.HeaderOutcome] = []string{outcome}
	w.WriteHeader(http.StatusOK)
}

func refuse(w http.ResponseWriter, status int, reason string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(reason)+1))
	w.WriteHeader(status)
	_, _ = io.WriteString(w, reason+"\n") //nolint:gosec // plain text; a sender that is gone reads nothing
}
