# The job that has the forwarder start the workflow.

terraform {
  required_providers {
    idempotent = {
      source = "idempotent-jobs/idempotent"
    }
  }
}

variable "project" {
  description = "The project of the job"
  type        = string
}

variable "region" {
  description = "The region of the job"
  type        = string
  default     = "europe-west1"
}

variable "forwarder_uri" {
  description = "URL of the deployed forwarder"
  type        = string
}

variable "service_account_email" {
  description = "The account that the job calls as; it needs roles/run.invoker on the forwarder"
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
