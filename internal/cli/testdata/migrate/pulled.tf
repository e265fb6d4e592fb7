variable "nightly_http_target_uri" {
  type      = string
  sensitive = true
}

variable "nightly_http_target_body" {
  type      = string
  sensitive = true
}

resource "idempotent_scheduled_job" "nightly" {
  name     = "nightly-report"
  project  = "acme-prod"
  region   = "europe-west1"
  schedule = "0 3 * * *"

  http_target {
    uri  = var.nightly_http_target_uri
    body = var.nightly_http_target_body
    headers = {
      X-Team = "billing"
    }

    oidc_token {
      service_account_email = "scheduler@acme-prod.iam.gserviceaccount.com"
      audience              = "https://reports-abc.a.run.app"
    }
  }

  deduplication {
    mode = "observe"
  }
}

moved {
  from = google_cloud_scheduler_job.nightly
  to   = idempotent_scheduled_job.nightly
}

