# The job that has the forwarder start the workflow.

terraform {
  required_providers {
    idempotent = {
      source = "idempotent-jobs/idempotent"
    }
  }
}

variable "forwarder_uri" {
  description = "URL of the deployed forwarder"
  type        = string
}

variable "service_account_email" {
  description = "The account that the job calls as; it needs roles/run.invoker on the forwarder"
  type        = string
}

resource "idempotent_scheduled_job" "nightly_report" {
  name     = "nightly-report"
  schedule = "0 3 * * *"

  # Time for a lost reply to be looked up; what the workflow takes does not count.
  attempt_deadline = "180s"

  http_target {
    uri = var.forwarder_uri
    oidc_token {
      service_account_email = var.service_account_email
    }
  }
}
