# Five jobs against the local cloud, or against Google: four that deliver their runs to one generated handler, and a paused one whose
# claims live in Firestore. `make demo` applies this folder and then makes trouble:
#
#   lost-reply   the reply of a successful delivery is lost, so the run is delivered again
#   duplicates   one run is delivered five times at once
#   killed       the handler is killed in the middle of the work; a retry takes over when the lease ends
#   forced       a run is forced by hand shortly before the scheduled one; both have their effect
#   nightly      paused, with Firestore as its store: its collection gets an expiry policy
#
# The first three are scheduled once a year, so that every run of theirs is one that the demo fires.

terraform {
  required_providers {
    idempotent = {
      source = "idempotent-jobs/idempotent"
    }
  }
}

provider "idempotent" {
  project                         = var.project
  region                          = var.region
  cloud_scheduler_custom_endpoint = var.cloud_scheduler_custom_endpoint
  firestore_custom_endpoint       = var.firestore_custom_endpoint
}

resource "idempotent_scheduled_job" "yearly" {
  for_each = {
    lost-reply = "The reply of a successful delivery is lost"
    duplicates = "One run is delivered five times at once"
    killed     = "The handler is killed in the middle of the work"
  }

  name             = each.key
  description      = each.value
  schedule         = "0 3 1 1 *"
  attempt_deadline = "15s"

  http_target {
    uri = var.target_uri
    oidc_token {
      service_account_email = var.service_account_email
    }
  }

  deduplication {
    store = var.store
    # The shortest that is safe with this deadline, so that nobody waits long for the takeover.
    lease = "25s"
  }
}

resource "idempotent_scheduled_job" "forced" {
  name             = "forced"
  description      = "A run is forced by hand shortly before the scheduled one"
  schedule         = "* * * * *"
  attempt_deadline = "15s"
  paused           = var.forced_paused

  http_target {
    uri = var.target_uri
    oidc_token {
      service_account_email = var.service_account_email
    }
  }

  deduplication {
    store = var.store
    lease = "25s"
  }

  # One handler serves all jobs: it tells them apart by the name that each delivery carries.
  handler {
    module     = "example.com/quickstart"
    output_dir = var.output_dir
  }
}

resource "idempotent_scheduled_job" "nightly" {
  name        = "nightly"
  description = "Paused; its claims would live in Firestore"
  schedule    = "0 3 * * *"
  time_zone   = "Europe/Berlin"
  paused      = true

  http_target {
    uri = var.target_uri
    oidc_token {
      service_account_email = var.service_account_email
    }
  }
}
