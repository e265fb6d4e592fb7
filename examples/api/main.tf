# An API whose operations have one effect for each Idempotency-Key.

terraform {
  required_providers {
    idempotent = {
      source = "idempotent-jobs/idempotent"
    }
  }
}

variable "project" {
  description = "The project of the service"
  type        = string
}

variable "region" {
  description = "The region of the service"
  type        = string
  default     = "europe-west1"
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

resource "idempotent_handler" "orders" {
  name                  = "orders"
  kind                  = "api"
  store                 = "postgres://orders@db.internal/orders" # the password is a secret of the service's, PGPASSWORD
  service_account_email = "orders@${var.project}.iam.gserviceaccount.com"
  callers               = ["gateway@${var.project}.iam.gserviceaccount.com"]
  request_timeout       = "20s"

  api = {
    window        = "24h"
    tenant_header = "X-Workspace" # set by the gateway, which authenticates callers
    lapse         = "in_transaction"

    # The errors that this API has always had.
    codes = {
      key_too_long = "E01001"
      in_progress  = "E01004"
      reused       = "E01005"
      unavailable  = "E01033"
    }
    statuses    = { reused = 422 }
    code_member = "error_code"
  }
}

output "env" {
  description = "The environment of the service"
  value       = idempotent_handler.orders.env
}

output "roles" {
  description = "What the service's account and the gateway's need"
  value       = idempotent_handler.orders.required_roles
}
