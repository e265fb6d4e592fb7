import {
  to = idempotent_run_store.claims
  id = "acme-prod/(default)/scheduler_runs"
}
