# A service that receives the webhooks of a billing system, and the job that has its inbox drained.

terraform {
  required_providers {
    idempotent = {
      source = "idempotent-jobs/idempotent"
    }
  }
}

variable "project" {
  description = "The project of the service and the job"
  type        = string
}

variable "region" {
  description = "The region of the job"
  type        = string
  default     = "europe-west1"
}

variable "service_uri" {
  description = "URL of the deployed service"
  type        = string
}

variable "service_account_email" {
  description = "The account that the job calls as"
  type        = string
}

variable "cloud_scheduler_custom_endpoint" {
  description = "Another server in place of Cloud Scheduler's, such as a local cloud"
  type        = string
  default     = null
}

variable "firestore_custom_endpoint" {
  description = "Another server in place of Firestore's, such as a local cloud"
  type        = string
  default     = null
}

provider "idempotent" {
  project                         = var.project
  region                          = var.region
  cloud_scheduler_custom_endpoint = var.cloud_scheduler_custom_endpoint
  firestore_custom_endpoint       = var.firestore_custom_endpoint
}

resource "idempotent_handler" "billing" {
  name                  = "billing"
  kind                  = "webhook"
  store                 = "postgres://billing@db.internal/billing" # the password is a secret of the service's, PGPASSWORD
  service_account_email = "billing@${var.project}.iam.gserviceaccount.com"
  callers               = [var.service_account_email]

  webhook = {
    source        = "billing/production"
    events        = ["subscription.updated", "usage.recorded"]
    secrets       = ["BILLING_SECRET", "BILLING_SECRET_OLD"] # two while the key is replaced
    retry_horizon = "76h"
  }
}

# Where the service's worker sleeps between requests, this wakes it. The contract makes the job's token one that the service takes.
resource "idempotent_scheduled_job" "drain" {
  name     = "billing-drain"
  schedule = "*/5 * * * *"

  http_target {
    uri         = "${var.service_uri}/drain"
    http_method = "POST"
    oidc_token {
      service_account_email = var.service_account_email
    }
  }

  deduplication {
    contract = idempotent_handler.billing.contract
  }
}

output "env" {
  description = "The environment of the service; BILLING_SECRET and BILLING_SECRET_OLD come from secrets beside it"
  value       = idempotent_handler.billing.env
}
