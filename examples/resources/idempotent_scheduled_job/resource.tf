resource "idempotent_scheduled_job" "nightly_report" {
  name        = "nightly-report"
  description = "Sends the report of the day before"
  schedule    = "0 3 * * *"
  time_zone   = "Europe/Berlin"

  http_target {
    uri = "https://reports-abc123-ew.a.run.app/run"
    oidc_token {
      service_account_email = "scheduler@acme-prod.iam.gserviceaccount.com"
    }
  }
}
