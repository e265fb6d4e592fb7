# One handler for two jobs. Nothing of it follows from the address of the service that runs it.
resource "idempotent_handler" "reports" {
  name   = "reports"
  module = "example.com/acme/reports"
  jobs   = ["nightly-report", "weekly-report"]

  service_account_email = "reports@acme-prod.iam.gserviceaccount.com"
  callers               = ["scheduler@acme-prod.iam.gserviceaccount.com"]
  request_timeout       = "300s"
}

resource "idempotent_scheduled_job" "reports" {
  for_each = {
    nightly-report = "0 3 * * *"
    weekly-report  = "0 4 * * MON"
  }

  name     = each.key
  schedule = each.value

  http_target {
    uri = "https://reports-abc123-ew.a.run.app/"
    oidc_token {
      service_account_email = "scheduler@acme-prod.iam.gserviceaccount.com"
    }
  }

  # Store, request timeout and audience are those of the handler, and what it would refuse is refused here.
  deduplication {
    contract = idempotent_handler.reports.contract
  }
}

output "roles" {
  value = idempotent_handler.reports.required_roles
}
