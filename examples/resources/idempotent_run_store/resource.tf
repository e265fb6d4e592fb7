resource "idempotent_run_store" "claims" {
  # Both are the defaults.
  database   = "(default)"
  collection = "scheduler_runs"

  # Destroying this resource leaves the expiry policy and the index exemptions as they are.
  deletion_policy = "ABANDON"
}

resource "idempotent_scheduled_job" "nightly_report" {
  name     = "nightly-report"
  schedule = "0 3 * * *"

  http_target {
    uri = "https://reports-abc123-ew.a.run.app/"
    oidc_token {
      service_account_email = "scheduler@acme-prod.iam.gserviceaccount.com"
    }
  }

  deduplication {
    store      = idempotent_run_store.claims.url
    manage_ttl = false # The store has it.
  }
}
